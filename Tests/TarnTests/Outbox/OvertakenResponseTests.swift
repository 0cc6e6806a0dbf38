// Responses that were requested before a local change reached the server, and arrive after it.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Outbox: responses that were under way", .timeLimit(.minutes(5)))
struct OvertakenResponseTests {
    /// A server whose list is read when its request arrives, and answered when the test says so.
    private final class Slow: Sendable {
        struct State {
            var titles: [Int: String] = [1: "one", 2: "two", 3: "three"]
            var isHeld = false
            var held = 0
            var conditions: [String?] = []
        }

        let state = Mutex(State())

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let id = URLComponents(string: request.url).flatMap { Int($0.path.split(separator: "/").last ?? "") }
                let sent = (try? JSONSerialization.jsonObject(with: Data(request.body ?? []))) as? [String: Any]
                let title = sent?["title"] as? String
                switch (request.method, id) {
                case ("GET", nil): return try await self.list(request)
                case ("POST", _):
                    self.state.withLock { $0.titles[50] = title }
                    return TransportResponse(status: 201, body: Array(#"{"id":50,"title":"\#(title ?? "")"}"#.utf8))
                case ("DELETE", let id?): self.state.withLock { $0.titles[id] = nil }
                case (_, let id?): self.state.withLock { $0.titles[id] = title }
                default: return TransportResponse(status: 404)
                }
                return TransportResponse(status: 204)
            }
        }

