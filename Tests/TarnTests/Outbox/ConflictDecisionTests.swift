// The decision about a conflict, as a table.

import Testing

@testable import Tarn

@Suite("Outbox: the rules for conflicts")
struct ConflictDecisionTests {
    private typealias Change = OutboxOperation.Change
    private let title = Change("title", before: .string("a"), after: .string("b"))
    private let votes = Change("votes", before: nil, after: .int(2))
    private let rules: [ConflictRule] = [
        .server, .client, .perField(overlap: .local), .perField(overlap: .server), .perField(overlap: .hold),
    ]

    @Test("nothing is decided while the server has the base values, be they absent or null")
    func same() {
        for rule in rules {
            #expect(ConflictDecision.decide(rule, [title, votes], server: [:]) == .send)
            #expect(
                ConflictDecision.decide(rule, [title, votes], server: ["title": .string("a"), "votes": .null]) == .send)
            #expect(ConflictDecision.decide(rule, [title], server: ["state": .string("closed")]) == .send)
        }
    }

    @Test("a change that both sides made is not sent")
    func agreed() {
        for rule in rules {
            #expect(
                ConflictDecision.decide(rule, [title, votes], server: ["title": .string("b")]) == .replace([votes]))
            #expect(ConflictDecision.decide(rule, [title], server: ["title": .string("b")]) == .replace([]))
        }
    }

    @Test("a field that both sides changed differently is decided by the rule")
    func overlap() {
        let server: [String: Value] = ["title": .string("c")]
        let rebased = Change("title", before: .string("c"), after: .string("b"))
        func decide(_ rule: ConflictRule) -> ConflictDecision {
            ConflictDecision.decide(rule, [title, votes], server: server)
        }
        #expect(decide(.server) == .withdraw)
        #expect(decide(.client) == .replace([rebased, votes]))
        #expect(decide(.perField(overlap: .local)) == .replace([rebased, votes]))
        #expect(decide(.perField(overlap: .server)) == .replace([votes]))
        #expect(decide(.perField(overlap: .hold)) == .hold([rebased, votes], fields: ["title"]))
    }

    @Test("a text that only looks like the base value, or like the own one, is a change of its own")
    func equivalentTexts() {
        let composed = Value.string("caf\u{E9}"), decomposed = Value.string("cafe\u{301}")
        let corrected = Change("title", before: .string("cafe"), after: composed)
        #expect(
            ConflictDecision.decide(.perField(overlap: .hold), [corrected], server: ["title": decomposed])
                == .hold([Change("title", before: decomposed, after: composed)], fields: ["title"]))
        let edited = Change("title", before: composed, after: .string("tea"))
        #expect(ConflictDecision.decide(.server, [edited], server: ["title": decomposed]) == .withdraw)
    }

    @Test("a list without members is no change of one that is absent or null")
    func emptyList() {
        let empty = Value.references([]), one = Value.references([RecordKey(1)])
        for (before, server) in [(nil, empty), (.null, empty), (empty, .null)] as [(Value?, Value)] {
            let labels = Change("labels", before: before, after: one)
            #expect(ConflictDecision.decide(.server, [labels], server: ["labels": server]) == .send)
        }
        let cleared = Change("labels", before: one, after: empty)
        #expect(ConflictDecision.decide(.server, [cleared], server: ["labels": .null]) == .replace([]))
    }

    @Test("JSON that a server returns with another text is no change; other content is one")
    func json() {
        let sent = #"{"z": 1.50, "a": [1, {"x": null}], "e\u0301": "\u00e9", "n": -0}"#
        let extra = Change("extra", before: .json(#"{"b":1,"a":2}"#), after: .json(sent))
        func decide(_ server: Value) -> ConflictDecision {
            ConflictDecision.decide(.server, [extra], server: ["extra": server])
        }
        #expect(decide(.json(#"{"a":2.0,"b":1}"#)) == .send)
        let returned = #"{"a":[1,{"x":null}],"n":0,"z":15e-1,"e\u0301":"é"}"#
        #expect(decide(.json(returned)) == .replace([]))
        for other in [
            returned.replacing("15e-1", with: "1.51"), returned.replacing("[1,{", with: #"["1",{"#),
            returned.replacing(#"e\u0301"#, with: "é"), returned.replacing("null", with: "0"), "{}",
        ] {
            #expect(decide(.json(other)) == .withdraw, "\(other)")
        }
        #expect(decide(.null) == .withdraw)
        let null = Change("extra", before: .json("{}"), after: .json(" null"))
        #expect(ConflictDecision.decide(.server, [null], server: ["extra": .null]) == .replace([]))
    }

    @Test("an order that has no meaning is no change")
    func order() {
        func keys(_ ids: Int64...) -> Value { .references(ids.map { RecordKey($0) }) }
        let labels = Change("labels", before: keys(1, 2), after: keys(1, 2, 3))
        for rule in rules {
            func decide(_ server: Value) -> ConflictDecision {
                ConflictDecision.decide(rule, [labels], server: ["labels": server], unordered: ["labels"])
            }
            #expect(decide(keys(2, 1)) == .send)
            #expect(decide(keys(3, 2, 1)) == .replace([]))
            #expect(decide(keys(2, 2)) != .send)
        }
        #expect(ConflictDecision.decide(.server, [labels], server: ["labels": keys(2, 1)]) == .withdraw)
    }
}
