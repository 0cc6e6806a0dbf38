// Bridges to APIs whose answers are documents in markup.

import Synchronization
import TarnMacros
import TestSupport
import Testing

extension BridgeChangeTests {
    /// Reads an XML document with the title of an entry.
    private struct XMLAnswers: Bridge {
        typealias Request = String
        typealias Info = String

        func operations(for request: String) throws -> [RemoteOperation<String>] { [] }

        func operations(for change: RemoteChange) throws -> [RemoteOperation<String>] {
            [RemoteOperation("PATCH", "/entries/1", json: change.body, info: "")]
        }

        func answer(
            _ response: TransportResponse, to operation: RemoteOperation<String>
        ) throws -> RemoteAnswer<String> {
            let title = String(decoding: response.body, as: UTF8.self).split(separator: ">")[1].prefix { $0 != "<" }
            let entry = JSONValue.object([.init("id", .number("1")), .init("title", .string(String(title)))])
            return RemoteAnswer([RemotePart("Entry", .json(entry))])
        }
    }

    @Test(
        "a bridge reads an XML document behind a redirect; a web page there tells nothing about the change",
        arguments: ["307 Temporary Redirect", "303 See Other"], [true, false])
    func markupBehindRedirects(status: String, isPage: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.target == "/entries/1" { return .init(status: status, fields: ["Location: /result"]) }
            return .init(body: isPage ? "<html><body>Sign in</body></html>" : "<title>theirs</title>")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(update: WriteRequest("PATCH", "/entries/{id}"))
        }
        try await client.store.write { try $0.put(Entry(id: 1, title: "old")) }
        let outbox = client.outbox().sending(through: XMLAnswers())
        try await outbox.update("Entry", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == (isPage ? 0 : 1) && report.dead == (isPage ? 1 : 0), "\(report)")
        #expect(try client.store.read { try $0.get(Entry.self, 1)?.title } == (isPage ? "mine" : "theirs"))
    }

    @Test("a web page without a redirect is no answer for a bridge either: the change waits, and is sent again")
    func webPage() async throws {
        let folder = try TemporaryFolder(), isLoggedIn = Mutex(false)
        let server = try ScriptedServer { _ in
            .init(body: isLoggedIn.withLock(\.self) ? "<title>theirs</title>" : "<html><body>Sign in</body></html>")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.attempts = 1
            $0.writes["Entry"] = WriteRequests(update: WriteRequest("PATCH", "/entries/{id}"))
        }
        try await client.store.write { try $0.put(Entry(id: 1, title: "old")) }
        let outbox = client.outbox().sending(through: XMLAnswers())
        try await outbox.update("Entry", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == 0 && report.remaining.pending == 1, "\(report)")
        #expect(report.stop?.message.contains("is a web page") == true, "\(report)")
        let waiting = try #require(try outbox.operations().first)
        #expect(waiting.mayHaveArrived)
        isLoggedIn.withLock { $0 = true }
        try await outbox.retry(waiting.id)
        #expect(try await outbox.drain().sent == 1)
    }

    @Test(
        "a change that a bridge has sent waits also if its web page cannot be decoded; a rule for the page precedes",
        arguments: [true, false])
    func webPageWithRule(isRule: Bool) async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in
            isRule
                ? .init(body: "<html><body>busy</body></html>")
                : .init(fields: ["Content-Type: text/html", "Content-Encoding: gzip"], body: "no gzip")
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.attempts = 1
            if isRule { $0.api.responses = [ResponseRule(text: "busy", action: .fail)] }
            $0.writes["Entry"] = WriteRequests(update: WriteRequest("PATCH", "/entries/{id}"))
        }
        try await client.store.write { try $0.put(Entry(id: 1, title: "old")) }
        let outbox = client.outbox().sending(through: XMLAnswers())
        try await outbox.update("Entry", RecordKey(1), [.init("title", .string("mine"))])
        let report = try await outbox.drain()
        #expect(report.sent == 0 && report.dead == (isRule ? 1 : 0), "\(report)")
        #expect(report.remaining.pending == (isRule ? 0 : 1) && (report.stop == nil) == isRule, "\(report)")
    }
}
