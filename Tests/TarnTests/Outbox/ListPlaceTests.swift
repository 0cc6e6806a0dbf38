// Fields with places in the elements of lists, which a server replaces as a whole.

import Tarn
import TarnDescription
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: places in lists", .timeLimit(.minutes(2)))
struct ListPlaceTests {
    private typealias Answer = ScriptedServer.Answer

    /// A server that takes every change with 204.
    private func place(
        _ update: String, issue: String = ListPlaceTests.ada, listed: String? = nil, family: String = "string?",
        syncs: Bool = true
    ) async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes:
                id: int
                family: { type: \(family), from: 'name[0].family' }
                given: { type: string?, from: 'name[0].given[0]' }
                active: bool?
                streets: { type: '[string]?', from: 'lines.*.street' }
                cities: { type: '[string]?', from: 'lines.*.city' }
              write:
                update: { \(update), places: { family: 'name[0].family', given: 'name[0].given[0]',
                  streets: 'lines.*.street', cities: 'lines.*.city' } }
                read: '/issues/{id}'
            """
        ) { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            return Answer(body: request.target == "/issues" ? "[\(listed ?? issue)]" : issue)
        }
        if syncs { try await place.sync(["issues"]) }
        return place
    }

    private static let ada =
        #"{"id":1,"active":true,"name":[{"family":"Lovelace","given":["Ada"]}],"#
        + #""lines":[{"street":"a","city":"x"},{"street":"b","city":"y"}]}"#

    private func body(of place: ScriptedOutbox, after changes: [Record.Field]) async throws -> JSONValue {
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), changes)
        let report = try await outbox.drain()
        try #require(report.sent == 1, "\(report)")
        return try JSONValue(#require(place.changes.last).body).normalForm
    }

    @Test("a change of one field sends the others of its list with the server's values, and nothing else")
    func changed() async throws {
        let place = try await place("request: 'PATCH /issues/{id}'")
        #expect(
            try await body(of: place, after: [.init("family", .string("King"))])
                == JSONValue(#"{"name":[{"family":"King","given":["Ada"]}]}"#).normalForm)
        #expect(
            try await body(of: place, after: [.init("given", .string("Augusta"))])
                == JSONValue(#"{"name":[{"family":"King","given":["Augusta"]}]}"#).normalForm)
        // A field that becomes null leaves the list.
        #expect(
            try await body(of: place, after: [.init("given", .null)])
                == JSONValue(#"{"name":[{"family":"King"}]}"#).normalForm)
    }

    @Test("a list with several fields in each of its elements is sent with all of them")
    func elements() async throws {
        let place = try await place("request: 'PATCH /issues/{id}'")
        let changes = [Record.Field("cities", .array([.string("x"), .string("z")]))]
        #expect(
            try await body(of: place, after: changes)
                == JSONValue(#"{"lines":[{"street":"a","city":"x"},{"street":"b","city":"z"}]}"#).normalForm)
        // Two lengths are no list of elements with both fields.
        let outbox = place.outbox()
        for field in ["cities", "streets"] {
            try await outbox.update("Issue", RecordKey(1), [.init(field, .array([.string("x")]))])
            #expect(try await outbox.drain().dead == 1)
            let operation = try #require(try outbox.operations().first)
            #expect(operation.failure?.message.contains("cannot be written to lines") == true)
            try await outbox.discard(operation.id)
        }
        #expect(place.changes.count == 1)
    }

    @Test("a body with the whole record has both fields of an element")
    func whole() async throws {
        let place = try await place("request: 'PUT /issues/{id}', fields: [family, given]")
        #expect(
            try await body(of: place, after: [.init("family", .string("King"))])
                == JSONValue(#"{"name":[{"family":"King","given":["Ada"]}]}"#).normalForm)
    }

    @Test("if only a part of the record is known, it is read before a list of it is replaced")
    func partial() async throws {
        // Without a required field.
        let place = try await place("request: 'PATCH /issues/{id}'", family: "string", syncs: false)
        try await place.store.write { writer in
            let known: [Record.Field] = [.init("active", .bool(true)), .init("given", .string("Ada"))]
            try writer.put("Issue", RecordKey(1), known, isComplete: false)
        }
        // A field of its own needs nothing else.
        #expect(
            try await body(of: place, after: [.init("active", .bool(false))])
                == JSONValue(#"{"active":false}"#).normalForm)
        #expect(
            try await body(of: place, after: [.init("given", .string("Augusta"))])
                == JSONValue(#"{"name":[{"family":"Lovelace","given":["Augusta"]}]}"#).normalForm)
        #expect(place.server.requests.map(\.method) == ["PATCH", "GET", "PATCH"])
    }

    @Test("a field of a list that has no value here is read before the list is replaced")
    func optionalField() async throws {
        let place = try await place(
            "request: 'PATCH /issues/{id}'", listed: #"{"id":1,"active":true,"name":[{"family":"Lovelace"}]}"#)
        let count = place.server.requests.count
        #expect(
            try await body(of: place, after: [.init("family", .string("King"))])
                == JSONValue(#"{"name":[{"family":"King","given":["Ada"]}]}"#).normalForm)
        // A field of its own needs nothing else.
        #expect(
            try await body(of: place, after: [.init("active", .bool(false))])
                == JSONValue(#"{"active":false}"#).normalForm)
        #expect(place.server.requests.dropFirst(count).map(\.method) == ["GET", "PATCH", "PATCH"])
        // The server has none: what was read says so, and the change is sent.
        let without = try await self.place(
            "request: 'PATCH /issues/{id}'", issue: #"{"id":1,"name":[{"family":"Lovelace"}]}"#)
        #expect(
            try await body(of: without, after: [.init("family", .string("King"))])
                == JSONValue(#"{"name":[{"family":"King"}]}"#).normalForm)
    }

    @Test("an envelope and forced values may be in the element of a list")
    func envelope() async throws {
        let place = try await place(
            """
            request: POST /graphql, envelope: 'variables.items[0]',
                  set: { query: 'mutation', 'variables.items[0].id': '{id}' }, records: 'data.items'
            """)
        #expect(
            try await body(of: place, after: [.init("active", .bool(false))])
                == JSONValue(#"{"query":"mutation","variables":{"items":[{"id":1,"active":false}]}}"#).normalForm)
    }

    @Test("a mask names the changed fields in the query of an update, also those that become null")
    func mask() async throws {
        let place = try await place("request: 'PATCH /issues/{id}?x=1', mask: updateMask")
        let body = try await body(of: place, after: [.init("active", .null), .init("family", .string("King"))])
        #expect(body == (try JSONValue(#"{"active":null,"name":[{"family":"King","given":["Ada"]}]}"#).normalForm))
        let target = try #require(place.changes.last?.target)
        let mask = try #require(target.wholeMatch(of: /\/issues\/1\?x=1&updateMask=(.+)/)?.output.1)
        #expect(mask.replacing("%2C", with: ",").split(separator: ",").sorted() == ["active", "name"])
        // Two fields of one list have one name.
        _ = try await self.body(of: place, after: [.init("given", .string("A")), .init("family", .string("B"))])
        #expect(place.changes.last?.target == "/issues/1?x=1&updateMask=name")
    }

    @Test("a mask cannot name members without a field of their own: nothing is sent that a server would not change")
    func unnamedMembers() async throws {
        let server = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string?, rest: json? }
              rest: rest
              write: { update: { request: 'PATCH /issues/{id}', mask: updateMask } }
            """
        ) { _ in Answer(body: #"[{"id":1,"title":"a","color":"red"}]"#) }
        try await server.sync(["issues"])
        let outbox = server.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("rest", .json(#"{"color":"blue"}"#))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && server.changes.isEmpty, "\(report)")
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("updateMask has no name for the members in rest"), "\(message)")
    }

    @Test("a mask belongs to an update")
    func misplacedMask() throws {
        let text = """
            api: { base: 'https://api.example' }
            entities:
              Issue:
                key: id
                attributes: { id: int }
                write: { create: { request: POST /issues, mask: updateMask } }
            """
        let error = #expect(throws: DescriptionError.self) { try Description.parse(text, file: "a.yaml") }
        #expect(error?.description.contains("only an update has a mask") == true, "\(error?.description ?? "")")
    }
}
