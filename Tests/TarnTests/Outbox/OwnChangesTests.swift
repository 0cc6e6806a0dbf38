// Changes of one field by operations of several records: none of them is another client's.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Outbox: own changes of one field", .timeLimit(.minutes(2)))
struct OwnChangesTests {
    private typealias Answer = ScriptedServer.Answer
    private static let policies: [String: ConflictPolicy] = ["server": .server, "per field": .perField]

    @Test("an update behind a member operation on the same field is no conflict with it", arguments: policies.keys)
    func memberBetween(policy: String) async throws {
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string }
              relationships:
                parent: { to: Issue, inverse: children }
                children: { to: [Issue], inverse: parent, on_delete: nullify }
              write:
                update: 'PATCH /issues/{id}'
                relationships: { children: { add: 'PUT /issues/{id}/children/{member.id}' } }
            """
        ) { request in
            guard request.method == "PATCH" else { return Answer(status: "204 No Content") }
            return Answer(body: #"{"id":4,"title":"d","#.appending(request.body.dropFirst()))
        }
        try await place.store.write { writer in
            for id in 1...3 { try writer.put("Issue", RecordKey(Int64(id)), [.init("title", .string("a"))]) }
            try writer.put(
                "Issue", RecordKey(4), [.init("title", .string("d")), .init("parent", .reference(RecordKey(1)))])
        }
        let outbox = place.outbox(try #require(Self.policies[policy]))
        let parent = [Record.Field("parent", .reference(RecordKey(3)))]
        try await outbox.update("Issue", RecordKey(4), parent)
        try await outbox.add([RecordKey(4)], to: "children", of: "Issue", RecordKey(2))
        try await outbox.update("Issue", RecordKey(4), parent)
        let report = try await outbox.drain()
        #expect(report.sent == 3 && report.conflicts == 0 && report.dead == 0, "\(report)")
        #expect(place.writes == ["PATCH /issues/4", "PUT /issues/2/children/4", "PATCH /issues/4"])
        #expect(try place.field("parent", of: RecordKey(4)) == .reference(RecordKey(3)))
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(4)) } == nil)
    }
}
