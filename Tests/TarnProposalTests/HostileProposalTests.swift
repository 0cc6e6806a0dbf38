// Responses from outside are hostile: names, values, depth, size.

import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Hostile samples of a proposal")
struct HostileProposalTests {
    @Test("random documents: the written file parses, and the import of the sample reports nothing")
    func random() throws {
        for seed in UInt64(1)...150 {
            var random = RandomDocument(seed: seed)
            let body = random.document().text
            let proposal: Proposal
            do { proposal = try propose(body, url: "https://api.test.example/v1/x?q=1") } catch {
                if case ProposalError.nothingToDescribe? = error as? ProposalError { continue }
                Issue.record("seed \(seed): \(error)\n\(body)")
                continue
            }
            #expect(proposal.findings == [], "seed \(seed): \(body)\n\(proposal.text)")
            let unsafe = proposal.text.unicodeScalars.filter { $0 != "\n" && YAMLText.isUnsafe($0) }
            #expect(unsafe.isEmpty, "seed \(seed): control characters")
        }
    }

    @Test("scalars are read back as they are", arguments: UInt64(1)...20)
    func quoting(seed: UInt64) throws {
        var random = RandomDocument(seed: seed)
        for _ in 0..<100 {
            let text = random.text()
            guard !text.isEmpty, FieldNames.canBeWritten([text]) else { continue }
            let yaml = """
                api: { base: https://api.test.example }
                entities:
                  Thing:
                    key: id
                    attributes: { id: int, a: { type: enum, values: [\(YAMLText.scalar(text)), other value] } }
                """
            let description = try Description.parse(yaml, file: "t.yaml")
            #expect(
                description.schema.entities[0].attributes[1].type == .enumeration([text, "other value"]),
                "seed \(seed)\n\(yaml)")
        }
    }

    @Test("a quote before a combining mark is doubled, too", arguments: ["it'\u{301}s", "'\u{FE0F}", "''\u{301}'"])
    func combiningMarks(text: String) throws {
        let yaml = """
            api: { base: https://api.test.example }
            entities: { A: { key: id, attributes: { id: int, a: { type: enum, values: [\(YAMLText.scalar(text)), b] } } } }
            """
        let description = try Description.parse(yaml, file: "t.yaml")
        #expect(description.schema.entities[0].attributes[1].type == .enumeration([text, "b"]))
    }

    @Test("very deep, very wide and very many")
    func bounds() throws {
        let deep =
            #"[{"id":1,"a":"# + String(repeating: #"{"a":"#, count: 500) + "1" + String(repeating: "}", count: 500)
            + "}]"
        #expect(try propose(deep).findings == [])
        let wide = "[{\"id\":1" + (0..<3000).map { ",\"field_\($0)\":\($0)" }.joined() + "}]"
        let proposal = try propose(wide)
        #expect(proposal.findings == [])
        #expect(proposal.text.contains("rest: rest"))
        let lists = #"{"items":[{"id":1,"x":["# + String(repeating: "[],", count: 2000) + "[]]}]}"
        #expect(try propose(lists).findings == [])
    }

    @Test("a name cannot add lines to the file")
    func injection() throws {
        let proposal = try propose(
            ##"[{"id":1,"x\n    evil: true":1,"# comment":2,"a: b":3,"*":4,"&x":5,"{":6,"\u001b[31m":"\u001b]0;x\u0007","":8}]"##
        )
        #expect(proposal.findings == [])
        #expect(!proposal.text.contains("\n    evil"))
        #expect(!proposal.text.unicodeScalars.contains("\u{1B}"))
        #expect(proposal.text.contains("cannot be written as a key path"))
    }

    @Test("a text of the server never names an environment variable of the person")
    func environment() throws {
        let proposal = try propose(#"[{"id":1}]"#, url: "https://api.test.example/things?q=${HOME}&r=$${PATH:-x}")
        let description = try Description.parse(proposal.text, file: "tarn.yaml")
        #expect(description.endpoints[0].parameters.map(\.value) == ["${HOME}", "$${PATH:-x}"], "\(proposal.text)")
        let specification = """
            {"openapi":"3.0.0","info":{"title":"x","version":"1"},"servers":[{"url":"https://a.example/${HOME}"}],
             "paths":{"/{tenant}/things":{"get":{"parameters":[
               {"name":"tenant","in":"path","required":true,"schema":{"type":"string"},"example":"${HOME}"},
               {"name":"sort","in":"query","required":true,"schema":{"type":"string","default":"${PATH}"}}],
             "responses":{"200":{"description":"","content":{"application/json":{"schema":{"type":"array","items":
              {"type":"object","properties":{"id":{"type":"integer"}}}}}}}}}}}}
            """
        let other = try Proposal([], specification: try OpenAPIDocument(Array(specification.utf8), name: "spec"))
        let declared = try Description.parse(other.text, file: "tarn.yaml")
        #expect(Set(declared.endpoints[0].parameters.map(\.value)) == ["${HOME}", "${PATH}"], "\(other.text)")
        #expect(!declared.api.base.contains("/root") && !declared.api.base.contains("/home"), "\(other.text)")
    }

    @Test("responses without objects are refused", arguments: ["[]", "[1,2]", "{}", "3", "null", "\"x\"", "[[]]"])
    func nothing(body: String) {
        #expect(throws: (any Error).self) { try propose(body) }
    }
}

