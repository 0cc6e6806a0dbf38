// The bodies that an outbox sends, checked against JSON Schemas by a validator of others.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite(
    "Outbox: sent bodies and JSON Schema",
    .enabled(if: SchemaValidator.isInstalled, "python3-jsonschema is not installed: tools/install installs it"))
struct SentBodyTests {
    /// The bodies that the model API accepts, by method and kind of resource.
    private static let model = """
        {
          "POST /items": { "type": "object", "required": ["title"], "additionalProperties": false, "properties": {
            "title": { "type": "string" }, "state": { "enum": ["open", "closed"] }, "votes": { "type": ["integer", "null"] } } },
          "PATCH /items/#": { "type": "object", "minProperties": 1, "additionalProperties": false, "properties": {
            "title": { "type": "string" }, "state": { "enum": ["open", "closed"] }, "votes": { "type": ["integer", "null"] } } },
          "POST /items/#/comments": { "type": "object", "required": ["text"], "additionalProperties": false, "properties": {
            "text": { "type": "string" } } },
          "PATCH /comments/#": { "type": "object", "required": ["text"], "additionalProperties": false, "properties": {
            "text": { "type": "string" } } },
          "POST /labels": { "type": "object", "required": ["name"], "additionalProperties": false, "properties": {
            "name": { "type": "string" } } }
        }
        """

    @Test("every body that reaches the model server is valid for its resource; requests without content have none")
    func model() async throws {
        let fixture = try OutboxFixture(), outbox = fixture.outbox()
        fixture.server.with { $0.labels[7] = "bug" }
        try await fixture.stored(1)
        let made = try await outbox.create(
            "Item", [.init("title", .string("new")), .init("state", .string("open")), .init("votes", .int(3))])
        try await outbox.create("Comment", [.init("text", .string("on a new item")), .init("item", .reference(made))])
        try await outbox.create("Label", [.init("name", .string("a \"quoted\" name\n\u{1F600}"))])
        try await outbox.update("Item", RecordKey(1), [.init("state", .string("closed"))])
        try await outbox.add([RecordKey(7)], to: "labels", of: "Item", RecordKey(1))
        let report = try await drained(outbox)
        #expect(report.dead == 0 && report.remaining.pending == 0, "\(report)")
        let comment = try #require(try fixture.keys("Comment").first)
        try await outbox.update("Comment", RecordKey(comment), [.init("text", .string("changed"))])
        try await outbox.remove([RecordKey(7)], from: "labels", of: "Item", RecordKey(1))
        try await outbox.delete("Item", RecordKey(1))
        #expect(try await drained(outbox).dead == 0)

        let writes = fixture.server.with(\.requests).filter { $0.method != "GET" }
        let bodies = writes.filter { !$0.body.isEmpty }
        // A version that changed meanwhile (412) makes the outbox send a request again.
        func distinct(_ requests: [ModelAPI.Request]) -> Int { Set(requests.map { "\($0.method) \($0.target)" }).count }
        #expect(distinct(writes) == 8 && distinct(bodies) == 5, "\(writes.map { "\($0.method) \($0.target)" })")
        for request in writes where request.method == "PUT" || request.method == "DELETE" {
            #expect(request.body.isEmpty, "\(request.text)")
        }
        let validator = try SchemaValidator(Self.model)
        for request in bodies {
            let name = "\(request.method) \(request.target.replacing(/[0-9]+/, with: "#"))"
            #expect(try validator.problems(of: request.text, name) == "", "\(name): \(request.text)")
        }
        // The validator refuses what the API would.
        #expect(try validator.problems(of: #"{"title":1}"#, "POST /items").contains("is not of type 'string'"))
        #expect(try validator.problems(of: #"{"votes":null,"id":1}"#, "PATCH /items/#").contains("'id' was unexpected"))
    }

