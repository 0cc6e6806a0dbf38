// Lists that begin with the latest record and have no filter: a scan of changes ends early.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: lists that begin with the latest record", .timeLimit(.minutes(5)))
struct MirrorLatestFirstTests {
    /// A list in descending order, two on a page.
    private final class Latest: Sendable {
        let state = Mutex((items: [(id: Int, day: Int)](), failing: 0, log: [Int]()))
        let hasLinks: Bool

        init(hasLinks: Bool) {
            self.hasLinks = hasLinks
            set((1...5).map { ($0, $0) })
        }

        func set(_ items: [(Int, Int)]) { state.withLock { $0.items = items.map { (id: $0.0, day: $0.1) } } }

        var yaml: String {
            let pages = hasLinks ? "header_link" : "{ page_number: { param: page, per_page: { size: 2 } } }"
            return """
                api: { base: https://api.test.example }
                entities:
                  Item: { key: id, attributes: { id: int, at: int } }
                endpoints:
                  items:
                    path: /items
                    entity: Item
                    paginate: \(pages)
                    since: { field: at, latest_first: true }
                    orphans: after_one_scan
                """
        }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let values = URLComponents(string: request.url)?.queryItems ?? []
                let page = values.first { $0.name == "page" }?.value.flatMap { Int($0) } ?? 1
                let (items, fails) = state.withLock { state in
                    state.log.append(page)
                    return (state.items, state.failing == page)
                }
                if fails { return TransportResponse(status: 404) }
                if request.url.contains("/others") {
                    let others = items.count == 3 ? #"{"id":1},{"id":2}"# : #"{"id":2}"#
                    return TransportResponse(status: 200, body: Array("[\(others)]".utf8))
                }
                let part = items.sorted { $0.day > $1.day }.dropFirst(2 * (page - 1)).prefix(2)
                var headers = TransportHeaders()
                if hasLinks, items.count > 2 * page { headers["Link"] = "</items?page=\(page + 1)>; rel=next" }
                let body = part.map { #"{"id":\#($0.id),"at":\#($0.day)}"# }.joined(separator: ",")
                return TransportResponse(status: 200, headers: headers, body: Array("[\(body)]".utf8))
            }
        }

        var log: [Int] {
            state.withLock { state in
                defer { state.log = [] }
                return state.log
            }
        }
    }

    private func sync(_ store: MirrorStore, _ latest: Latest, isFull: Bool = false) async throws -> [Int] {
        let report = try await store.sync(nil, transport: latest.transport) { $0.isFull = isFull }
        #expect(report.failures.isEmpty, "\(report.texts)")
        return latest.log
    }

    @Test("a scan ends at the first page with nothing later than the last one has seen", arguments: [true, false])
    func early(hasLinks: Bool) async throws {
        let latest = Latest(hasLinks: hasLinks), store = try MirrorStore(yaml: latest.yaml)
        #expect(try await sync(store, latest) == [1, 2, 3])
        #expect(try await sync(store, latest) == [1])
        // 1 has changed, 2 is gone, and 6 is new: 6, 1, 5, 4, 3.
        latest.set([(1, 6), (3, 3), (4, 4), (5, 5), (6, 7)])
        #expect(try await sync(store, latest) == [1, 2])
        #expect(try store.items() == [1, 2, 3, 4, 5, 6], "a scan that ends early finds no orphans")
        #expect(try await sync(store, latest, isFull: true) == [1, 2, 3])
        #expect(try store.items() == [1, 3, 4, 5, 6])
    }

    @Test("records with the value may go on on the next page")
    func equalValues() async throws {
        let latest = Latest(hasLinks: true), store = try MirrorStore(yaml: latest.yaml)
        latest.set([(1, 1), (2, 5), (3, 5)])
        #expect(try await sync(store, latest) == [1, 2])
        latest.set([(1, 1), (2, 5), (3, 5), (4, 5)])
        #expect(try await sync(store, latest) == [1, 2])
        #expect(try store.items() == [1, 2, 3, 4])
    }

    @Test("a record that has moved to a page that is not read stays, though another list misses it")
    func otherList() async throws {
        let latest = Latest(hasLinks: true)
        let others = "  others: { path: /others, entity: Item, paginate: single_page, orphans: after_one_scan }"
        let store = try MirrorStore(yaml: "\(latest.yaml)\n\(others)")
        latest.set((1...3).map { ($0, $0) })
        _ = try await sync(store, latest)
        // The pages: 5 and 4, 3 and 2, which are read, and 1, which was on the second one before.
        latest.set((1...5).map { ($0, $0) })
        _ = try await sync(store, latest)
        #expect(try store.items() == [1, 2, 3, 4, 5])
    }

    @Test("after an interruption between pages, the next sync does not stop above the gap", arguments: [true, false])
    func gap(hasLinks: Bool) async throws {
        let latest = Latest(hasLinks: hasLinks), store = try MirrorStore(yaml: latest.yaml)
        _ = try await sync(store, latest)
        latest.set((1...9).map { ($0, $0) })
        latest.state.withLock { $0.failing = 2 }
        #expect(try await store.sync(nil, transport: latest.transport).failures.count == 1)
        #expect(try store.items() == [1, 2, 3, 4, 5, 8, 9] && latest.log == [1, 2])
        #expect(try store.checkpoint("items")?.since == "5")
        latest.state.withLock { $0.failing = 0 }
        // Counted pages may have moved meanwhile: the first one is requested again.
        #expect(try await sync(store, latest) == (hasLinks ? [2, 3] : [1, 2, 3]))
        #expect(try store.items() == Array(1...9))
        #expect(try store.checkpoint("items")?.since == "9")
    }
}
