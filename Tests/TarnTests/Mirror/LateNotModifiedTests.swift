// A 304 that is committed after another one has stored a newer answer: it confirms nothing, and the
// page is fetched again.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("A late 304", .timeLimit(.minutes(5)))
struct LateNotModifiedTests {
    /// The fetching side: a mirror, or a cache over the same store.
    enum Client: String, CaseIterable, Sendable {
        case mirror, cache
    }

    /// Pages of two items that follow each other by `Link`; each has a version, and one of them
    /// waits with its 304.
    private final class Versions: Sendable {
        let state = Mutex((versions: [1, 1, 1], holds: false))
        let gate = ThreadGate()
        let held: Int

        init(holding page: Int) { held = page }

        func set(_ page: Int, _ version: Int) { state.withLock { $0.versions[page - 1] = version } }
        func hold() { state.withLock { $0.holds = true } }

        func answer(_ request: ScriptedServer.Request) -> ScriptedServer.Answer {
            let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
            let (version, waits) = state.withLock { state in
                let waits = state.holds && page == held && request.hasTag("\(page)-\(state.versions[page - 1])")
                if waits { state.holds = false }
                return (state.versions[page - 1], waits)
            }
            let items = [10 * page, 10 * page + version].map { #"{"id":\#($0),"name":"\#(version)"}"# }.joined(
                separator: ",")
            let link = page < 3 ? ["Link: <https://api.test.example/v1/items?page=\(page + 1)>; rel=\"next\""] : []
            var answer = ScriptedServer.Answer.tagged("\(page)-\(version)", request, "[\(items)]")
            answer.fields += link
            if waits { gate.wait() }
            return answer
        }
    }

    private func fetch(_ client: Client, _ fixture: MirrorStore, _ base: String, page: Int, unit: Endpoint.CommitUnit)
        async throws
    {
        switch client {
        case .mirror:
            let report = try await fixture.sync(
                base + "/v1",
                options: { options in
                    options.commitUnit = unit
                    options.claimsEndpoints = false
                })
            #expect(report.failures.isEmpty, "\(report.texts)")
        case .cache:
            var client = APIClient.Options(), options = RecordCache.Options()
            client.base = base + "/v1"
            options.sharesTransfersBetweenProcesses = false
            let cache = try RecordCache(
                fixture.description, store: try fixture.open(), transport: MirrorStore.impatient(),
                client: client, options: options)
            let url = page == 1 ? nil : "https://api.test.example/v1/items?page=\(page)"
            _ = try await cache.fetch(CacheRequest("items", url: url), policy: .networkFirst)
        }
    }

    private func tag(_ fixture: MirrorStore, page: Int) throws -> String? {
        let url = "https://api.test.example/v1/items" + (page == 1 ? "" : "?page=\(page)")
        return try fixture.read { reader in
            var found: String?
            try reader.access.responses.forEach(to: url, scope: "") { view in
                found = view.headers.firstIndex(of: "ETag").map { view.headers[$0 + 1] }
                return false
            }
            return found
        }
    }

    @Test(
        "a 304 that comes after a newer answer was stored does not bring back the older one: the page is fetched again",
        arguments: Client.allCases, Client.allCases)
    func doesNotBringBackTheOlderAnswer(late: Client, newer: Client) async throws {
        for (page, unit) in [(1, Endpoint.CommitUnit.pages(1)), (2, .pages(1)), (2, .pages(3)), (3, .scan), (1, .scan)]
        {
            let versions = Versions(holding: page), fixture = try MirrorStore(yaml: itemsYAML())
            let server = try ScriptedServer { versions.answer($0) }
            try await fetch(.mirror, fixture, server.base, page: page, unit: .pages(1))
            versions.hold()
            let base = server.base
            async let first: Void = fetch(late, fixture, base, page: page, unit: unit)
            try await versions.gate.reached()
            versions.set(page, 2)
            try await fetch(newer, fixture, server.base, page: page, unit: .pages(1))
            #expect(try tag(fixture, page: page) == "\"\(page)-2\"")
            versions.gate.open()
            try await first
            let what: Comment = "\(late) after \(newer), page \(page), \(unit)"
            #expect(try tag(fixture, page: page) == "\"\(page)-2\"", what)
            #expect(try fixture.record("Item", Int64(10 * page))["name"] == .string("2"), what)
            // A server that returns to its former content is believed.
            versions.set(page, 1)
            try await fetch(.mirror, fixture, server.base, page: page, unit: .pages(1))
            #expect(try fixture.record("Item", Int64(10 * page))["name"] == .string("1"), what)
        }
    }

