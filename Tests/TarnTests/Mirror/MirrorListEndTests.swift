// Lists that end at an ignored page, and lists that begin again because the server no longer
// accepts the position of an interrupted scan.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: ends and beginnings of lists", .timeLimit(.minutes(5)))
struct MirrorListEndTests {
    private static func response(_ body: String, status: Int = 200) -> TransportResponse {
        TransportResponse(status: status, body: Array(body.utf8))
    }

    @Test("a list that ends at an ignored page is complete, and the next sync begins with its first page")
    func ignoredPage() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                """
                paginate: { page_number: { param: page, per_page: { size: 2 } } }
                    responses: [{ status: 404, then: ignore }]
                """))
        let name = Mutex("")
        let transport = ClosureTransport { request in
            if request.url.contains("page=3") { return Self.response("{}", status: 404) }
            let text = name.withLock { $0 }, ids = request.url.contains("page=2") ? [3, 4] : [1, 2]
            return Self.response("[" + ids.map { #"{"id":\#($0),"name":"\#(text)"}"# }.joined(separator: ",") + "]")
        }
        for text in ["a", "b"] {
            name.withLock { $0 = text }
            let report = try await store.sync(nil, transport: transport)
            #expect(report.failures.isEmpty && report.pages == 2, "\(report.texts)")
            #expect(report.endpoint("items").map { $0.ignored == 1 && !$0.isResumed } == true)
            let checkpoint = try #require(try store.checkpoint("items"))
            #expect(checkpoint.state == .complete && checkpoint.completedAt != nil && checkpoint.nextURL == nil)
            let records = try store.dump()
            #expect(records.count == 4 && records.allSatisfy { $0.contains(#""name":"\#(text)""#) }, "\(records)")
        }
    }

    @Test("a list that is ignored at its first page counts as scanned: its endpoint is complete")
    func ignoredList() async throws {
        let store = try MirrorStore(
            yaml: """
                api: { base: 'https://api.test.example', responses: [{ status: 404, then: ignore }] }
                entities:
                  Box: { key: id, attributes: { id: int } }
                  Item: { key: id, attributes: { id: int } }
                endpoints:
                  boxes: { path: /boxes, entity: Box, paginate: single_page, every: 1d }
                  items: { path: '/boxes/{box.id}/items', for_each: Box, entity: Item, paginate: single_page, every: 1d }
                """)
        let transport = ClosureTransport { request in
            if request.url.hasSuffix("/boxes/2/items") { return Self.response("{}", status: 404) }
            return Self.response(request.url.hasSuffix("/boxes") ? #"[{"id":1},{"id":2}]"# : #"[{"id":9}]"#)
        }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.endpoint("items")?.ignored == 1, "\(report.texts)")
        let mirror = try APIMirror(store.description, store: store.open(), transport: transport)
        let status = try #require(try await mirror.status(of: ["items"]).first)
        #expect(status.lists == 2 && status.completeLists == 2 && status.unfinished == nil)
        #expect(status.completedAt != nil && status.nextRun.map { $0 > Timestamp(Date()) } == true)
    }

    @Test("a position that the server no longer accepts is given up: the same sync begins with the first page")
    func refusedPosition() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("records: items\n    paginate: { cursor: { path: next, param: cursor } }"))
        let state = Mutex((generation: 1, isCut: true)), asked = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let (generation, isCut) = state.withLock { ($0.generation, $0.isCut) }
            let cursor = request.url.components(separatedBy: "cursor=").dropFirst().first ?? ""
            asked.withLock { $0.append(cursor) }
            let parts = cursor.split(separator: "-").compactMap { Int($0) }, page = parts.last ?? 1
            if let first = parts.first, first != generation {
                return Self.response(#"{"message":"cursor expired"}"#, status: 400)
            }
            if page == 3, isCut {
                throw TransportError(.connect, method: request.method, url: request.url, detail: "refused")
            }
            let next = page < 4 ? "\"\(generation)-\(page + 1)\"" : "null"
            return Self.response(#"{"items":[{"id":\#(page),"name":"g\#(generation)"}],"next":\#(next)}"#)
        }
        let first = try await store.sync(nil, transport: transport)
        #expect(first.failures.count == 1 && first.pages == 2, "\(first.texts)")
        state.withLock { $0 = (generation: 2, isCut: false) }
        asked.withLock { $0 = [] }
        let second = try await store.sync(nil, transport: transport)
        #expect(second.failures.isEmpty && second.endpoint("items")?.isResumed == false, "\(second.texts)")
        #expect(asked.withLock { $0 } == ["1-3", "", "2-2", "2-3", "2-4"])
        let records = try store.dump()
        #expect(records.count == 4 && records.allSatisfy { $0.contains(#""name":"g2""#) }, "\(records)")
        #expect(try store.checkpoint("items").map { $0.state == .complete && $0.pages == 4 } == true)
    }

    @Test("refused credentials and limits leave the position as it is", arguments: [401, 429])
    func keptPosition(status: Int) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: { page_number: { param: page, per_page: { size: 1 } } }"))
        let refusal = Mutex<Int?>(503), asked = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let page = request.url.contains("page=3") ? 3 : request.url.contains("page=2") ? 2 : 1
            asked.withLock { $0.append("\(page)") }
            if page == 2, let status = refusal.withLock({ $0 }) { return Self.response("{}", status: status) }
            return Self.response(page == 3 ? "[]" : #"[{"id":\#(page),"name":"n"}]"#)
        }
        _ = try await store.sync(nil, transport: transport)
        refusal.withLock { $0 = status }
        asked.withLock { $0 = [] }
        #expect(try await store.sync(nil, transport: transport).failures.count == 1)
        #expect(asked.withLock { $0 } == ["2"])
        #expect(try store.checkpoint("items").map { $0.state == .underWay && $0.pages == 1 } == true)
    }

    @Test(
        "a position that a list has reached its end at too early is given up, whatever the commit unit is",
        arguments: ["page", "walk"])
    func givenUpPosition(unit: String) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML(
                "records: data\n    paginate: { cursor: { path: cur, param: cursor } }\n    commit: \(unit)"))
        let generation = Mutex("a"), asked = Mutex<[String]>([])
        let transport = ClosureTransport { request in
            let cursor = request.url.components(separatedBy: "cursor=").dropFirst().first ?? ""
            asked.withLock { $0.append(cursor) }
            let current = generation.withLock { $0 }
            // A cursor that has expired leads to an empty page.
            if !cursor.isEmpty, !cursor.hasPrefix(current) { return Self.response(#"{"data":[],"total":3}"#) }
            let page = cursor.last.flatMap { Int(String($0)) } ?? 1
            let next = page < 3 ? #","cur":"\#(current)\#(page + 1)""# : ""
            return Self.response(#"{"data":[{"id":\#(page),"name":"n"}],"total":3\#(next)}"#)
        }
        _ = try await store.sync(nil, transport: transport) { $0.mirror.limit = 1 }
        generation.withLock { $0 = "b" }
        asked.withLock { $0 = [] }
        #expect(try await store.sync(nil, transport: transport).failures.count == 1)
        #expect(try store.checkpoint("items").map { $0.nextURL == nil } == true)
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(asked.withLock { $0 } == ["a2", "", "b2", "b3"])
    }

    @Test(
        "an error at the page with which a list goes on names what helps, and after a week the list begins anew"
    )
    func failingPosition() async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: { page_number: { param: page, per_page: { size: 1 } } }"))
        let asked = Mutex<[Int]>([])
        let transport = ClosureTransport { request in
            let page = request.url.contains("page=2") ? 2 : 1
            asked.withLock { $0.append(page) }
            return page == 2 ? Self.response("{}", status: 500) : Self.response(#"[{"id":1,"name":"n"}]"#)
        }
        let hint = "tarn sync --restart begins the list anew"
        let first = try await store.sync(nil, transport: transport)
        #expect(first.texts.count == 1 && first.texts.first?.contains(hint) == false)
        for (days, pages) in [(0.0, [2]), (6.0, [2]), (8.0, [1, 2])] {
            asked.withLock { $0 = [] }
            let report = try await store.sync(nil, transport: transport) {
                $0.time.now = { Date().addingTimeInterval(days * 86_400) }
            }
            #expect(report.texts.first?.contains(hint) == (pages == [2]), "\(report.texts)")
            #expect(asked.withLock { $0 } == pages)
        }
    }
}
