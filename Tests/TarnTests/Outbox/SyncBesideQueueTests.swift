// Syncs of a store whose outbox has operations that wait.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: syncs beside waiting operations", .timeLimit(.minutes(2)))
struct SyncBesideQueueTests {
    private typealias Answer = ScriptedServer.Answer

    /// A server of two issues with their notes, and a client of it.
    private func place(_ issue: String, _ endpoint: String) throws -> (ScriptedServer, APIClient, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            if request.target == "/issues" {
                return Answer(body: #"[{"id":1,"slug":"one","title":"a"},{"id":2,"slug":"two","title":"b"}]"#)
            }
            return request.target.hasPrefix("/issues/one/") || request.target.hasPrefix("/issues/two/")
                ? Answer(body: "[]") : Answer(status: "404 Not Found")
        }
        let description = try Description.parse(
            """
            api: { base: '\(server.base)' }
            entities:
              Issue:
                key: id
                attributes: { id: int, slug: string?, title: string }
                write: { create: 'POST /issues', update: 'PATCH /issues/{id}', delete: 'DELETE /issues/{id}' }
                \(issue)
              Note: { key: id, attributes: { id: int, text: string } }
            endpoints:
              issues:
                path: /issues
                entity: Issue
                paginate: single_page
                \(endpoint)
            """, file: folder.path + "/tarn.yaml")
        let store = try Store.open(
            at: folder.path + "/s.tarn", schema: description.schema, options: Store.Options(durability: .relaxed))
        return (server, try APIClient(description, store: store, transport: CurlTransport()), folder)
    }

    @Test("lists of parents are requested by the server's values, and not for a record that the server does not have")
    func parents() async throws {
        let (server, client, folder) = try place(
            "", "children: { notes: { path: '/issues/{slug}/notes', entity: Note, paginate: single_page } }")
        try #require(await APIMirror(client).sync().failures.isEmpty)
        let outbox = client.outbox(), count = server.requests.count
        try await outbox.create("Issue", [.init("title", .string("new")), .init("slug", .string("three"))])
        try await outbox.update("Issue", RecordKey(1), [.init("slug", .string("uno"))])
        let report = await APIMirror(client).sync()
        #expect(report.failures.isEmpty && report.skippedParents.isEmpty, "\(report.failures)")
        #expect(server.targets.dropFirst(count).sorted() == ["/issues", "/issues/one/notes", "/issues/two/notes"])
        withExtendedLifetime(folder) {}
    }

