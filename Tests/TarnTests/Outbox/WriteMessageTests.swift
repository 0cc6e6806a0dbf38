// The requests of operations: URLs, bodies and header fields.

import Foundation
import TarnDescription
import TarnImport
import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: requests")
struct WriteMessageTests {
    private static func text(_ write: String) -> String {
        """
        api: { base: 'https://api.example/v1', headers: { X-Api: one } }
        entities:
          Repo: { key: id, attributes: { id: int, fullName: string }, url: '/repos/{id}/' }
          Label: { key: name, attributes: { name: string, color: string } }
          Issue:
            key: id
            attributes:
              id: int
              number: int?
              title: string?
              extra: json?
              due: { type: date?, format: day }
              seen: { type: date?, epoch: milliseconds }
              price: { type: decimal?, transform: number }
            relationships: { repo: Repo, labels: { to: [Label], ordered: true } }
            write:
        \(write.split(separator: "\n", omittingEmptySubsequences: false).map { "      \($0)" }.joined(separator: "\n"))
        """
    }

    private struct Place {
        let folder: TemporaryFolder
        let outbox: Outbox

        init(_ write: String) throws {
            folder = try TemporaryFolder()
            let description = try Description.parse(WriteMessageTests.text(write), file: "a.yaml")
            let store = try Store.open(at: folder.path + "/a.tarn", schema: description.schema)
            outbox = try APIClient(description, store: store, transport: CurlTransport()).outbox()
            try store.write { writer in
                try writer.put("Repo", RecordKey(3), [.init("fullName", .string("ac me/anvil?"))])
                try writer.put("Label", RecordKey("a b"), [.init("color", .string("red"))])
                try writer.put(
                    "Issue", RecordKey(7),
                    [
                        .init("number", .int(17)), .init("title", .string("a")),
                        .init("repo", .reference(RecordKey(3))),
                        .init("extra", .json(#"{"x":1,"y":{"z":2}}"#)),
                    ])
            }
        }

        func message() throws -> TransportRequest {
            let operation = try #require(try outbox.operations().last)
            return try outbox.store.read { try outbox.builder($0.access).message(for: operation).message }
        }

        func update(_ name: String, _ value: Value) async throws -> TransportRequest {
            try await outbox.update("Issue", RecordKey(7), [.init(name, value)])
            return try message()
        }
    }

    @Test("variables are fields of the record and of its to-one relationships, percent-encoded by RFC 6570")
    func url() async throws {
        let request = try await Place("update: 'PATCH /repos/{repo.fullName}/issues/{number}{?title}'")
            .update("title", .string("ü&"))
        // The server's title, not the new one.
        #expect(request.url == "https://api.example/v1/repos/ac%20me%2Fanvil%3F/issues/17?title=a")
        #expect(request.method == "PATCH" && request.headers["X-Api"] == "one")
        let reserved = try await Place("update: 'PATCH /repos/{+repo.fullName}/x'").update("title", .string("b"))
        #expect(reserved.url == "https://api.example/v1/repos/ac%20me/anvil?/x")
    }

    @Test("a temporary key is sent neither in a URL nor in a body")
    func temporaryKeys() async throws {
        let place = try Place("update: 'PATCH /issues/{id}'"), temporary = RecordKey(Int64.min + 9)
        try await place.outbox.update("Issue", RecordKey(7), [.init("repo", .reference(temporary))])
        let inBody = #expect(throws: WriteError.self) { try place.message() }
        #expect(inBody?.description.contains("repo has a temporary key") == true)
        try await place.outbox.store.write { writer in
            try writer.put("Issue", temporary, [.init("title", .string("a"))])
        }
        try await place.outbox.update("Issue", temporary, [.init("title", .string("b"))])
        let inURL = #expect(throws: WriteError.self) { try place.message() }
        #expect(inURL?.description.contains("{id} has a temporary key") == true)
    }

    @Test("a missing value and one that names another path are errors that name the variable and the place")
    func missing() async throws {
        let place = try Place("update: 'PATCH /issues/{number}'")
        try await place.outbox.store.write { writer in
            try writer.put("Issue", RecordKey(8), [.init("title", .string("a"))])
        }
        try await place.outbox.update("Issue", RecordKey(8), [.init("title", .string("b"))])
        let error = #expect(throws: WriteError.self) { try place.message() }
        #expect(error?.description.contains("a.yaml:17") == true && error?.description.contains("number") == true)
        let dots = try Place("update: 'PATCH /issues/{title}'")
        try await dots.outbox.store.write { writer in
            try writer.put("Issue", RecordKey(7), [.init("title", .string(".."))])
        }
        await #expect(throws: WriteError.self) { try await dots.update("number", .int(1)) }
    }

    @Test("an update sends what changed; a PUT, or body: all, sends everything")
    func content() async throws {
        let changed = try await Place("update: 'PATCH /i/{id}'").update("title", .string("b"))
        #expect(changed.body.map { String(decoding: $0, as: UTF8.self) } == #"{"title":"b"}"#)
        let all = try await Place("update: 'PUT /i/{id}'").update("title", .string("b"))
        let json = try JSONValue(String(decoding: try #require(all.body), as: UTF8.self))
        #expect(json["id"] == .number("7") && json["title"] == .string("b") && json["number"] == .number("17"))
        let cleared = try await Place("update: 'PATCH /i/{id}'").update("title", .null)
        #expect(cleared.body.map { String(decoding: $0, as: UTF8.self) } == #"{"title":null}"#)
    }

    @Test("a merge patch has only what differs, inside of JSON values, too")
    func mergePatch() async throws {
        let request = try await Place("update: { request: 'PATCH /i/{id}', format: merge_patch }")
            .update("extra", .json(#"{"x":1,"y":{"z":3}}"#))
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"extra":{"y":{"z":3}}}"#)
        #expect(request.headers["Content-Type"] == "application/merge-patch+json")
    }

    @Test("fields, places, forced values and forms of references shape the body")
    func shape() async throws {
        let place = try Place(
            """
            create:
              request: 'POST /repos/{repo.id}/issues'
              fields: [title, repo, labels]
              set: { source: tarn, 'meta.repo': '{repo.id}', 'meta.name': '{repo.fullName}' }
              places: { title: data.title }
              references: { repo: url, labels: nested }
            """)
        try await place.outbox.create(
            "Issue",
            [
                .init("title", .string("t")), .init("number", .int(1)), .init("repo", .int(3)),
                .init("labels", .array([.string("a b")])),
            ])
        let request = try place.message()
        #expect(request.url == "https://api.example/v1/repos/3/issues")
        let json = try JSONValue(String(decoding: try #require(request.body), as: UTF8.self))
        let expected = try JSONValue(
            #"{"data":{"title":"t"},"repo":"https://api.example/v1/repos/3/","labels":[{"name":"a b","color":"red"}],"source":"tarn","meta":{"repo":3,"name":"ac me/anvil?"}}"#
        )
        #expect(json.sorted == expected.sorted, "\(json.text)")
        #expect(json["id"] == nil)
    }

    @Test("a value has its declared form in URLs and forced values, as in bodies")
    func declaredForms() async throws {
        let place = try Place(
            """
            update:
              request: 'PATCH /days/{due}/{seen}/{id}'
              set: { lock: '{seen}', 'meta.price': '{price}', 'meta.days': ['{due}'], 'meta.extra': '{extra}' }
            """)
        let day = Timestamp(microseconds: 1_709_164_800_000_000), seen = Timestamp(microseconds: 1_700_000_000_123_000)
        let price = try #require(ExactDecimal("1234.5"))
        try await place.outbox.store.write { writer in
            try writer.put(
                "Issue", RecordKey(7),
                [.init("due", .date(day)), .init("seen", .date(seen)), .init("price", .decimal(price))])
        }
        let request = try await place.update("title", .string("b"))
        #expect(request.url == "https://api.example/v1/days/2024-02-29/1700000000123/7")
        let json = try JSONValue(String(decoding: try #require(request.body), as: UTF8.self))
        #expect(json["lock"] == .number("1700000000123"))
        #expect(json["meta"]?["price"] == .string("1234.5"))
        #expect(json["meta"]?["days"] == .array([.string("2024-02-29")]))
        #expect(json["meta"]?["extra"]?.text == #"{"x":1,"y":{"z":2}}"#)
    }

    @Test("a value that the declared form of a URL cannot express is an error, and not another URL")
    func inexpressible() async throws {
        let place = try Place("update: 'PATCH /days/{due}/{id}'")
        try await place.outbox.store.write {
            try $0.put("Issue", RecordKey(7), [.init("due", .date(Timestamp(microseconds: 1)))])
        }
        await #expect(throws: WriteError.self) { _ = try await place.update("title", .string("b")) }
    }

    @Test("members have their own URL and base; another server gets no header fields of the API")
    func members() async throws {
        let place = try Place(
            """
            relationships:
              labels:
                add: 'PUT /issues/{number}/labels/{member.name}'
                remove: { request: 'DELETE /issues/{number}/labels', set: { names: ['{member.name}'] } }
                base: https://labels.example
            """)
        try await place.outbox.add([RecordKey("a b")], to: "labels", of: "Issue", RecordKey(7))
        let add = try place.message()
        #expect(add.url == "https://labels.example/issues/17/labels/a%20b" && add.body == nil)
        #expect(add.headers["X-Api"] == nil)
        try await place.outbox.drainless { try $0.completeOperation(1) }
        try await place.outbox.remove([RecordKey("a b")], from: "labels", of: "Issue", RecordKey(7))
        #expect(try place.message().body.map { String(decoding: $0, as: UTF8.self) } == #"{"names":["a b"]}"#)
    }

    @Test("the idempotency key has the declared header field, or none")
    func idempotency() async throws {
        let named = try Place("update: 'PATCH /i/{id}'\nidempotency: X-Request-Id")
        let request = try await named.update("title", .string("b"))
        let key = try #require(try named.outbox.operations().first).idempotencyKey.uuidString.lowercased()
        #expect(request.headers["X-Request-Id"] == key && request.headers["Idempotency-Key"] == nil)
        let none = try await Place("update: 'PATCH /i/{id}'\nidempotency: none").update("title", .string("b"))
        #expect(none.headers["Idempotency-Key"] == nil)
    }

    @Test("requests that code declares replace those of the description")
    func code() async throws {
        let place = try Place("update: 'PATCH /i/{id}'")
        let writes = WriteRequests(update: WriteRequest("PUT", "/other/{id}"))
        let outbox = place.outbox.client.outbox(writes: ["Issue": writes])
        try await outbox.update("Issue", RecordKey(7), [.init("title", .string("b"))])
        let operation = try #require(try outbox.operations().first)
        let message = try outbox.store.read { try outbox.builder($0.access).message(for: operation).message }
        #expect(message.method == "PUT" && message.url == "https://api.example/v1/other/7")
    }

    @Test("a request that cannot be built because of the store's files is built later, and one of wrong data never")
    func unbuildable() async throws {
        let place = try Place("update: 'PATCH /i/{id}'")
        let lane = try await OutboxLane(place.outbox, place.outbox.client)
        func isLater(_ error: any Error) -> Bool {
            if case .later = lane.outcome(ofBuilding: error) { true } else { false }
        }
        #expect(isLater(StoreError.file("/data.mdb", EIO, operation: "read")))
        let damage = lane.outcome(ofBuilding: StoreError.damagedRow(entity: "Issue", key: "7"))
        let message = if case .refused(let failure) = damage { failure.message } else { "" }
        #expect(message.contains("tarn store repair") && message.contains("then retry the operation"))
        #expect(!isLater(WriteError.noRequest(entity: "Issue", operation: "delete")))
    }

    @Test("an update that no request can send is refused when it is queued")
    func nothing() async throws {
        let place = try Place("update: { request: 'PATCH /i/{id}', fields: [title] }")
        await #expect(throws: WriteError.nothingToSend(entity: "Issue", fields: ["number"])) {
            try await place.update("number", .int(1))
        }
        #expect(try place.outbox.operations().isEmpty)
    }
}

extension Outbox {
    /// Changes the queue without sending.
    fileprivate func drainless(_ body: @escaping @Sendable (inout StoreWriter) throws -> OutboxCompletion?) async throws
    {
        try await store.write { writer in _ = try body(&writer) }
    }
}

extension JSONValue {
    /// The value with the members of objects by name.
    fileprivate var sorted: JSONValue {
        switch self {
        case .object(let members):
            .object(members.map { Member($0.key, $0.value.sorted) }.sorted { $0.key < $1.key })
        case .array(let values): .array(values.map(\.sorted))
        default: self
        }
    }
}
