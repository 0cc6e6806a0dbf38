// Requests in the forms that known kinds of APIs want: envelopes, forms, patches, references.

import Foundation
import Tarn
import TarnDescription
import TarnImport
import TestSupport
import Testing

@Suite("Outbox: forms of requests", .timeLimit(.minutes(2)))
struct WriteFormTests {
    private typealias Answer = ScriptedServer.Answer

    private static let attributes = """
        Person: { key: id, attributes: { id: string, login: string } }
        Issue:
          key: id
          attributes:
            id: int
            title: { type: string, from: attributes.title }
            version: int?
            tags: '[string]?'
            due: { type: date?, format: day }
            price: decimal?
            done: bool?
            meta: json?
          relationships:
            author: { to: Person, from: relationships.author.data }
            watchers: { to: [Person], from: relationships.watchers.data, ordered: true }
        """

    /// A server that takes every change with 204, and has issue 1 by Ada.
    private func place(
        _ write: String,
        _ change: @escaping @Sendable (ScriptedServer.Request) -> Answer = { _ in
            Answer(status: "204 No Content")
        }
    ) async throws -> ScriptedOutbox {
        let place = try ScriptedOutbox(Self.attributes + "\n  write: { \(write) }") { request in
            guard request.method == "GET" else { return change(request) }
            let issue =
                #"{"id":1,"attributes":{"title":"a"},"version":4,"tags":[],"meta":{"x":1},"relationships":"#
                + #"{"author":{"data":{"id":"p1","login":"ada"}},"watchers":{"data":[]}}}"#
            return Answer(body: request.target == "/issues" ? "[\(issue)]" : issue)
        }
        try await place.sync(["issues"])
        try await place.store.write { writer in
            try writer.put("Person", RecordKey("p2"), [.init("login", .string("bo b"))])
        }
        return place
    }

