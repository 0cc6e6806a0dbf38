// The counts of a sync's progress: the part of the work that is done, and what an interrupted sync has done of it.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Progress of a sync", .timeLimit(.minutes(5)))
struct SyncProgressTests {
    /// The progress that a sync has reported.
    private final class Told: Sendable {
        private let all = Mutex<[SyncProgress]>([])

        func add(_ progress: SyncProgress) { all.withLock { $0.append(progress) } }
        func of(_ endpoint: String) -> [SyncProgress] { all.withLock { $0.filter { $0.endpoint == endpoint } } }
    }

    private static func isPage(_ progress: SyncProgress) -> Bool {
        if case .page = progress.event { true } else { false }
    }

    @Test("a total counts the first one of several lists in a response, and so does the part that is done")
    func severalLists() async throws {
        let server = try ScriptedServer { request in
            let page = request.target.last?.wholeNumberValue ?? 1
            guard page < 3 else { return .init(body: #"{"data":[],"tags":[],"total":4}"#) }
            let items = [2 * page - 1, 2 * page].map { #"{"id":\#($0)}"# }.joined(separator: ",")
            let tags = (0..<3).map { #"{"id":\#(10 * page + $0)}"# }.joined(separator: ",")
            return .init(body: #"{"data":[\#(items)],"tags":[\#(tags)],"total":4}"#)
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Item: { key: id, attributes: { id: int } }
                  Tag: { key: id, attributes: { id: int } }
                endpoints:
                  items: { path: /items, records: { data: Item, tags: Tag }, paginate: { page_number: { param: page } } }
                """)
        let told = Told(), report = try await store.sync(server.base, progress: told.add)
        #expect(report.failures.isEmpty && report.listed == 10, "\(report.failures)")
        let pages = told.of("items").filter(Self.isPage)
        #expect(pages.map(\.listed) == [5, 10, 10] && pages.map(\.expectedRecords) == [4, 4, 4])
        let parts = pages.map { Int((100 * ($0.fraction ?? -1)).rounded()) }
        #expect(parts == [50, 100, 100])
        #expect(pages.allSatisfy { $0.countedPart < 0.5 && $0.resumedFraction == 0 })
    }

    @Test(
        "a link to the last page gives the number of pages, also if the server counts them from 0", arguments: [0, 1])
    func lastLink(first: Int) async throws {
        let server = try ScriptedServer { request in
            let page = request.target.firstMatch(of: /page=(\d+)/).flatMap { Int($0.1) } ?? first, last = first + 2
            let links = "</items?page=\(page + 1)>; rel=\"next\", </items?page=\(last)>; rel=\"last\""
            return .init(fields: page < last ? ["Link: \(links)"] : [], body: #"[{"id":\#(page),"name":"n"}]"#)
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let told = Told(), report = try await store.sync(server.base, progress: told.add)
        #expect(report.failures.isEmpty && report.pages == 3, "\(report.failures)")
        #expect(told.of("items").filter(Self.isPage).map(\.expectedPages) == [3, 3, 3])
    }

    @Test("links with numbers at the ends of their range give no number of pages")
    func hostileLinks() async throws {
        let server = try ScriptedServer { request in
            guard request.target == "/items" else { return .init(body: "[]") }
            let links = "</items?page=\(Int.min)>; rel=\"next\", </items?page=3>; rel=\"last\""
            return .init(fields: ["Link: \(links)"], body: #"[{"id":1,"name":"n"}]"#)
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let told = Told(), report = try await store.sync(server.base, progress: told.add)
        #expect(report.failures.isEmpty && report.listed == 1, "\(report.failures)")
        #expect(told.of("items").filter(Self.isPage).allSatisfy { $0.expectedPages == nil })
    }

    @Test("a total that is less than what the list has already is none")
    func fallenTotal() async throws {
        let server = try ScriptedServer { request in
            let page = request.target.hasSuffix("page=2") ? 2 : 1
            let link = page == 1 ? ["Link: </items?page=2>; rel=\"next\""] : []
            // The list has the last one of the first page again: records have moved meanwhile.
            let ids = page == 1 ? "1 2 3" : "3 4 5"
            let items = ids.split(separator: " ").map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            return .init(fields: link + ["X-Total-Count: 5"], body: "[\(items)]")
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let told = Told(), report = try await store.sync(server.base, progress: told.add)
        #expect(report.failures.isEmpty && report.listed == 6, "\(report.failures)")
        #expect(told.of("items").filter(Self.isPage).map(\.expectedRecords) == [5, nil])
    }

    @Test("a number of pages that the list exceeds is none")
    func exceededPages() async throws {
        let server = try ScriptedServer { request in
            let page = request.target.firstMatch(of: /page=(\d+)/).flatMap { Int($0.1) } ?? 1
            let next = "</items?page=\(page + 1)>; rel=\"next\"", last = "</items?page=3>; rel=\"last\""
            return .init(
                fields: page < 4 ? ["Link: " + (page == 1 ? "\(next), \(last)" : next)] : [],
                body: #"[{"id":\#(page),"name":"n"}]"#)
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let told = Told(), report = try await store.sync(server.base, progress: told.add)
        #expect(report.failures.isEmpty && report.pages == 4, "\(report.failures)")
        #expect(told.of("items").filter(Self.isPage).map(\.expectedPages) == [3, 3, 3, nil])
    }

    @Test("lists that an interrupted sync has finished are no work of the sync that continues it")
    func finishedLists() async throws {
        let server = try ScriptedServer { request in
            let boards = (1...10).map { #"{"id":\#($0)}"# }.joined(separator: ",")
            return .init(body: request.target == "/boards" ? "[\(boards)]" : "[]")
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities:
                  Board: { key: id, attributes: { id: int } }
                  Card: { key: id, attributes: { id: int } }
                endpoints:
                  boards: { path: /boards, entity: Board }
                  cards: { path: '/boards/{board.id}/cards', for_each: Board, entity: Card }
                """)
        let first = try await store.sync(server.base, options: { $0.concurrency = 1 }) { progress in
            guard progress.endpoint == "cards", progress.pages == 5 else { return }
            withUnsafeCurrentTask { $0?.cancel() }
        }
        #expect(!first.failures.isEmpty)
        let told = Told()
        let next = try await store.sync(server.base, options: { $0.concurrency = 1 }, progress: told.add)
        // The next commit may be under way when the sync is cancelled.
        let done = try #require(next.endpoint("cards")?.finishedParents), part = Double(done) / 10
        #expect(next.failures.isEmpty && (5...6).contains(done), "\(next.failures)")
        let begin = try #require(told.of("cards").first)
        #expect(begin.lists == 10 && begin.listsDone == done && begin.fraction == part && begin.resumedFraction == part)
        let end = try #require(told.of("cards").last)
        #expect(end.listsDone == 10 && end.fraction == 1 && end.resumedFraction == part)
    }

    @Test("the rounds of a sync of missing records have one end for each endpoint, with the counts of all")
    func rounds() async throws {
        let server = try ScriptedServer { request in
            let id = request.target.split(separator: "/").last.flatMap { Int($0) } ?? 0
            let node = #"{"id":\#(id),"next":\#(id < 3 ? "\(id + 1)" : "null")}"#
            return .init(fields: ["X-Total-Count: 1"], body: request.target == "/nodes" ? "[\(node)]" : node)
        }
        let store = try MirrorStore(
            yaml: """
                api: { base: '\(server.base)' }
                entities:
                  Node: { key: id, attributes: { id: int }, relationships: { next: Node } }
                endpoints:
                  nodes: { path: /nodes, entity: Node }
                  node: { path: '/nodes/{node.id}', for_each: Node, entity: Node }
                """)
        _ = try await store.sync(nil, names: ["nodes"])
        let told = Told(),
            mirror = try APIMirror(store.description, store: try store.open(), transport: CurlTransport())
        let report = await mirror.syncMissing(progress: told.add)
        #expect(report.failures.isEmpty && report.endpoint("node")?.pages == 3, "\(report.failures)")
        let ends = told.of("node").filter { if case .end = $0.event { true } else { false } }
        #expect(ends.map(\.pages) == [3] && ends.map(\.created) == [3] && ends.map(\.listsDone) == [3])
        #expect(told.of("node").filter(Self.isPage).map(\.pages) == [1, 2, 3])
        // The total of the last list is none of all.
        #expect(told.of("node").filter(Self.isPage).dropFirst().allSatisfy { $0.expectedRecords == nil })
        #expect(told.of("node").allSatisfy { $0.listsDone <= $0.lists })
    }
}