/// Random JSON documents with the names and values that break things.
private struct RandomDocument {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private static let names = [
        "id", "name", "type", "user", "user_id", "userId", "items", "data", "created_at", "url", "parent", "a.b", "a b",
        "+1", "-1", "@type", "*", "x[0]", "{x}", "é", "日本", "null", "true", "yes", "key", "position", "rest", "state",
        "tags", "_links", "self", "x: y", "# x", "'", "\"", "\\", "\u{1B}[0m", "\n", "\u{2028}", "\u{202E}x", "1", "1a",
        "Id", "ID", "_id", "uuid", "count", "total", "next", "kind", "\u{0}", "attributes", "relationships", "labels",
    ]
    private static let texts = [
        "", "open", "closed", "2025-01-31", "2025-01-31T09:00:00Z", "https://a.example/1", "12", "null", "~", "yes",
        "{a}", "[", "a: b", " # c", "'", "\"", "\\", "\u{7}", "\u{85}", "\u{FEFF}", "\u{10FFFF}", "é", "a\nb",
        "384f7435-e6bf-4ad1-a572-f64273e325f4", "-", "*x", "&x", "!x", "%", "@x", "`", "|", ">", "? ", ": ", "\t",
    ]

    mutating func text() -> String {
        (0..<random.roll(1..<4)).map { _ in RandomDocument.texts[random.roll(0..<RandomDocument.texts.count)] }.joined()
    }

    mutating func document() -> JSONValue {
        // One shape with variations, as real lists have, or objects without anything in common.
        let count = random.roll(1..<12)
        let template = random.roll(0..<3) == 0 ? nil : object(depth: 0)
        let records = (0..<count).map { _ in template.map { vary($0) } ?? object(depth: 0) }
        switch random.roll(0..<3) {
        case 0: return .object([.init("items", .array(records)), .init("total", .number("\(count)"))])
        case 1: return records[0]
        default: return .array(records)
        }
    }

    private mutating func vary(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let members):
            return .object(
                members.compactMap { member in
                    random.roll(0..<8) == 0 ? nil : JSONValue.Member(member.key, vary(member.value))
                })
        case .array(let elements): return .array(elements.map { vary($0) })
        default: return random.roll(0..<4) == 0 ? scalar() : value
        }
    }

    private mutating func object(depth: Int) -> JSONValue {
        var members: [JSONValue.Member] = []
        for _ in 0..<random.roll(0..<9) {
            let name = RandomDocument.names[random.roll(0..<RandomDocument.names.count)]
            // Of duplicate keys, the import takes the first for a key attribute and else the last.
            guard !members.contains(where: { $0.key == name }) else { continue }
            members.append(.init(name, value(depth: depth + 1)))
        }
        return .object(members)
    }

    private mutating func value(depth: Int) -> JSONValue {
        switch random.roll(0..<(depth > 4 ? 5 : 9)) {
        case 0..<5: return scalar()
        case 5, 6: return object(depth: depth)
        case 7: return .array((0..<random.roll(0..<4)).map { _ in object(depth: depth) })
        default: return .array((0..<random.roll(0..<4)).map { _ in scalar() })
        }
    }

    private mutating func scalar() -> JSONValue {
        switch random.roll(0..<9) {
        case 0: return .null
        case 1: return .bool(random.roll(0..<2) == 0)
        case 2: return .number("\(random.roll(0..<5))")
        case 3:
            return .number(
                ["1.5", "-0", "1e3", "9223372036854775808", "123456789012345678901234567890", "0.1", "1738314000"][
                    random.roll(0..<7)])
        default: return .string(text())
        }
    }
}