    /// Every attribute type, in every form of references.
    private static let types = """
        { "POST /things": { "type": "object", "additionalProperties": false,
            "required": ["id", "flag", "ratio", "price", "at", "seen", "uid", "link", "kind", "tags", "extra", "owner", "source", "data"],
            "properties": {
              "id": { "type": "integer" }, "flag": { "type": "boolean" }, "ratio": { "type": "number" },
              "price": { "const": 12345678901234567.25 },
              "at": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\\\.[0-9]+)?Z$" },
              "seen": { "type": "integer", "minimum": 1000000000000 },
              "uid": { "type": "string", "pattern": "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$" },
              "link": { "type": "string", "pattern": "^https://" }, "kind": { "enum": ["a", "b"] },
              "tags": { "type": "array", "items": { "type": "string" }, "minItems": 2 },
              "extra": { "type": "object", "required": ["x"] },
              "owner": OWNER,
              "data": { "type": "object", "required": ["title"], "additionalProperties": false, "properties": { "title": { "type": "string" } } },
              "source": { "const": "tarn" } } } }
        """

    @Test(
        "every attribute type and form of references is sent as its JSON Schema states",
        arguments: [
            ("key", #"{ "type": "integer" }"#),
            (
                "object",
                #"{ "type": "object", "required": ["id"], "additionalProperties": false, "properties": { "id": { "type": "integer" } } }"#
            ),
            (
                "nested",
                #"{ "type": "object", "required": ["id", "login"], "properties": { "id": { "type": "integer" }, "login": { "type": "string" } } }"#
            ),
            ("url", #"{ "type": "string", "pattern": "^http://127.0.0.1:[0-9]+/owners/3$" }"#),
        ])
    func types(form: String, owner: String) async throws {
        let server = try ScriptedServer {
            .init(status: "201 Created", fields: ["Content-Type: application/json"], body: $0.body)
        }
        let folder = try TemporaryFolder()
        let description = try Description.parse(
            """
            api: { base: '\(server.base)' }
            entities:
              Owner: { key: id, attributes: { id: int, login: string }, url: '/owners/{id}' }
              Thing:
                key: id
                attributes:
                  id: int
                  title: { type: string, from: data.title }
                  flag: bool
                  ratio: double
                  price: decimal
                  at: date
                  seen: { type: date, epoch: milliseconds }
                  uid: uuid
                  link: url
                  kind: { type: enum, values: [a, b] }
                  tags: [string]
                  extra: json
                relationships: { owner: Owner }
                write: { create: { request: POST /things, references: \(form), set: { source: tarn } } }
            """, file: "a.yaml")
        let store = try Store.open(at: folder("a.tarn"), schema: description.schema)
        let outbox = try APIClient(description, store: store, transport: CurlTransport()).outbox()
        try await store.write { try $0.put("Owner", RecordKey(3), [.init("login", .string("ada"))]) }
        try await outbox.create(
            "Thing",
            [
                .init("title", .string("t")), .init("flag", .bool(true)), .init("ratio", .double(0.5)),
                .init("price", .decimal(try #require(ExactDecimal("12345678901234567.25")))),
                .init("at", .date(Timestamp(microseconds: 1_700_000_000_123_000))),
                .init("seen", .date(Timestamp(microseconds: 1_700_000_000_123_000))),
                .init("uid", .uuid(UUID())), .init("link", .url("https://a.example/x?y=1")),
                .init("kind", .string("a")),
                .init("tags", .array([.string("x"), .string("y")])), .init("extra", .json(#"{"x":[1,null]}"#)),
                .init("owner", .reference(RecordKey(3))),
            ], key: RecordKey(9))
        _ = try await outbox.drain()
        let body = try #require(server.requests.first { $0.method == "POST" }?.body)
        let validator = try SchemaValidator(Self.types.replacing("OWNER", with: owner))
        #expect(try validator.problems(of: body, "POST /things") == "", "\(body)")
        #expect(try !validator.problems(of: body.replacing("\"tarn\"", with: "1"), "POST /things").isEmpty)
    }
}
