// Responses about records that a queued deletion has deleted or changed by its delete rules.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Outbox: records of a queued deletion", .timeLimit(.minutes(2)))
struct QueuedDeletionTests {
    private typealias Answer = ScriptedServer.Answer

    private final class List: Sendable {
        let records: Mutex<[Int: String]>
        init(_ records: [Int: String]) { self.records = Mutex(records) }
    }

    /// An issue with a child, and a server that takes deletions.
    private func place(_ rule: String, _ api: String = "") async throws -> (ScriptedOutbox, List) {
        let list = List([1: #"{"id":1,"parent":null}"#, 2: #"{"id":2,"parent":1}"#])
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int }
              deleted: gone
              relationships:
                parent: { to: Issue, inverse: children }
                children: { to: [Issue], inverse: parent, on_delete: \(rule) }
              write: { delete: 'DELETE /issues/{id}' }
            """, api: api
        ) { request in
            let records = list.records.withLock(\.self)
            let id = request.target.split(separator: "/").last.flatMap { Int($0) }
            if request.method == "DELETE" { return Answer(status: "204 No Content") }
            if let id { return records[id].map { Answer(body: $0) } ?? Answer(status: "404 Not Found") }
            return Answer(body: "[" + records.sorted { $0.key < $1.key }.map(\.value).joined(separator: ",") + "]")
        }
        try await place.sync()
        return (place, list)
    }

    private func keys(_ place: ScriptedOutbox) throws -> [RecordKey] {
        try place.store.read { reader in
            try [RecordKey(1), RecordKey(2)].filter { try reader.record("Issue", $0) != nil }
        }
    }

    @Test(
        "where the server takes precedence, the records of a queued deletion keep their local state",
        arguments: ["cascade", "nullify"])
    func server(rule: String) async throws {
        let (place, list) = try await place(rule, ", local: server")
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        try await place.sync()
        let expected = rule == "cascade" ? [] : [RecordKey(2)]
        #expect(try keys(place) == expected)
        #expect(try place.field("parent", of: RecordKey(2)) == (rule == "cascade" ? nil : .null))
        #expect(try await outbox.drain().sent == 1)
        list.records.withLock { $0 = rule == "cascade" ? [:] : [2: #"{"id":2,"parent":null}"#] }
        try await place.sync()
        #expect(try keys(place) == expected)
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(2)) } == nil)
    }

    @Test("a record of a cascade that the server has deleted meanwhile is not restored with the others")
    func gone() async throws {
        let (place, list) = try await place("cascade")
        let outbox = place.outbox()
        try await outbox.delete("Issue", RecordKey(1))
        list.records.withLock { $0[2] = #"{"id":2,"parent":1,"gone":true}"# }
        try await place.sync()
        for operation in try outbox.operations() { try await outbox.discard(operation.id) }
        #expect(try keys(place) == [RecordKey(1)])
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(2)) } == nil)
    }
}