    @Test(
        "a record with a queued change keeps its local values, and stays, if the one that leads to it is removed",
        arguments: ["cascade", "nullify"])
    func deleteRules(rule: String) async throws {
        let folder = try TemporaryFolder()
        let isListed = Mutex(true), isCascade = rule == "cascade"
        let server = try ScriptedServer { request in
            guard request.method == "GET" else { return Answer(status: "204 No Content") }
            if request.target == "/notes" {
                return Answer(
                    body: #"[{"id":50,"text":"a","issue":\#(isCascade ? 3 : 4)},{"id":51,"text":"b","issue":3}]"#)
            }
            return Answer(body: isListed.withLock(\.self) ? #"[{"id":3},{"id":4}]"# : #"[{"id":4}]"#)
        }
        let description = try Description.parse(
            """
            api: { base: '\(server.base)' }
            entities:
              Issue:
                key: id
                attributes: { id: int }
                relationships: { notes: { to: [Note], inverse: issue, on_delete: \(rule) } }
              Note:
                key: id
                attributes: { id: int, text: string }
                relationships: { issue: { to: Issue, inverse: notes } }
                write: { update: 'PATCH /notes/{id}' }
            endpoints:
              notes: { path: /notes, entity: Note, paginate: single_page }
              issues: { path: /issues, entity: Issue, paginate: single_page, orphans: { scope: listed, after: one_scan } }
            """, file: folder.path + "/tarn.yaml")
        let store = try Store.open(
            at: folder.path + "/s.tarn", schema: description.schema, options: Store.Options(durability: .relaxed))
        let client = try APIClient(description, store: store, transport: CurlTransport()), outbox = client.outbox()
        try #require(await APIMirror(client).sync().failures.isEmpty)
        let change = isCascade ? Record.Field("text", .string("mine")) : Record.Field("issue", .reference(RecordKey(3)))
        try await outbox.update("Note", RecordKey(50), [change])
        isListed.withLock { $0 = false }
        var options = APIMirror.Options()
        options.refetches = true
        for endpoints: Set in [["issues"], ["notes"]] {
            #expect(await APIMirror(client, options: options).sync(endpoints).failures.isEmpty)
            #expect(try store.read { try $0.record("Note", RecordKey(50))?[change.name] } == change.value)
            #expect(try store.read { try $0.localChange("Note", RecordKey(50)) } != nil)
            // The other one goes, and comes again.
            #expect(try store.read { try $0.count("Note") } == (isCascade && endpoints == ["issues"] ? 1 : 2))
        }
        withExtendedLifetime(folder) {}
    }

    @Test("an orphan is deleted although more records with queued changes depend on it than a step deletes")
    func largeCascade() async throws {
        let folder = try TemporaryFolder(), isListed = Mutex(true)
        let transport = ClosureTransport { request in
            let body =
                if request.url.hasSuffix("/notes") {
                    "[" + (50...53).map { #"{"id":\#($0),"text":"a","issue":3}"# }.joined(separator: ",") + "]"
                } else {
                    isListed.withLock(\.self) ? #"[{"id":3},{"id":4}]"# : #"[{"id":4}]"#
                }
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let description = try Description.parse(
            """
            api: { base: https://api.test.example }
            entities:
              Issue:
                key: id
                attributes: { id: int }
                relationships: { notes: { to: [Note], inverse: issue, on_delete: cascade } }
              Note:
                key: id
                attributes: { id: int, text: string }
                relationships: { issue: { to: Issue, inverse: notes } }
                write: { update: 'PATCH /notes/{id}' }
            endpoints:
              notes: { path: /notes, entity: Note, paginate: single_page }
              issues: { path: /issues, entity: Issue, paginate: single_page, orphans: { scope: listed, after: one_scan } }
            """, file: folder.path + "/tarn.yaml")
        let store = try Store.open(
            at: folder.path + "/s.tarn", schema: description.schema, options: Store.Options(durability: .relaxed))
        let client = try APIClient(description, store: store, transport: transport), outbox = client.outbox()
        try #require(await APIMirror(client).sync().failures.isEmpty)
        for id in 50...52 as ClosedRange<Int64> {
            try await outbox.update("Note", RecordKey(id), [.init("text", .string("mine"))])
        }
        isListed.withLock { $0 = false }
        var options = APIMirror.Options()
        options.orphanStep = 2
        let report = await APIMirror(client, options: options).sync(["issues"])
        #expect(report.failures.isEmpty && report.orphans?.deleted == 1, "\(report.failures)")
        #expect(try store.read { try ($0.count("Issue"), $0.count("Note")) } == (1, 3))
        #expect(try store.read { try $0.record("Note", RecordKey(52))?["text"] } == .string("mine"))
        withExtendedLifetime(folder) {}
    }

    @Test("with local: server, a record that operations wait for is no orphan")
    func orphans() async throws {
        let (server, client, folder) = try place("local: server", "orphans: { scope: entity, after: one_scan }")
        try #require(await APIMirror(client).sync().failures.isEmpty)
        let key = try await client.outbox().create("Issue", [.init("title", .string("new"))])
        try #require(await APIMirror(client).sync().failures.isEmpty)
        let stored = try client.store.read { try $0.record("Issue", key)?["title"] }
        #expect(stored == .string("new"))
        #expect(try client.outbox().operations().count == 1)
        withExtendedLifetime((server, folder)) {}
    }

    @Test(
        "with local: keep, what a page was refused for another field is there when the operation has ended",
        arguments: ["sent", "discarded", "settled"])
    func keptFields(end: String) async throws {
        let record = ScriptedRecord(#"{"id":1,"title":"a","number":1}"#)
        let place = try ScriptedOutbox(
            """
            Issue:
              key: id
              attributes: { id: int, title: string, number: int }
              local: keep
              write: { update: 'PATCH /issues/{id}' }
            """
        ) { request in request.method == "GET" ? record.read(request) : Answer(status: "204 No Content") }
        try await place.sync()
        let outbox = place.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("A"))])
        record.change(#"{"id":1,"title":"\#(end == "settled" ? "A" : "a")","number":2}"#)
        try await place.sync()
        #expect(try place.field("number") == .int(1))
        if end == "discarded" {
            try await outbox.discard(try #require(try outbox.operations().first).id)
        } else {
            #expect(try await outbox.drain().sent == 1)
        }
        #expect(try place.field("number") == .int(2))
        #expect(try place.field("title") == .string(end == "discarded" ? "a" : "A"))
        #expect(try place.store.read { try $0.localChange("Issue", RecordKey(1)) } == nil)
    }
}
