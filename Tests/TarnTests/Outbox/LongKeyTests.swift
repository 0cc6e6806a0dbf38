// Keys that are too long for a storage key, which is their digest then.

import TestSupport
import Testing

@testable import Tarn

@Suite("Outbox: long keys", .timeLimit(.minutes(2)))
struct LongKeyTests {
    private typealias Answer = ScriptedServer.Answer
    private static let key = String(repeating: "k", count: 300)

    @Test(
        "a created record gets a long key from the server, from the answer or from the record at its URL",
        arguments: [false, true])
    func created(isLocated: Bool) async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: string, title: string }
              write: { create: 'POST /issues', update: 'PATCH /issues/{id}' }
            """
        ) { request in
            if request.method == "PATCH" { return Answer(status: "204 No Content") }
            let record = #"{"id":"\#(Self.key)","title":"a"}"#
            guard request.method == "POST" else { return Answer(body: record) }
            return isLocated
                ? Answer(status: "201 Created", fields: ["Location: /elsewhere"])
                : Answer(status: "201 Created", body: record)
        }
        let outbox = place.outbox()
        let temporary = try await outbox.create("Issue", [.init("title", .string("a"))])
        let report = try await outbox.drain()
        #expect(report.sent == 1 && report.dead == 0 && report.unread == 0, "\(report)")
        #expect(try place.field("title", of: RecordKey(Self.key)) == .string("a"))
        #expect(try place.store.read { try $0.count("Issue") } == 1)
        // The temporary key leads to the record.
        try await outbox.update("Issue", temporary, [.init("title", .string("b"))])
        #expect(try await outbox.drain().sent == 1)
        #expect(place.writes == ["POST /issues", "PATCH /issues/\(Self.key)"])
        #expect(try place.field("title", of: RecordKey(Self.key)) == .string("b"))
    }

    @Test(
        "a forced value with a reference to a missing record with a long key is an error, and is not sent",
        arguments: [false, true])
    func unknown(isList: Bool) async throws {
        let place = try ScriptedOutbox(
            """
            Label: { key: name, attributes: { name: string } }
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships: { label: \(isList ? "{ to: [Label] }" : "Label") }
              write: { update: { request: 'PATCH /issues/{id}', set: { ref: '{label}' } } }
            """
        ) { _ in Answer(status: "204 No Content") }
        let key = RecordKey(Self.key), labels = isList ? Value.references([RecordKey("bug"), key]) : .reference(key)
        try await place.store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a")), .init("label", labels)])
        }
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        #expect(try await outbox.drain().dead == 1)
        let message = try #require(try outbox.operations().first?.failure?.message)
        #expect(message.contains("{label}") && message.contains("too long to be known"), "\(message)")
        #expect(place.changes.isEmpty)
    }

    @Test("a key that is known by its digest alone gives a record no key fields")
    func digest() throws {
        let place = try ScriptedOutbox("Issue: { key: id, attributes: { id: string, title: string } }") { _ in Answer()
        }
        let entity = try #require(place.store.catalog.entity("Issue"))
        func id(_ key: RecordKey) -> Value? {
            Record(entity: "Issue", key: key, fields: []).withKeyFields(entity)["id"]
        }
        let digest = try #require(RecordKey(Self.key).storageKey.withUnsafeBytes { RecordKey(reference: $0) })
        #expect(id(digest) == nil && id(RecordKey("k")) == .string("k"))
    }
}
