// Lists and endpoints that are scanned side by side.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: concurrency", .timeLimit(.minutes(5)))
struct MirrorConcurrencyTests {
    private static func yaml(_ pace: String = "", commit: String = "page") -> String {
        """
        api:
          base: https://api.test.example
          \(pace)
        entities:
          Topic: { key: id, attributes: { id: int } }
          Tag: { key: id, attributes: { id: int } }
          Board: { key: id, attributes: { id: int } }
          Card:
            key: id
            attributes: { id: int, text: string }
            relationships: { board: { to: Board, inverse: cards } }
        endpoints:
          cards:
            path: '/boards/{board.id}/cards'
            for_each: { entity: Board, parent: board }
            entity: Card
            paginate: single_page
            commit: \(commit)
          topics: { path: /topics, entity: Topic, paginate: single_page }
          boards: { path: /boards, entity: Board, paginate: header_link }
          tags: { path: /tags, entity: Tag, paginate: single_page }
        """
    }

    /// A server of 40 boards that counts the requests in progress.
    private final class Counting: Sendable {
        let state = Mutex((now: 0, most: 0, log: [String]()))

        func transport(
            holding: Duration = .milliseconds(4), _ answer: @escaping @Sendable (String) -> String? = { _ in nil }
        ) -> ClosureTransport {
            ClosureTransport { [self] request in
                let target = request.url.replacing("https://api.test.example", with: "")
                state.withLock { state in
                    state.now += 1
                    state.most = max(state.most, state.now)
                    state.log.append("> " + target)
                }
                defer {
                    state.withLock { state in
                        state.now -= 1
                        state.log.append("< " + target)
                    }
                }
                try await Task.sleep(for: holding)
                if let text = answer(target) { return TransportResponse(status: 200, body: Array(text.utf8)) }
                return Counting.response(target)
            }
        }

        static func response(_ target: String) -> TransportResponse {
            func list(_ ids: ClosedRange<Int>) -> [UInt8] {
                Array(("[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]").utf8)
            }
            switch target {
            case "/boards":
                let link = "<https://api.test.example/boards?page=2>; rel=\"next\""
                return TransportResponse(
                    status: 200, headers: TransportHeaders([.init("Link", link)]), body: list(1...20))
            case "/boards?page=2": return TransportResponse(status: 200, body: list(21...40))
            case "/topics", "/tags": return TransportResponse(status: 200, body: list(1...3))
            default:
                let board = target.split(separator: "/")[1]
                return TransportResponse(status: 200, body: Array(#"[{"id":\#(board),"text":"t"}]"#.utf8))
            }
        }

        var most: Int { state.withLock(\.most) }
        var log: [String] { state.withLock(\.log) }
    }

    @Test("as many requests are in progress as the pace allows, and never more", arguments: [1, 2, 5])
    func withinPace(concurrent: Int) async throws {
        let store = try MirrorStore(yaml: Self.yaml("pace: { concurrent: \(concurrent) }")), server = Counting()
        let report = try await store.sync(nil, transport: server.transport())
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.most == concurrent)
        #expect(try store.count("Card") == 40 && store.count("Topic") == 3)
        #expect(server.log.filter { $0.hasPrefix(">") }.count == 44)
    }

