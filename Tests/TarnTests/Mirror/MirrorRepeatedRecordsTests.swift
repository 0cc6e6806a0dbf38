// Records that come twice in a list with a total: the scan ends only when nothing is missing.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: records that come twice", .timeLimit(.minutes(5)))
struct MirrorRepeatedRecordsTests {
    /// The answer to pages behind the last one.
    enum Behind: Sendable { case empty, refused }

    /// A server of a list in pages of three.
    private final class Pages: Sendable {
        private let state: Mutex<(rows: [[Int]], log: [String])>
        private let total: Int
        private let behind: Behind

        init(_ rows: [[Int]], total: Int, behind: Behind = .empty) {
            state = Mutex((rows, []))
            (self.total, self.behind) = (total, behind)
        }

        var log: [String] { state.withLock { $0.log } }

        var transport: ClosureTransport {
            ClosureTransport { [self] request in
                let values = URLComponents(string: request.url)?.queryItems ?? []
                func number(_ name: String) -> Int? {
                    values.first { $0.name == name }?.value.flatMap { Int($0) }
                }
                let index = number("o").map { $0 / 3 } ?? (number("page") ?? 1) - 1
                let rows = state.withLock { state in
                    state.log.append(request.url.split(separator: "?").last.map(String.init) ?? "")
                    return state.rows
                }
                let page = rows.indices.contains(index) ? rows[index] : []
                if !rows.indices.contains(index), behind == .refused { return TransportResponse(status: 404) }
                let items = page.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
                let users = #"[{"id":91},{"id":92},{"id":93},{"id":94}]"#
                return TransportResponse(
                    status: 200, body: Array(#"{"items":[\#(items)],"users":\#(users),"total":\#(total)}"#.utf8))
            }
        }
    }

    private static let numbered = "{ page_number: { param: page, total: total } }"
    private static let counted = "{ offset: { param: o, total: total } }"

    private static func store(_ paginate: String) throws -> MirrorStore {
        try MirrorStore(yaml: itemsYAML("paginate: \(paginate)\n    records: items"))
    }

    @Test(
        "a record that moves to the next page does not stand for the one behind the total",
        arguments: [numbered, counted])
    func moved(paginate: String) async throws {
        let store = try Self.store(paginate), pages = Pages([[0, 1, 2], [2, 3, 4], [5]], total: 6)
        for round in 1...2 {
            let report = try await store.sync(nil, transport: pages.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.count("Item") == 6 && pages.log.count == 3 * round)
        }
    }

    @Test("a list without such records costs no further request", arguments: [numbered, counted])
    func honest(paginate: String) async throws {
        let store = try Self.store(paginate), pages = Pages([[0, 1, 2], [3, 4, 5]], total: 6, behind: .refused)
        let report = try await store.sync(nil, transport: pages.transport)
        #expect(report.failures.isEmpty && pages.log.count == 2, "\(report.texts)")
    }

    @Test(
        "a list that has a record twice ends behind its total, with an empty page or a refusal",
        arguments: [Behind.empty, .refused])
    func twice(behind: Behind) async throws {
        let store = try Self.store(Self.numbered)
        let pages = Pages([[0, 1, 2], [2, 3, 4]], total: 6, behind: behind)
        for _ in 1...2 {
            let report = try await store.sync(nil, transport: pages.transport)
            #expect(report.failures.isEmpty && report.listed >= 6, "\(report.texts)")
            #expect(try store.count("Item") == 5)
            // Something is missing, or was listed twice: the report says so.
            #expect(
                report.endpoints.first?.doubts == [.repeatedRecords(name: "total", total: 6, different: 5): 1])
        }
        #expect(pages.log == ["page=1", "page=2", "page=3", "page=1", "page=2", "page=3"])
    }