    private func update(_ place: ScriptedOutbox, _ changes: [Record.Field]) async throws -> ScriptedServer.Request {
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), changes)
        let report = try await outbox.drain()
        try #require(report.sent == 1, "\(report)")
        return try #require(place.changes.last)
    }

    // MARK: Envelopes and references

    @Test("JSON:API: the fields in an envelope, the type and the id beside them, references as resource identifiers")
    func jsonAPI() async throws {
        let place = try await place(
            """
            update: { request: 'PATCH /issues/{id}', envelope: data, set: { data.type: issues, data.id: '{id}' },
              references: { author: { type: people, id: '{id}' }, watchers: { type: people, id: '{id}' } },
              headers: { Content-Type: application/vnd.api+json } }
            """)
        let request = try await update(
            place,
            [
                .init("title", .string("b")), .init("author", .reference(RecordKey("p2"))),
                .init("watchers", .references([RecordKey("p1"), RecordKey("p2")])),
            ])
        #expect(request.field("Content-Type") == "application/vnd.api+json")
        #expect(
            try JSONValue(request.body)
                == JSONValue(
                    #"{"data":{"attributes":{"title":"b"},"relationships":{"author":{"data":{"type":"people","id":"p2"}},"#
                        + #""watchers":{"data":[{"type":"people","id":"p1"},{"type":"people","id":"p2"}]}},"#
                        + #""type":"issues","id":1}}"#))
    }

    @Test("the record of an answer is where the body has it, and a created one gets its key")
    func answerInEnvelope() async throws {
        let place = try await place("create: { request: POST /issues, envelope: data }") { _ in
            Answer(status: "201 Created", body: #"{"data":{"id":9,"attributes":{"title":"B"}},"meta":{}}"#)
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("b"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.unread == 0, "\(report)")
        #expect(try place.field("title", of: RecordKey(9)) == .string("B"))
        #expect(place.changes.last?.body == #"{"data":{"attributes":{"title":"b"}}}"#)
    }

    @Test("a template of references may be a text with attributes of the stored record")
    func textReference() async throws {
        let place = try await place(
            """
            update: { request: 'PATCH /issues/{id}', references: { author: "People('{login}')" },
              places: { author: author@odata\\.bind } }
            """)
        let request = try await update(place, [.init("author", .reference(RecordKey("p2")))])
        #expect(request.body == #"{"author@odata.bind":"People('bo b')"}"#)
    }

    @Test("a template has the server's values of the other record: a change that is still queued is not known there")
    func referenceBehindChange() async throws {
        let place = try ScriptedOutbox(
            """
            Person:
              key: id
              attributes: { id: int, login: string }
              write: { update: 'PATCH /people/{id}' }
            Issue:
              key: id
              attributes: { id: int }
              relationships: { author: { to: Person } }
              write: { update: { request: 'PATCH /issues/{id}', references: { author: '@{login}' } } }
            """
        ) { request in
            switch request.target {
            case "/people/5": Answer(status: "503 Busy")
            default:
                request.method == "GET"
                    ? Answer(body: #"[{"id":1,"author":{"id":5,"login":"ada"}},{"id":2,"author":null}]"#)
                    : Answer(status: "204 No Content")
            }
        }
        try await place.sync(["issues"])
        let outbox = place.outbox()
        try await outbox.update("Person", RecordKey(5), [.init("login", .string("lovelace"))])
        try await outbox.update("Issue", RecordKey(2), [.init("author", .reference(RecordKey(5)))])
        while !place.changes.contains(where: { $0.target == "/issues/2" }) {
            _ = try await outbox.drain()
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(place.changes.last { $0.target == "/issues/2" }?.body == #"{"author":"@ada"}"#, "\(place.changes)")
    }

    @Test("a reference whose record lacks what the template needs is an error that names both")
    func missingAttribute() async throws {
        let place = try await place(
            "update: { request: 'PATCH /issues/{id}', references: { author: { login: '{login}' } } }")
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("author", .reference(RecordKey("p9")))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && place.changes.isEmpty, "\(report)")
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("Issue.author") && message.contains("Person p9 has no login"), "\(message)")
    }

    @Test("a template of references may be a list, whose texts have variables, too")
    func listReference() async throws {
        let place = try await place(
            "update: { request: 'PATCH /issues/{id}', references: { author: ['{id}', { login: '{login}' }] } }")
        let request = try await update(place, [.init("author", .reference(RecordKey("p2")))])
        #expect(request.body == #"{"relationships":{"author":{"data":["p2",{"login":"bo b"}]}}}"#)
    }

    @Test("a variable that is a whole text keeps its type; the record of a key need not be stored")
    func keyReference() async throws {
        let place = try ScriptedOutbox(
            """
            Person: { key: id, attributes: { id: int } }
            Issue:
              key: id
              attributes: { id: int }
              relationships: { author: { to: Person } }
              write: { update: { request: 'PATCH /issues/{id}', references: { author: { id: '{id}', text: 'p{id}' } } } }
            """
        ) { request in
            request.method == "GET" ? Answer(body: #"[{"id":1,"author":null}]"#) : Answer(status: "204 No Content")
        }
        try await place.sync(["issues"])
        let request = try await update(place, [.init("author", .reference(RecordKey(77)))])
        #expect(request.body == #"{"author":{"id":77,"text":"p77"}}"#)
    }

    @Test("null is no value for a template: nothing is sent")
    func nullAttribute() async throws {
        let place = try ScriptedOutbox(
            """
            Person: { key: id, attributes: { id: int, nick: string? } }
            Issue:
              key: id
              attributes: { id: int }
              relationships: { author: { to: Person } }
              write: { update: { request: 'PATCH /issues/{id}', references: { author: { nick: '{nick}' } } } }
            """
        ) { request in
            request.method == "GET"
                ? Answer(body: #"[{"id":1,"author":{"id":5,"nick":null}},{"id":2,"author":null}]"#)
                : Answer(status: "204 No Content")
        }
        try await place.sync(["issues"])
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(2), [.init("author", .reference(RecordKey(5)))])
        #expect(try await outbox.drain().dead == 1 && place.changes.isEmpty)
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("Issue.author") && message.contains("Person 5 has no nick"), "\(message)")
    }

    @Test("GraphQL: a mutation with the changed fields as its input")
    func graphQL() async throws {
        let place = try await place(
            """
            update: { request: POST /graphql, envelope: variables.input, records: data.updateIssue.issue,
              set: { query: 'mutation($input: I!) { updateIssue(input: $input) { issue { id } } }',
                     variables.input.id: '{id}' }, places: { title: title } }
            """
        ) { _ in
            Answer(body: #"{"data":{"updateIssue":{"issue":{"id":1,"attributes":{"title":"B"}}}}}"#)
        }
        let request = try await update(place, [.init("title", .string("b"))])
        let body = try JSONValue(request.body)
        #expect(try body["variables"] == JSONValue(#"{"input":{"title":"b","id":1}}"#))
        #expect(body["query"] != nil)
        #expect(try place.field("title") == .string("B"))
    }

    // MARK: Formats

    @Test("a form has inner values by names in brackets; null and an empty list are empty texts")
    func form() async throws {
        let place = try await place(
            """
            update: { request: 'POST /issues/{id}', format: form, envelope: issue, set: { locale: de },
              references: { author: { kind: 'person', id: '{id}' } }, places: { title: title, author: author } }
            """)
        let request = try await update(
            place,
            [
                .init("title", .string("ü & =")), .init("tags", .array([.string("a b"), .string("c")])),
                .init("done", .bool(true)), .init("due", .null), .init("author", .reference(RecordKey("p2"))),
                .init("meta", .json(#"{"lines":[{"text":"x"},{"text":"y"}],"none":[],"empty":{}}"#)),
            ])
        #expect(request.field("Content-Type") == "application/x-www-form-urlencoded")
        let fields = request.body.split(separator: "&").map { $0.removingPercentEncoding ?? "" }.sorted()
        #expect(
            fields == [
                "issue[author][id]=p2", "issue[author][kind]=person", "issue[done]=true", "issue[due]=",
                "issue[meta][empty]=", "issue[meta][lines][0][text]=x", "issue[meta][lines][1][text]=y",
                "issue[meta][none]=", "issue[tags][]=a b", "issue[tags][]=c", "issue[title]=ü & =", "locale=de",
            ])
        #expect(request.body.contains("%C3%BC%20%26%20%3D"))
    }

    @Test("a JSON patch sets each changed field at its place, and what is always sent")
    func jsonPatch() async throws {
        let place = try await place(
            """
            update: { request: 'PATCH /issues/{id}', format: json_patch, set: { 'a/b~c': '{version}' } }
            """)
        let request = try await update(
            place, [.init("title", .string("b")), .init("done", .null), .init("meta", .json(#"{"y":[]}"#))])
        #expect(request.field("Content-Type") == "application/json-patch+json")
        guard case .array(let operations) = try JSONValue(request.body) else {
            Issue.record("no list: \(request.body)")
            return
        }
        #expect(
            Set(operations.map(\.text)) == [
                #"{"op":"add","path":"/attributes/title","value":"b"}"#,
                #"{"op":"add","path":"/done","value":null}"#, #"{"op":"add","path":"/meta","value":{"y":[]}}"#,
                #"{"op":"add","path":"/a~1b~0c","value":4}"#,
            ])
    }

    @Test("a JSON patch never replaces the place around a changed field: other members there stay")
    func patchInside() async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, meta: json?, color: { type: string?, from: meta.color } }
              write: { update: { request: 'PATCH /issues/{id}', format: json_patch } }
            """
        ) { request in
            request.method == "GET"
                ? Answer(body: #"[{"id":1,"meta":{"color":"red","size":3}}]"#) : Answer(status: "204 No Content")
        }
        try await place.sync(["issues"])
        let request = try await update(place, [.init("color", .string("blue"))])
        #expect(request.body == #"[{"op":"add","path":"/meta/color","value":"blue"}]"#)
        let whole = try await update(place, [.init("meta", .json(#"{"color":"blue"}"#))])
        #expect(whole.body == #"[{"op":"add","path":"/meta","value":{"color":"blue"}}]"#)
    }

    @Test("places in lists: one element, and an element for each value; null is an empty list")
    func listPlaces() async throws {
        let place = try await place(
            """
            update: { request: 'PATCH /issues/{id}', references: { watchers: { name: '{login}' } },
              places: { title: 'properties.Name.title[0].text.content', tags: 'properties.Tags.*.name', due: 'dates[0]',
                watchers: 'people[0].list.*.ref' } }
            """)
        let request = try await update(
            place,
            [
                .init("title", .string("b")), .init("tags", .array([.string("x"), .string("y")])), .init("due", .null),
                .init("watchers", .references([RecordKey("p2")])),
            ])
        #expect(
            try JSONValue(request.body)["properties"]
                == JSONValue(
                    #"{"Name":{"title":[{"text":{"content":"b"}}]},"Tags":[{"name":"x"},{"name":"y"}]}"#),
            "\(request.body)")
        #expect(try JSONValue(request.body)["dates"] == .array([]))
        #expect(
            try JSONValue(request.body)["people"] == JSONValue(#"[{"list":[{"ref":{"name":"bo b"}}]}]"#),
            "\(request.body)")
        let cleared = try await update(place, [.init("tags", .null)])
        #expect(cleared.body == #"{"properties":{"Tags":[]}}"#)
    }

    @Test("a JSON patch cannot have members without a field of their own: the error names one")
    func unplacedPatch() async throws {
        let server = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string?, rest: json? }
              rest: rest
              write: { update: { request: 'PATCH /issues/{id}', format: json_patch } }
            """
        ) { _ in Answer(body: #"[{"id":1,"title":"a","color":"red"}]"#) }
        try await server.sync(["issues"])
        let outbox = server.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("rest", .json(#"{"color":"blue"}"#))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && server.changes.isEmpty, "\(report)")
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("json_patch has no place for color"), "\(message)")
    }

    // MARK: Variables

    @Test("a header field has the server's value of an attribute, such as the version of the record")
    func headerVariable() async throws {
        let place = try await place(
            "update: { request: 'PUT /issues/{id}', headers: { X-Version: '{version}', X-Plain: 'a{b c}' } }")
        let request = try await update(place, [.init("version", .int(9)), .init("title", .string("b"))])
        #expect(request.field("X-Version") == "4" && request.field("X-Plain") == "a{b c}")
        try await place.store.write { writer in
            try writer.put(
                "Issue", RecordKey(2), [.init("title", .string("a")), .init("author", .reference(RecordKey("p1")))])
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(2), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("X-Version needs {version}, which has no value"), "\(message)")
    }

    @Test("a header field never gets a line break of a record")
    func headerInjection() async throws {
        let place = try await place("update: { request: 'PATCH /issues/{id}', headers: { X-Title: '{title}' } }")
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a\r\nX-Evil: 1"))])
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("done", .bool(true))])
        let report = try await outbox.drain()
        #expect(report.dead == 1 && place.changes.isEmpty, "\(report)")
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("control characters"), "\(message)")
    }

    @Test("the idempotency key may be in the body: each attempt has the one of the operation")
    func idempotencyKey() async throws {
        let count = CallCounter()
        let place = try await place(
            """
            create: { request: POST /issues, set: { idempotency_key: '{@idempotency_key}' }, places: { title: title } },
            update: { request: 'PATCH /issues/{id}', set: { key: '{@idempotency_key}', version: '{version}' } }
            """
        ) { request in
            if request.method == "PATCH" { return Answer(status: "204 No Content") }
            return count.next() == 1
                ? Answer(status: "503 Busy")
                : Answer(status: "201 Created", body: #"{"id":9,"attributes":{"title":"b"}}"#)
        }
        let outbox = place.outbox()
        try await outbox.create("Issue", [.init("title", .string("b"))])
        while try await outbox.drain().sent == 0 { try await Task.sleep(for: .milliseconds(2)) }
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("c"))])
        #expect(try await outbox.drain().sent == 1)
        let changes = place.changes
        try #require(changes.count == 3)
        for (request, name) in zip(changes, ["idempotency_key", "idempotency_key", "key"]) {
            let key = try #require(request.field("Idempotency-Key"))
            #expect(try JSONValue(request.body)[name] == .string(key))
        }
        #expect(changes[0].body == changes[1].body)
    }

    @Test(
        "the format has its media type, whatever type the API declares for JSON; the request's own is sent as it is",
        arguments: [
            ("", "application/vnd.api+json"), ("format: form", "application/x-www-form-urlencoded"),
            ("format: merge_patch", "application/merge-patch+json"),
            ("format: json_patch", "application/json-patch+json"),
            ("format: merge_patch, headers: { Content-Type: text/x-patch }", "text/x-patch"),
        ])
    func mediaType(format: String, type: String) async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              write: { update: { request: 'PATCH /issues/{id}'\(format.isEmpty ? "" : ", " + format) } }
            """, api: ", headers: { Content-Type: application/vnd.api+json }"
        ) { request in
            request.method == "GET" ? Answer(body: #"[{"id":1,"title":"a"}]"#) : Answer(status: "204 No Content")
        }
        try await place.sync(["issues"])
        #expect(try await update(place, [.init("title", .string("b"))]).field("Content-Type") == type)
    }

    @Test("the idempotency key may be in a header field, and anywhere in the body")
    func innerIdempotencyKey() async throws {
        let place = try await place(
            """
            update: { request: 'PATCH /issues/{id}', headers: { X-Request: '{@idempotency_key}' },
              set: { meta: { ids: ['{@idempotency_key}'] }, version: '{version}' } }
            """)
        let request = try await update(place, [.init("title", .string("b"))])
        let key = try #require(request.field("Idempotency-Key"))
        #expect(request.field("X-Request") == key)
        #expect(try JSONValue(request.body)["meta"] == JSONValue(#"{"ids":["\#(key)"]}"#), "\(request.body)")
    }

    // MARK: Errors of the description

    @Test(
        "mistakes in templates and variables are errors with the line",
        arguments: [
            ("references: { author: { id: '{ident}' } }", "unknown field of Person"),
            ("references: { author: { type: people } }", "the template has no variable"),
            ("references: { title: { id: '{id}' } }", "title is an attribute"),
            ("references: { author: objekt }", "unknown form of references"),
            ("references: { watchers: { id: '{friend.id}' } }", "has attributes of Person itself"),
            ("set: { a: '{nr}' }", "unknown field of Issue"),
            ("headers: { X-A: '{watchers}' }", "watchers is to-many: one value is needed"),
            ("headers: { X-A: '{nr}' }", "unknown field of Issue"),
            ("envelope: 'a[1]'", "is no place in a body"), ("envelope: a.*", "is no place in a body"),
            ("places: { title: 'a[1]' }", "behind them [0] or *"),
            ("places: { title: '*.a' }", "is no place in a body"),
            ("format: jsonpatch", "unknown format"),
        ])
    func mistakes(option: String, message: String) throws {
        let text = """
            api: { base: 'https://api.example' }
            entities:
            \(Self.attributes.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n"))
                write: { update: { request: 'PATCH /issues/{id}', \(option) } }
            """
        let error = #expect(throws: DescriptionError.self) { try Description.parse(text, file: "a.yaml") }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }
}