    @Test("independent endpoints are requested side by side; one that needs the records of another waits for it")
    func order() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), server = Counting()
        let report = try await store.sync(nil, transport: server.transport(holding: .milliseconds(30)))
        #expect(report.endpoints.map(\.name) == ["cards", "topics", "boards", "tags"])
        let log = server.log
        let first = log.prefix { $0.hasPrefix(">") }
        #expect(Set(first) == ["> /topics", "> /boards", "> /tags"], "\(log.prefix(6))")
        let end = try #require(log.firstIndex(of: "< /boards?page=2"))
        #expect(log.firstIndex { $0.hasPrefix("> /boards/") }.map { $0 > end } == true)
        #expect(try store.keys("Board", 40, "cards") == [40])
    }

    @Test("the order of the description counts with a concurrency of 1")
    func sequential() async throws {
        let store = try MirrorStore(yaml: Self.yaml()), server = Counting()
        _ = try await store.sync(nil, transport: server.transport(), options: { $0.concurrency = 1 })
        // Without boards in the store, the first endpoint has nothing to do.
        let targets = ["/topics", "/boards", "/boards?page=2", "/tags"]
        let expected: [String] = targets.flatMap { target -> [String] in ["> \(target)", "< \(target)"] }
        #expect(server.log == expected)
    }

    @Test("pages of several parents that arrive during a commit share the next one")
    func sharedCommits() async throws {
        let store = try MirrorStore(yaml: Self.yaml("pace: { concurrent: 40 }")), server = Counting()
        _ = try await store.sync(nil, transport: server.transport(), names: ["boards"])
        let before = try store.read { try $0.sequence }
        let report = try await store.sync(nil, transport: server.transport(), names: ["cards"])
        #expect(report.failures.isEmpty && report.pages == 40)
        let commits = try store.read { try $0.sequence } - before
        #expect(commits >= 1 && commits < 40, "\(commits)")
        for board in 1...40 { #expect(try store.checkpoint("cards \(board)")?.state == .complete) }
    }

    @Test("a response that is late holds up its own list only")
    func lateList() async throws {
        let store = try MirrorStore(yaml: Self.yaml("pace: { concurrent: 4 }")), done = Mutex(0)
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            if target == "/boards/1/cards" {
                // All other boards are answered meanwhile.
                while done.withLock({ $0 < 39 }) { try await Task.sleep(for: .milliseconds(2)) }
            }
            defer { if target.hasSuffix("/cards") { done.withLock { $0 += 1 } } }
            return Counting.response(target)
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.endpoint("cards")?.pages == 40, "\(report.texts)")
    }

    @Test("a sync that is cancelled stops all requests, and the next one asks only for what is missing")
    func cancelled() async throws {
        let store = try MirrorStore(yaml: Self.yaml("pace: { concurrent: 4 }")), log = Mutex<[String]>([])
        let answered = Mutex(0)
        let (reached, isReached) = AsyncStream.makeStream(of: Void.self)
        let work = Task {
            try await store.sync(
                nil,
                transport: ClosureTransport { request in
                    let target = request.url.replacing("https://api.test.example", with: "")
                    if target.hasSuffix("/cards") {
                        let count = answered.withLock { count in
                            count += 1
                            return count
                        }
                        if count > 20 {
                            isReached.yield()
                            try await Task.sleep(for: .seconds(600))
                        }
                    }
                    return Counting.response(target)
                })
        }
        for await _ in reached { break }
        while (try? store.count("Card")) ?? 0 < 20 { try await Task.sleep(for: .milliseconds(5)) }
        work.cancel()
        let report = try await work.value
        guard case .cancelled? = report.failures.last else {
            Issue.record("\(report.texts)")
            return
        }
        #expect(report.endpoint("cards")?.pages == 20)
        let second = try await store.sync(
            nil,
            transport: ClosureTransport { request in
                let target = request.url.replacing("https://api.test.example", with: "")
                log.withLock { $0.append(target) }
                return Counting.response(target)
            })
        #expect(second.failures.isEmpty && second.resumed != nil, "\(second.texts)")
        #expect(log.withLock { Set($0).count == 20 && $0.count == 20 && $0.allSatisfy { $0.hasSuffix("/cards") } })
        #expect(try store.count("Card") == 40)
    }

    @Test(
        "a failure that concerns all endpoints stops the others behind their committed pages, without a word of theirs")
    func stopped() async throws {
        let store = try MirrorStore(yaml: Self.yaml("pace: { concurrent: 4 }"))
        let transport = ClosureTransport { request in
            let target = request.url.replacing("https://api.test.example", with: "")
            if target == "/tags" {
                while (try? store.count("Board")) ?? 0 == 0 { try await Task.sleep(for: .milliseconds(2)) }
                return TransportResponse(status: 401)
            }
            if target == "/boards?page=2" { try await Task.sleep(for: .seconds(600)) }
            return Counting.response(target)
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.count == 1 && report.endpoint("tags")?.failures.count == 1, "\(report.texts)")
        #expect(report.endpoint("boards").map { $0.wasStopped && $0.pages == 1 } == true)
        #expect(report.endpoint("cards") == nil)
        #expect(try store.checkpoint("boards").map { $0.state == .underWay && $0.pages == 1 } == true)
    }
}