        private func list(_ request: TransportRequest) async throws -> TransportResponse {
            let titles = state.withLock { state in
                state.conditions.append(request.headers["If-None-Match"])
                if state.isHeld { state.held += 1 }
                return state.titles.sorted { $0.key < $1.key }
            }
            while state.withLock(\.isHeld) { try await Task.sleep(for: .milliseconds(2)) }
            let body = titles.map { #"{"id":\#($0.key),"title":"\#($0.value)","extra":"\#($0.value)!"}"# }
            var headers = TransportHeaders()
            headers["Cache-Control"] = "max-age=600"
            headers["ETag"] = "\"\(body.joined().utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xFFFFFF })\""
            if let tag = request.headers["If-None-Match"], tag == headers["ETag"] {
                return TransportResponse(status: 304, headers: headers)
            }
            return TransportResponse(
                status: 200, headers: headers, body: Array(("[" + body.joined(separator: ",") + "]").utf8))
        }

        func untilHeld() async throws {
            while state.withLock({ $0.held == 0 }) { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    private let folder: TemporaryFolder
    private let server = Slow()
    private let store: Store
    private let client: APIClient

    init() throws {
        folder = try TemporaryFolder()
        let description = try Description.parse(
            """
            api: { base: https://x.test }
            entities:
              Note:
                key: id
                attributes: { id: int, title: string, extra: string? }
                write: { create: 'POST /notes', update: 'PATCH /notes/{id}', delete: 'DELETE /notes/{id}' }
            endpoints:
              notes:
                path: /notes
                entity: Note
                paginate: single_page
                orphans: { scope: entity, after: one_scan }
            """, file: folder.path + "/tarn.yaml")
        store = try Store.open(at: folder.path + "/s.tarn", schema: description.schema)
        client = try APIClient(description, store: store, transport: server.transport)
    }

    private var titles: [String] {
        get throws {
            try store.read { reader in
                try reader.fetch(Query("Note")).map { note in
                    guard case .string(let title)? = note["title"] else { return "\(note.key)" }
                    return "\(note.key) \(title)"
                }
            }
        }
    }

    /// Deletes, renames and creates records, and sends that.
    private func change() async throws {
        let outbox = client.outbox()
        try await outbox.delete("Note", RecordKey(3))
        try await outbox.update("Note", RecordKey(1), [.init("title", .string("ONE"))])
        try await outbox.create("Note", [.init("title", .string("new"))])
        let report = try await outbox.drain()
        try #require(report.sent == 3 && report.remaining.isEmpty, "\(report)")
        #expect(try titles == ["1 ONE", "2 two", "50 new"])
    }

    /// Syncs twice, and runs the closure after the second sync has read the list, with another title
    /// of the record 2.
    ///
    /// - Parameter missing: a record that the second list lacks.
    private func sync(
        _ client: APIClient, missing: Int? = nil, meanwhile: () async throws -> Void
    ) async throws {
        try #require(await APIMirror(client).sync().failures.isEmpty)
        server.state.withLock { state in
            state.titles[2] = "second"
            if let missing { state.titles[missing] = nil }
            (state.isHeld, state.held) = (true, 0)
        }
        async let report = APIMirror(client).sync()
        try await server.untilHeld()
        try await meanwhile()
        server.state.withLock { $0.isHeld = false }
        #expect(await report.failures.isEmpty)
    }

    @Test("a sync under way undoes nothing that has reached the server meanwhile, and the next one brings the rest")
    func mirror() async throws {
        try await sync(client) { try await change() }
        #expect(try titles == ["1 ONE", "2 second", "50 new"])
        // The overtaken page is requested without a condition, although it has not changed since.
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(server.state.withLock { $0.conditions.last } == .some(nil))
        #expect(try titles == ["1 ONE", "2 second", "50 new"])
        let extra = try store.read { try $0.record("Note", RecordKey(1))?["extra"] }
        #expect(extra == .string("ONE!"))
        // And now an orphan is one.
        server.state.withLock { $0.titles[50] = nil }
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 ONE", "2 second"])
    }

    @Test("a record that comes into the store after a list was read is no orphan of that list")
    func storedMeanwhile() async throws {
        try await sync(client) {
            // As from the response to another request.
            try await store.write { try $0.put("Note", RecordKey(60), [Record.Field("title", .string("new"))]) }
            server.state.withLock { $0.titles[60] = "new" }
        }
        #expect(try titles == ["1 one", "2 second", "3 three", "60 new"])
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 one", "2 second", "3 three", "60 new"])
        server.state.withLock { $0.titles[60] = nil }
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 one", "2 second", "3 three"])
    }

    @Test("a record that a list has lost is its orphan, also if something else has changed it meanwhile")
    func changedMeanwhile() async throws {
        try await sync(client, missing: 3) {
            try await store.write { try $0.put("Note", RecordKey(3), [Record.Field("title", .string("changed"))]) }
        }
        #expect(try titles == ["1 one", "2 second"])
    }

    @Test("a record that something else stores during each scan is an orphan after two scans that miss it")
    func storedAgainAndAgain() async throws {
        for expected in [["1 one", "2 two", "3 three", "60 new"], ["1 one", "2 two", "3 three"]] {
            server.state.withLock { ($0.isHeld, $0.held) = (true, 0) }
            async let report = APIMirror(client).sync()
            try await server.untilHeld()
            let title = expected.count == 4 ? "new" : "newer"
            try await store.write { try $0.put("Note", RecordKey(60), [Record.Field("title", .string(title))]) }
            server.state.withLock { $0.isHeld = false }
            #expect(await report.failures.isEmpty)
            #expect(try titles == expected)
        }
    }

    /// The seconds by which a clock is ahead.
    private final class Passed: Sendable { let seconds = Mutex(0.0) }

    private func client(_ passed: Passed) throws -> APIClient {
        var options = APIClient.Options()
        options.time = TimeSource(
            now: { Date().addingTimeInterval(passed.seconds.withLock(\.self)) },
            sleep: { try await Task.sleep(for: $0) }, random: { 0 })
        return try APIClient(client.description, store: store, transport: server.transport, options: options)
    }

    @Test(
        "a record that comes back to the server more than an hour before its list is complete is no orphan of that list"
    )
    func longScanOfKnown() async throws {
        let passed = Passed(), client = try client(passed)
        try await sync(client, missing: 3) {
            let outbox = client.outbox()
            try await outbox.update("Note", RecordKey(3), [.init("title", .string("back"))])
            try #require(try await outbox.drain().sent == 1)
            // The next operation that reaches the server forgets it.
            passed.seconds.withLock { $0 = 7200 }
            try await outbox.update("Note", RecordKey(1), [.init("title", .string("ONE"))])
            try #require(try await outbox.drain().sent == 1)
        }
        #expect(try titles == ["1 ONE", "2 second", "3 back"])
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 ONE", "2 second", "3 back"])
    }

    @Test(
        "a record that has reached the server more than an hour before its list is complete is no orphan of that list")
    func longScan() async throws {
        let passed = Passed(), client = try client(passed)
        try await sync(client) {
            let outbox = client.outbox()
            try await outbox.create("Note", [.init("title", .string("new"))])
            try #require(try await outbox.drain().sent == 1)
            // The next operation that reaches the server forgets it.
            passed.seconds.withLock { $0 = 7200 }
            try await outbox.update("Note", RecordKey(1), [.init("title", .string("ONE"))])
            try #require(try await outbox.drain().sent == 1)
        }
        #expect(try titles == ["1 ONE", "2 second", "3 three", "50 new"])
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 ONE", "2 second", "3 three", "50 new"])
        // One complete scan is enough again.
        server.state.withLock { $0.titles[50] = nil }
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 ONE", "2 second", "3 three"])
    }

    @Test("a request under way undoes nothing that has reached the server meanwhile, and is not fresh afterwards")
    func cache() async throws {
        let cache = RecordCache(client)
        _ = try await cache.fetch(CacheRequest("notes"))
        server.state.withLock { $0.isHeld = true }
        async let refresh = cache.fetch(CacheRequest("notes"), policy: .networkOnly)
        try await server.untilHeld()
        try await change()
        server.state.withLock { $0.isHeld = false }
        _ = try await refresh
        #expect(try titles == ["1 ONE", "2 two", "50 new"])
        let answer = try await cache.fetch(CacheRequest("notes"))
        #expect(answer.source == .fetched)
        #expect(answer.records.map(\.key) == [RecordKey(1), RecordKey(2), RecordKey(50)])
        #expect(try titles == ["1 ONE", "2 two", "50 new"])
    }

    @Test("a record that nothing has changed since its request is imported, also beside a full outbox")
    func others() async throws {
        try #require(await APIMirror(client).sync().failures.isEmpty)
        try await change()
        server.state.withLock { $0.titles = [1: "uno", 2: "dos", 50: "neu"] }
        #expect(await APIMirror(client).sync().failures.isEmpty)
        #expect(try titles == ["1 uno", "2 dos", "50 neu"])
        #expect(server.state.withLock { $0.conditions.count } == 2)
    }

    @Test(
        "a record that comes to the server or the store after its list was read is no orphan of a list that was read later",
        arguments: [false, true])
    func severalLists(isStoredByOthers: Bool) async throws {
        let description = try Description.parse(
            """
            api: { base: https://x.test }
            entities:
              Note:
                key: id
                attributes: { id: int, title: string }
                write: { create: 'POST /notes' }
            endpoints:
              notes:
                path: '/lists/{list}'
                partitions: { list: [a, b] }
                entity: Note
                paginate: single_page
                orphans: { scope: entity, after: one_scan }
            """, file: folder.path + "/lists.yaml")
        let lists = Mutex<[String: [Int]]>(["a": [1], "b": [2]]), state = Mutex((isHeld: false, held: 0))
        let transport = ClosureTransport { request in
            guard request.method == "GET" else {
                lists.withLock { $0["a"] = [1, 50] }
                return TransportResponse(status: 201, body: Array(#"{"id":50,"title":"new"}"#.utf8))
            }
            let name = String(request.url.suffix(1)), ids = lists.withLock { $0[name] ?? [] }
            if name == "a", state.withLock(\.isHeld) {
                state.withLock { $0.held += 1 }
                while state.withLock(\.isHeld) { try await Task.sleep(for: .milliseconds(2)) }
            }
            let body = "[" + ids.map { #"{"id":\#($0),"title":"t"}"# }.joined(separator: ",") + "]"
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let store = try Store.open(at: folder.path + "/lists.tarn", schema: description.schema)
        let client = try APIClient(description, store: store, transport: transport), outbox = client.outbox()
        var options = APIMirror.Options()
        options.concurrency = 1
        let mirror = APIMirror(client, options: options)
        try #require(await mirror.sync().failures.isEmpty)
        state.withLock { $0.isHeld = true }
        async let report = mirror.sync()
        while state.withLock({ $0.held == 0 }) { try await Task.sleep(for: .milliseconds(2)) }
        if isStoredByOthers {
            try await store.write { try $0.put("Note", RecordKey(50), [Record.Field("title", .string("new"))]) }
            lists.withLock { $0["a"] = [1, 50] }
        } else {
            try await outbox.create("Note", [.init("title", .string("new"))])
            try #require(try await outbox.drain().sent == 1)
        }
        state.withLock { $0.isHeld = false }
        #expect(await report.failures.isEmpty)
        #expect(
            try store.read { try $0.fetch(Query("Note")).map(\.key) } == [RecordKey(1), RecordKey(2), RecordKey(50)])
        #expect(await mirror.sync().orphans?.deleted ?? 0 == 0)
        #expect(try store.read { try $0.count("Note") } == 3)
    }
}