    @Test(
        "a record that has moved to a page before is found by the next scan of changes, if the total has fallen",
        arguments: [numbered, counted])
    func movedForward(paginate: String) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: \(paginate)\n    records: items\n    since: { param: since, field: id }"))
        let state = Mutex((items: Array(0...6), log: [String]()))
        let transport = ClosureTransport { request in
            let values = QueryParameters.values(in: request.url)
            func number(_ name: String) -> Int? { values.first { $0.name == name }.flatMap { Int($0.value) } }
            let index = number("o").map { $0 / 3 } ?? (number("page") ?? 1) - 1
            let found = state.withLock { state in
                state.log.append("\(number("since") ?? 0) \(index)")
                defer { if state.log.count == 1 { state.items.removeFirst() } }
                return state.items.filter { $0 >= number("since") ?? 0 }
            }
            let items = found.dropFirst(index * 3).prefix(3).map { #"{"id":\#($0),"name":"n"}"# }
            let body = #"{"items":[\#(items.joined(separator: ","))],"total":\#(found.count)}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        var report = try await store.sync(nil, transport: transport)
        #expect(report.endpoints.first?.doubts == [.smallerTotal(name: "total", before: 7, total: 6): 1])
        #expect(try report.failures.isEmpty && store.items() == [0, 1, 2, 4, 5, 6], "\(report.texts)")
        report = try await store.sync(nil, transport: transport)
        #expect(try report.endpoints.first?.doubts == [:] && store.items() == Array(0...6))
        #expect(state.withLock { $0.log } == ["0 0", "0 1", "0 0", "0 1"])
        report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && state.withLock { $0.log.last } == "6 0")
    }

    @Test(
        "without a total, many records that come again are told, and few are not, nor a tenth of all",
        arguments: [(40, 25), (40, 31), (120, 110)])
    func replaced(listed: Int, different: Int) async throws {
        let store = try Self.store("single_page")
        let pages = Pages([Array(0..<different) + Array(0..<listed - different)], total: listed)
        let report = try await store.sync(nil, transport: pages.transport)
        #expect(report.failures.isEmpty && report.listed == listed, "\(report.texts)")
        #expect(try store.count("Item") == different)
        let endpoint = try #require(report.endpoints.first)
        #expect(endpoint.repeated.map { [$0.listed, $0.different] } == (different == 25 ? [40, 25] : nil))
        #expect(endpoint.doubts == [:])
    }