    @Test(
        "walks for several parents whose pages wait for one commit begin again where one of their 304s does not count")
    func severalParentsInOneUnit() async throws {
        let versions = Mutex(["1": 1, "2": 1, "3": 1]), holds = Mutex(false), gate = ThreadGate()
        let server = try ScriptedServer { request in
            if request.target == "/boards" { return .init(body: #"[{"id":1},{"id":2},{"id":3}]"#) }
            let board = request.target.split(separator: "/")[1], version = versions.withLock { $0[String(board)] ?? 0 }
            let answer = ScriptedServer.Answer.tagged(
                "\(board)-\(version)", request, #"[{"id":\#(board),"text":"\#(version)"}]"#)
            let waits = holds.withLock { holds in
                defer { if board == "1" { holds = false } }
                return holds && board == "1"
            }
            if waits { gate.wait() }
            return answer
        }
        let fixture = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: id, attributes: { id: int } }
                  Card: { key: id, attributes: { id: int, text: string } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards: { path: '/boards/{board.id}/cards', for_each: Board, entity: Card }
                """)
        @Sendable func sync(unit: Endpoint.CommitUnit) async throws -> SyncReport {
            try await fixture.sync(
                server.base,
                options: { options in
                    options.commitUnit = unit
                    options.claimsEndpoints = false
                })
        }
        _ = try await sync(unit: .pages(1))
        holds.withLock { $0 = true }
        async let late = sync(unit: .pages(2))
        try await gate.reached()
        versions.withLock { $0["1"] = 2 }
        _ = try await sync(unit: .pages(1))
        gate.open()
        let report = try await late
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.endpoint("cards").map { $0.pages == 3 && $0.notModified == 2 && !$0.isResumed } == true)
        #expect(try fixture.record("Card", 1)["text"] == .string("2"))
        for key in 1...3 { #expect(try fixture.checkpoint("cards \(key)")?.state == .complete) }
        versions.withLock { $0["1"] = 1 }
        _ = try await sync(unit: .pages(1))
        #expect(try fixture.record("Card", 1)["text"] == .string("1"))
    }

    /// Removes the pages that a 304 confirms, as another writer.
    private func removeResponses(_ prefix: String, _ fixture: MirrorStore) async throws {
        try await fixture.open().write { writer in
            var ids: [UInt64] = []
            try writer.access.responses.forEachID(withPrefix: prefix, scope: "") { id in
                ids.append(id)
                return true
            }
            for id in ids { try writer.removeResponse(id: id) }
        }
    }

    /// The first page of a list, whose 304 comes after another writer has removed what it confirms.
    private func voidPage(_ request: TransportRequest, _ fixture: MirrorStore) async throws -> TransportResponse {
        var headers = TransportHeaders()
        headers["ETag"] = "\"a\""
        guard request.headers["If-None-Match"] != nil else {
            return TransportResponse(status: 200, headers: headers, body: Array(#"[{"id":1}]"#.utf8))
        }
        try await removeResponses(request.url, fixture)
        return TransportResponse(status: 304, headers: headers)
    }

    @Test(
        "the failure of a list that cannot begin is not lost with a unit that a late 304 voids, before or beside it",
        arguments: [1, 2])
    func failureBesideVoidUnit(pages: Int) async throws {
        let fixture = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities:
                  Box: { key: id, attributes: { id: int, url: url } }
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  boxes: { path: /boxes, entity: Box }
                  content: { url: '{box.url}', for_each: Box, entity: Item }
                """)
        let boxes = [
            #"{"id":1,"url":"https://api.test.example/v1/boxes/1"}"#, #"{"id":2,"url":"https://elsewhere.example/2"}"#,
        ]
        let count = Mutex(1), asked = Mutex(0)
        let transport = ClosureTransport { request in
            if request.url.hasSuffix("/boxes") {
                let list = boxes.prefix(count.withLock(\.self)).joined(separator: ",")
                return TransportResponse(status: 200, body: Array("[\(list)]".utf8))
            }
            asked.withLock { $0 += 1 }
            return try await self.voidPage(request, fixture)
        }
        #expect(try await fixture.sync(nil, transport: transport).failures.isEmpty)
        count.withLock { $0 = 2 }
        let report = try await fixture.sync(nil, transport: transport) { options in
            options.commitUnit = .pages(pages)
            options.concurrency = 1
        }
        #expect(asked.withLock(\.self) == 3 && report.failures.count == 1, "\(report.texts)")
        #expect(try fixture.checkpoint("content 1")?.state == .complete)
        #expect(try fixture.checkpoint("content 2")?.failure != nil)
    }

    @Test("the doubtful end of a list that is scanned again because of a late 304 counts once")
    func doubtInVoidUnit() async throws {
        let fixture = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example/v1 }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  items: { path: '/lists/{list}', partitions: { list: [1, 2] }, entity: Item, paginate: header_link }
                """)
        let log = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            guard request.url.contains("/lists/2") else { return try await self.voidPage(request, fixture) }
            log.withLock { $0.append(request.url) }
            var headers = TransportHeaders()
            if request.url.hasSuffix("page=2") { return TransportResponse(status: 200, body: Array("[]".utf8)) }
            headers["Link"] = "<https://api.test.example/v1/lists/2?page=2>; rel=\"next\""
            return TransportResponse(status: 200, headers: headers, body: Array(#"[{"id":20}]"#.utf8))
        }
        var doubts: [[EndDoubt: Int]?] = []
        for _ in 0..<2 {
            let report = try await fixture.sync(nil, transport: transport) { options in
                options.commitUnit = .pages(3)
                options.concurrency = 1
            }
            #expect(report.failures.isEmpty, "\(report.texts)")
            doubts.append(report.endpoint("items")?.doubts)
        }
        // Two pages in the first sync, and in each of both rounds of the second one.
        #expect(log.withLock(\.count) == 6)
        #expect(doubts[0]?.isEmpty == false && doubts[1] == doubts[0])
    }

    @Test("a list that has only ended in a unit that a late 304 voids is scanned again in the same sync")
    func endedListInVoidUnit() async throws {
        let isGone = Mutex(false), gate = ThreadGate()
        let server = try ScriptedServer { request in
            if request.target == "/boards" { return .init(body: #"[{"id":1},{"id":2}]"#) }
            let board = request.target.split(separator: "/")[1], gone = isGone.withLock { $0 }
            if gone, board == "2" { return .init(status: "404 Not Found") }
            if gone, request.hasTag("1") { gate.wait() }
            return ScriptedServer.Answer.tagged("\(board)", request, #"[{"id":\#(board)}]"#)
        }
        let fixture = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: id, attributes: { id: int } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards:
                    path: '/boards/{board.id}/cards'
                    for_each: Board
                    entity: Card
                    responses: [{ status: 404, then: ignore }]
                """)
        let base = server.base
        _ = try await fixture.sync(base)
        isGone.withLock { $0 = true }
        async let late = fixture.sync(base, options: { $0.commitUnit = .pages(2) })
        try await gate.reached()
        try await removeResponses("https://api.test.example/boards/1/cards", fixture)
        gate.open()
        let report = try await late
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.filter { $0.target == "/boards/2/cards" }.count == 3)
        #expect(report.endpoint("cards")?.ignored == 1)
        #expect(try fixture.checkpoint("cards 2")?.failure?.kind == "ignored 404")
    }

    @Test("a group that is one change is asked for again, without conditions, where one of its 304s does not count")
    func atomicGroup() async throws {
        let versions = Versions(holding: 1), fixture = try MirrorStore(yaml: itemsYAML())
        let server = try ScriptedServer { versions.answer($0) }
        try await fetch(.mirror, fixture, server.base, page: 1, unit: .pages(1))
        versions.hold()
        var options = SyncOptions()
        options.base = server.base + "/v1"
        let mirror = try APIMirror(
            fixture.description, store: try fixture.open(), transport: MirrorStore.impatient(),
            client: options.client, options: options.mirror)
        async let late = mirror.sync(batch: [BatchRequest("items")], isAtomic: true)
        try await versions.gate.reached()
        versions.set(1, 2)
        try await fetch(.cache, fixture, server.base, page: 1, unit: .pages(1))
        versions.gate.open()
        let report = await late
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try tag(fixture, page: 1) == "\"1-2\"")
        #expect(server.requests.last?.field("If-None-Match") == nil)
    }

    @Test("a 304 that names another representation than the stored one confirms nothing")
    func anotherRepresentation() async throws {
        let asked = Mutex(0)
        let server = try ScriptedServer { request in
            let count = asked.withLock { asked in
                asked += 1
                return asked
            }
            if count == 1 { return .init(fields: ["ETag: \"a\""], body: #"[{"id":1,"name":"a"}]"#) }
            if request.field("If-None-Match") != nil {
                return .init(status: "304 Not Modified", fields: ["ETag: \"b\""])
            }
            return .init(fields: ["ETag: \"b\""], body: #"[{"id":1,"name":"b"}]"#)
        }
        let fixture = try MirrorStore(yaml: itemsYAML())
        try await fixture.sync(server.base + "/v1")
        let report = try await fixture.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.notModified == 0, "\(report.texts)")
        #expect(try fixture.record("Item", 1)["name"] == .string("b"))
    }

    @Test("a 304 to a request that was sent before an unsafe one does not make the stored response valid again")
    func invalidatedMeanwhile() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { request in
            if request.method == "POST" { return .init(body: "done") }
            if request.hasTag("a") {
                gate.wait()
                return .init(status: "304 Not Modified", fields: ["ETag: \"a\""])
            }
            return .init(fields: ["ETag: \"a\"", "Cache-Control: max-age=0"], body: "text")
        }
        let fixture = try MirrorStore(yaml: itemsYAML())
        let transport = CachedTransport(MirrorStore.impatient(), store: try fixture.open())
        let request = TransportRequest(url: server.base + "/text")
        _ = try await transport.send(request)
        async let late = transport.send(request)
        try await gate.reached()
        var post = request
        post.method = "POST"
        _ = try await transport.send(post)
        gate.open()
        _ = try await late
        #expect(
            server.requests.map { "\($0.method) \($0.field("If-None-Match") ?? "-")" } == [
                "GET -", "GET \"a\"", "POST -", "GET -",
            ])
    }
}