    @Test("the records of a repeated last page that ends the list are none that replace each other")
    func repeatedLastPage() async throws {
        let store = try Self.store("{ page_number: { param: page, end: repeated } }")
        let transport = ClosureTransport { request in
            let page = min(
                Int(QueryParameters.values(in: request.url).first { $0.name == "page" }?.value ?? "") ?? 1, 2)
            let items = (12 * (page - 1)..<12 * page).map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            return TransportResponse(status: 200, body: Array(#"{"items":[\#(items)]}"#.utf8))
        }
        for _ in 0..<2 {
            let report = try await store.sync(nil, transport: transport)
            let endpoint = try #require(report.endpoints.first)
            #expect(report.failures.isEmpty && endpoint.pages == 3 && endpoint.repeated == nil, "\(report.texts)")
            #expect(try store.count("Item") == 24)
        }
    }

    @Test(
        "a record that several elements of a list contain is told only if it has different values there",
        arguments: [false, true])
    func contained(areDifferent: Bool) async throws {
        let store = try MirrorStore(
            yaml: itemsYAML("paginate: \(Self.numbered)\n    records: 'members.*.item'"))
        let transport = ClosureTransport { request in
            let members = (0..<40).map { number in
                let name = areDifferent ? "n\(number)" : "n\(number % 10)"
                return #"{"item":{"id":\#(number % 10),"name":"\#(name)"}}"#
            }
            let isBehind = request.url.hasSuffix("page=2")
            let body = #"{"members":[\#(isBehind ? "" : members.joined(separator: ","))],"total":40}"#
            return TransportResponse(status: 200, body: Array(body.utf8))
        }
        let report = try await store.sync(nil, transport: transport)
        let endpoint = try #require(report.endpoints.first)
        #expect(report.failures.isEmpty && endpoint.doubts == [:] && endpoint.pages == 1, "\(report.texts)")
        #expect(endpoint.repeated.map { [$0.listed, $0.different] } == (areDifferent ? [40, 10] : nil))
        #expect(try store.count("Item") == 10)
    }

    @Test("records of a list with a wildcard are no contained ones: those that come again are told")
    func elementsOfWildcard() async throws {
        let store = try MirrorStore(yaml: itemsYAML("paginate: single_page\n    records: 'items.*'"))
        let pages = Pages([Array(0..<25) + Array(0..<15)], total: 40)
        let report = try await store.sync(nil, transport: pages.transport)
        #expect(report.failures.isEmpty && report.listed == 40, "\(report.texts)")
        #expect(report.endpoints.first?.repeated.map { [$0.listed, $0.different] } == [40, 25])
    }

    @Test("in an envelope, equal records that several elements contain are not told")
    func containedInEnvelope() async throws {
        let yaml = """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int, name: string } }
              User: { key: id, attributes: { id: int } }
            endpoints:
              items: { path: /items, records: { 'members.*.item': Item, users: User }, paginate: single_page }
            """
        let members = (0..<40).map { #"{"item":{"id":\#($0 % 10),"name":"n"}}"# }.joined(separator: ",")
        let body = #"{"members":[\#(members)],"users":[{"id":91}]}"#
        let store = try MirrorStore(yaml: yaml)
        let transport = ClosureTransport { _ in TransportResponse(status: 200, body: Array(body.utf8)) }
        let report = try await store.sync(nil, transport: transport)
        #expect(report.failures.isEmpty && report.listed == 41, "\(report.texts)")
        #expect(report.endpoints.first?.repeated == nil)
        #expect(try store.count("Item") == 10 && store.count("User") == 1)
    }

    @Test("of several lists with records that come again, the one with the most of them is told")
    func replacedInLists() async throws {
        let yaml = itemsYAML("partitions: { list: [a, b, c] }\n    paginate: single_page")
        let store = try MirrorStore(yaml: yaml.replacing("path: /items", with: "path: '/{list}'"))
        let transport = ClosureTransport { request in
            let different = ["a": 30, "b": 25, "c": 28][request.url.suffix(1)] ?? 0
            let ids = Array(0..<different) + Array(0..<40 - different)
            let items = ids.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
            return TransportResponse(status: 200, body: Array("[\(items)]".utf8))
        }
        let report = try await store.sync(nil, transport: transport) { $0.concurrency = 1 }
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(report.endpoints.first?.repeated.map { [$0.listed, $0.different] } == [40, 25])
    }

    @Test("a page that lists the records of the one before is an error, also behind a total that is not reached")
    func same() async throws {
        let store = try Self.store(Self.numbered)
        let pages = Pages([[0, 0, 0], [0, 0, 0], [0, 1, 2]], total: 3)
        let report = try await store.sync(nil, transport: pages.transport)
        #expect(report.texts.first?.contains("lists the same records as the one before") == true)
        let later = Pages([[0, 0, 1], [1, 0, 1], [0, 1, 2]], total: 3)
        let other = try Self.store(Self.counted)
        #expect(try await other.sync(nil, transport: later.transport).failures.isEmpty)
        #expect(try other.count("Item") == 3)
    }

    @Test("an interrupted scan knows the records of the pages before the interruption")
    func resumed() async throws {
        let store = try Self.store(Self.numbered), pages = Pages([[0, 1, 2], [2, 3, 4], [5]], total: 6)
        let inner = pages.transport
        for last in 1...2 {
            let failing = ClosureTransport { request in
                request.url.hasSuffix("page=\(last + 1)")
                    ? TransportResponse(status: 500) : try await inner.send(request)
            }
            #expect(try await store.sync(nil, transport: failing).failures.count == 1)
        }
        let report = try await store.sync(nil, transport: inner)
        #expect(report.failures.isEmpty && report.endpoint("items")?.isResumed == true, "\(report.texts)")
        #expect(try store.count("Item") == 6)
        #expect(pages.log == ["page=1", "page=2", "page=3"])
    }

    @Test("a scan that is interrupted before the page behind its total ends when the server has none")
    func resumedBehind() async throws {
        let store = try Self.store(Self.numbered)
        let pages = Pages([[0, 1, 2], [2, 3, 4]], total: 6, behind: .refused), inner = pages.transport
        let failing = ClosureTransport { request in
            request.url.hasSuffix("page=3") ? TransportResponse(status: 500) : try await inner.send(request)
        }
        #expect(try await store.sync(nil, transport: failing).failures.count == 1)
        let report = try await store.sync(nil, transport: inner)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.checkpoint("items")?.state == .complete && pages.log.last == "page=3")
    }

    @Test("records of other lists of an envelope do not make up the total")
    func envelope() async throws {
        let yaml = """
            api: { base: https://api.test.example/v1 }
            entities:
              Item: { key: id, attributes: { id: int, name: string? } }
              User: { key: id, attributes: { id: int } }
            endpoints:
              items: { path: /items, records: { items: Item, users: User }, paginate: \(Self.numbered) }
            """
        let store = try MirrorStore(yaml: yaml), pages = Pages([[0, 1, 2], [3, 4, 5], [6]], total: 7)
        let report = try await store.sync(nil, transport: pages.transport)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 7 && store.count("User") == 4)
        #expect(pages.log == ["page=1", "page=2", "page=3"])
    }
}
