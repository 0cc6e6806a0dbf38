// Lists whose end is a refused page (`then: stop`), a null, or a total that may be a limit.

import Foundation
import Synchronization
import Tarn
import TestSupport
import Testing

@Suite("Mirror: refused pages, and other ends that may be none", .timeLimit(.minutes(5)))
struct MirrorRefusedEndTests {
    /// A list in pages of ten. The server refuses pages behind a limit, and those behind the last one.
    private final class RefusingList: Sendable {
        let count: Mutex<Int>, limit = Mutex(Int.max), failing = Mutex(0)
        /// The members and header fields of a page, from its number.
        private let members: @Sendable (Int) -> String, fields: @Sendable (Int) -> [String]

        init(
            _ count: Int, members: @escaping @Sendable (Int) -> String = { _ in "" },
            fields: @escaping @Sendable (Int) -> [String] = { _ in [] }
        ) {
            self.count = Mutex(count)
            (self.members, self.fields) = (members, fields)
        }

        func server() throws -> ScriptedServer {
            try ScriptedServer { [self] request in
                let text = QueryParameters.values(in: request.target).first { $0.name == "page" }?.value
                let page = text.flatMap { Int($0) } ?? 1, first = (page - 1) * 10 + 1, count = count.withLock { $0 }
                if failing.withLock({ $0 }) == page { return .init(status: "500 Internal Server Error") }
                guard first <= count, page <= limit.withLock({ $0 }) else {
                    return .init(status: "400 Bad Request", body: #"{"message":"page out of range"}"#)
                }
                let items = (first...min(first + 9, count)).map { #"{"id":\#($0),"name":"n"}"# }
                return .init(
                    fields: fields(page), body: #"{"items":[\#(items.joined(separator: ","))]\#(members(page))}"#)
            }
        }
    }

    private static func yaml(_ style: String = "param: page", _ more: String = "") -> String {
        itemsYAML(
            """
            records: items
                paginate: { page_number: { \(style) } }
                responses: [{ status: 400, then: stop }]
                orphans: after_one_scan\(more)
            """)
    }

    private static func link(_ relation: String, _ page: Int) -> String {
        "Link: <https://api.test.example/v1/items?page=\(page)>; rel=\"\(relation)\""
    }

    @Test(
        "a refused page is no end if a page before shows that there is more: an error names the sign and the ways out",
        arguments: [
            ("total: 50", #","total":50"#, ""), ("first: 50", #","total":50"#, ""), ("X-Total-Count: 50", "", ""),
            ("X-Total-Pages: 5", "", ""), ("next", "", ""), ("last", "", ""), ("has_more", #","has_more":true"#, ""),
            ("more", #","weiter":true"#, ", has_more: weiter"), ("pages", #","seiten":5"#, ", total_pages: seiten"),
        ])
    func depthLimit(sign: String, members: String, style: String) async throws {
        let list = RefusingList(50) {
            sign.hasPrefix("first") && $0 > 1 ? "" : members
        } fields: { page in
            switch sign {
            case "next": [Self.link("next", page + 1)]
            case "last": [Self.link("last", 5)]
            default: sign.hasPrefix("X-") ? [sign] : []
            }
        }
        list.limit.withLock { $0 = 3 }
        let server = try list.server(), store = try MirrorStore(yaml: Self.yaml("param: page" + style))
        for _ in 0..<2 {
            let before = server.requests.count
            let report = try await store.sync(server.base + "/v1")
            let text = try #require(report.texts.first, "\(sign)")
            #expect(report.failures.count == 1 && text.contains("behind 30 records"), "\(text)")
            #expect(text.contains("write restart") && text.contains("more: ignore"), "\(text)")
            #expect(text.contains("page out of range") && text.contains("items"), "\(text)")
            #expect(report.report.deleted == 0 && report.orphans == nil)
            // The next sync does not go on at the page that the server refuses.
            #expect(server.requests.count == before + 4)
        }
        #expect(try store.count("Item") == 30)
        let ignoring = try MirrorStore(yaml: Self.yaml("param: page" + style, "\n    more: ignore"))
        #expect(try await ignoring.sync(server.base + "/v1").failures.isEmpty)
    }

    @Test("a refused page behind a full one leaves the end in doubt: no record is an orphan, and the sync says why")
    func behindFullPage() async throws {
        let list = RefusingList(50), server = try list.server(), store = try MirrorStore(yaml: Self.yaml())
        #expect(try await store.sync(server.base + "/v1").failures.isEmpty)
        #expect(try store.count("Item") == 50)
        list.limit.withLock { $0 = 3 }
        for _ in 0..<2 {
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty && report.endpoints.first?.doubts == [.refusal(status: 400): 1])
            let refusal = try #require(report.orphans?.refusals.first)
            #expect(refusal.contains("(400)") && refusal.contains("more: ignore"), "\(refusal)")
            #expect(try store.count("Item") == 50)
        }
        var ignoring = store
        ignoring.description = try Description.parse(Self.yaml("param: page", "\n    more: ignore"), file: "tarn.yaml")
        ignoring.description.storePath = store.path
        let report = try await ignoring.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.endpoints.first?.doubts == [:], "\(report.texts)")
        #expect(try store.count("Item") == 30)
    }

    @Test(
        "a refused page behind a short one is the end of the list, also if the server gives less than is requested",
        arguments: ["param: page, end: empty", "param: page, end: empty, per_page: { per_page: 100 }"], [25, 7])
    func behindShortPage(style: String, count: Int) async throws {
        let list = RefusingList(50), server = try list.server(), store = try MirrorStore(yaml: Self.yaml(style))
        try await store.sync(server.base + "/v1")
        list.count.withLock { $0 = count }
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.endpoints.first?.doubts == [:], "\(report.texts)")
        #expect(try store.count("Item") == count && report.orphans?.deleted == 50 - count)
        list.count.withLock { $0 = 50 }
        list.limit.withLock { $0 = 3 }
        #expect(try await store.sync(server.base + "/v1").endpoints.first?.doubts == [.refusal(status: 400): 1])
    }

    @Test(
        "a cursor with end: empty is no sign of more: the number of records decides, or a flag",
        arguments: [
            (25, "", "", "end"), (30, "", "", "doubt"), (25, #","weiter":true"#, ", has_more: weiter", "error"),
            (25, #","total":50"#, "", "error"),
        ])
    func lastCursor(count: Int, members: String, style: String, outcome: String) async throws {
        let list = RefusingList(count) { #","next":"\#($0 + 1)""# + members }
        let server = try list.server(), cursor = "cursor: { path: next, param: page, end: empty\(style) }"
        let store = try MirrorStore(yaml: Self.yaml().replacing("page_number: { param: page }", with: cursor))
        for _ in 0..<2 {
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty == (outcome != "error"), "\(report.texts)")
            #expect(report.endpoints.first?.doubts == (outcome == "doubt" ? [.refusal(status: 400): 1] : [:]))
            #expect(try store.count("Item") == count)
        }
    }

    private func status(of store: MirrorStore) async throws -> EndpointStatus {
        let mirror = try APIMirror(store.description, store: try store.open(), transport: MirrorStore.impatient())
        return try #require(try await mirror.status().first)
    }

    @Test(
        "a page that a rule passes over behind one that does not look like the last leaves the end in doubt",
        arguments: [
            (50, 3, "", true), (50, 3, #","total":50"#, true), (25, 9, "", false), (25, 9, #","total":25"#, false),
        ])
    func passedOver(count: Int, limit: Int, members: String, isInDoubt: Bool) async throws {
        let list = RefusingList(count) { _ in members },
            yaml = Self.yaml().replacing("then: stop", with: "then: ignore")
        list.limit.withLock { $0 = limit }
        let server = try list.server(), store = try MirrorStore(yaml: yaml)
        for _ in 0..<2 {
            let report = try await store.sync(server.base + "/v1"), items = report.endpoints.first
            #expect(report.failures.isEmpty && items?.ignored == 1, "\(report.texts)")
            #expect(items?.doubts == (isInDoubt ? [.ignored(status: 400): 1] : [:]))
            #expect(try await status(of: store).doubtfulLists == (isInDoubt ? 1 : 0))
        }
        // The mark goes with the doubt.
        guard members.isEmpty else { return }
        list.count.withLock { $0 = 5 }
        #expect(try await store.sync(server.base + "/v1").endpoints.first?.doubts == [:])
        #expect(try await status(of: store).doubtfulLists == 0)
    }

    @Test("the page with which an interrupted scan goes on may be gone: the list begins anew")
    func interrupted() async throws {
        let list = RefusingList(40), server = try list.server(), store = try MirrorStore(yaml: Self.yaml())
        list.failing.withLock { $0 = 4 }
        #expect(try await store.sync(server.base + "/v1").failures.count == 1)
        list.failing.withLock { $0 = 0 }
        list.count.withLock { $0 = 25 }
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty && report.endpoints.first?.doubts == [:], "\(report.texts)")
        #expect(
            server.targets.suffix(4) == [
                "/v1/items?page=1", "/v1/items?page=2", "/v1/items?page=3", "/v1/items?page=4",
            ])
        #expect(try store.count("Item") == 25)
    }

    @Test("a list that ends at a total which the server declares a lower limit is in doubt", arguments: ["gte", "eq"])
    func lowerLimit(relation: String) async throws {
        let list = RefusingList(50) { _ in #","total":{"value":20,"relation":"\#(relation)"}"# }
        let server = try list.server(), style = "param: page, total: total.value"
        let store = try MirrorStore(yaml: Self.yaml(style))
        for _ in 0..<2 {
            let report = try await store.sync(server.base + "/v1")
            let doubts = report.endpoints.first?.doubts
            #expect(report.failures.isEmpty && report.listed == 20, "\(report.texts)")
            #expect(doubts == (relation == "gte" ? [.cappedTotal(name: "total.value", count: 20): 1] : [:]))
        }
    }

    @Test("a list that is null is an error that names the ways out, and they are ways out")
    func nullList() async throws {
        let server = try ScriptedServer { request in
            let isFirst = request.target.hasSuffix("page=1")
            return .init(body: isFirst ? #"{"items":[{"id":1,"name":"n"}]}"# : #"{"items":null}"#)
        }
        let style = "paginate: { page_number: { param: page } }"
        let store = try MirrorStore(yaml: itemsYAML("records: items\n    " + style))
        let text = try #require(try await store.sync(server.base + "/v1").texts.first)
        for way in ["optional: true", "then: empty"] { #expect(text.contains(way), "\(text)") }
        let rule = #"responses: [{ contains: '"items":null', then: empty }]"#
        #expect(text.contains(rule), "\(text)")
        let ways = [
            "records: { items: { entity: Item, optional: true } }\n    " + style,
            "records: items\n    \(style)\n    \(rule)",
        ]
        for (index, way) in ways.enumerated() {
            let yaml = itemsYAML(way)
            let other = try MirrorStore(yaml: index == 0 ? yaml.replacing("    entity: Item\n", with: "") : yaml)
            let report = try await other.sync(server.base + "/v1")
            #expect(try report.failures.isEmpty && other.items() == [1], "\(report.texts)")
        }
    }

    @Test(
        "a list that ends at a full page and a round total is in doubt: the total may be the most that is counted",
        arguments: [(1000, 1500, true), (1000, 1000, true), (1010, 1010, false)])
    func roundTotal(total: Int, count: Int, isInDoubt: Bool) async throws {
        let list = RefusingList(count) { _ in #","total":\#(total)"# }
        let server = try list.server(), store = try MirrorStore(yaml: Self.yaml("param: page, total: total"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(
            report.endpoints.first?.doubts == (isInDoubt ? [.cappedTotal(name: "total", count: total): 1] : [:]))
        #expect(try store.count("Item") == total)
        #expect((report.orphans?.refusals.first?.contains("more: { ignore: ['total'] }") ?? false) == isInDoubt)
        let ignoring = try MirrorStore(
            yaml: Self.yaml("param: page, total: total", "\n    more: { ignore: [total] }"))
        #expect(try await ignoring.sync(server.base + "/v1").endpoints.first?.doubts == [:])
    }

    @Test(
        "the value of since stays while a list may end at a limit of its server, unless the list is in its order",
        arguments: [[1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1], [2, 5, 3, 6, 1, 4]])
    func valueAtLimit(order: [Int]) async throws {
        let failing = Mutex(0), server = try Self.limited(order, failing)
        let store = try MirrorStore(yaml: Self.yaml("param: page", "\n    since: { param: since, field: id }"))
        for number in 1...4 {
            let items = try await store.sync(server.base + "/v1").endpoint("items")
            let since = try store.checkpoint("items")?.since
            if order != order.sorted() {
                #expect(items?.inDoubt == 1 && items?.inDoubtAgain == 0 && since == nil)
                #expect(try store.items() == order.prefix(4).sorted())
            } else {
                #expect(items?.inDoubt == (number == 1 ? 1 : 0) && items?.inDoubtAgain == (number == 2 ? 1 : 0))
                #expect(since == [nil, "4", "6", "6"][number - 1])
            }
        }
        if order == order.sorted() { #expect(try store.items() == order) }
    }

    /// A list with two pages of two records, of which the server refuses the third.
    private static func limited(
        _ order: [Int], _ failing: Mutex<Int>, pages: Int = 2
    ) throws -> ScriptedServer {
        try ScriptedServer { request in
            let values = QueryParameters.values(in: request.target)
            func number(_ name: String) -> Int? { values.first { $0.name == name }.flatMap { Int($0.value) } }
            let found = order.filter { $0 >= number("since") ?? 1 }, page = number("page") ?? 1
            let part = found.dropFirst(2 * (page - 1)).prefix(2)
            if failing.withLock({ $0 }) == page { return .init(status: "404 Not Found") }
            guard page <= pages, !part.isEmpty else { return .init(status: "400 Bad Request") }
            return .init(
                body: #"{"items":[\#(part.map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ","))]}"#)
        }
    }

    @Test("the pages before an interruption are not known to be in the order of since")
    func valueAtLimitAfterInterruption() async throws {
        // The page behind the interruption is in order to the largest value before it.
        let failing = Mutex(0), server = try Self.limited([5, 6, 1, 2, 7, 8, 3, 4], failing, pages: 3)
        let store = try MirrorStore(yaml: Self.yaml("param: page", "\n    since: { param: since, field: id }"))
        for page in [0, 3, 0, 0] {
            failing.withLock { $0 = page }
            let report = try await store.sync(server.base + "/v1")
            #expect(report.failures.isEmpty == (page == 0))
            #expect(try store.checkpoint("items")?.since == nil)
        }
    }

    @Test(
        "a record stays that may have moved behind a limit of the server in another list, however often that ends there",
        arguments: [false, true])
    func movedBehindLimit(isOneEndpoint: Bool) async throws {
        let rule = "paginate: { page_number: { param: page } }, responses: [{ status: 400, then: stop }]"
        let several = "items: { path: '/{list}', entity: Item, partitions: { list: [short, long] }, "
        let endpoints =
            isOneEndpoint
            ? "  \(several)orphans: after_two_scans, \(rule) }"
            : "  short: { path: /short, entity: Item, orphans: after_two_scans, \(rule) }\n"
                + "  long: { path: /long, entity: Item, \(rule) }"
        let store = try MirrorStore(
            yaml: """
                api: { base: https://api.test.example }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                \(endpoints)
                """)
        let lists = Mutex([[[7, 8]], [[10, 11], [12, 13]]])
        let server = try ScriptedServer { request in
            let page = QueryParameters.values(in: request.target).first { $0.name == "page" }?.value
            let pages = lists.withLock { $0[request.target.contains("short") ? 0 : 1] }, index = Int(page ?? "1") ?? 1
            guard index <= pages.count else { return .init(status: "400 Bad Request") }
            return .init(body: "[" + pages[index - 1].map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]")
        }
        _ = try await store.sync(server.base)
        lists.withLock { $0[0] = [[8]] }
        for _ in 0..<4 {
            let report = try await store.sync(server.base)
            #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        }
        #expect(try store.items() == [7, 8, 10, 11, 12, 13])
        // The list ends where its server has no limit: nothing has moved there.
        lists.withLock { $0[1] = [[10, 11], [12]] }
        for _ in 0..<3 { _ = try await store.sync(server.base) }
        #expect(try !store.items().contains(7))
    }

    @Test("a record stays that may have moved behind a limit of the server in a list that is new")
    func movedBehindLimitOfNewList() async throws {
        let short = "  short: { path: /short, entity: Item, orphans: after_two_scans }\n"
        let long =
            "  long: { path: /long, entity: Item, paginate: { page_number: { param: page } }, "
            + "responses: [{ status: 400, then: stop }] }\n"
        func description(_ endpoints: String) throws -> Description {
            try Description.parse(
                "api: { base: https://api.test.example }\nentities: { Item: { key: id, attributes: { id: int } } }\n"
                    + "endpoints:\n" + endpoints, file: "tarn.yaml")
        }
        var store = try MirrorStore(description(short))
        let path = store.path, isMoved = Mutex(false)
        let server = try ScriptedServer { request in
            guard request.target.contains("long") else {
                return .init(body: isMoved.withLock { $0 } ? #"[{"id":8}]"# : #"[{"id":7},{"id":8}]"#)
            }
            let page = QueryParameters.values(in: request.target).first { $0.name == "page" }?.value ?? "1"
            guard page < "3" else { return .init(status: "400 Bad Request") }
            return .init(body: #"[{"id":\#(page)1},{"id":\#(page)2}]"#)
        }
        _ = try await store.sync(server.base)
        isMoved.withLock { $0 = true }
        store.description = try description(short + long)
        store.description.storePath = path
        for _ in 0..<4 {
            let report = try await store.sync(server.base)
            #expect(report.failures.isEmpty && report.report.deleted == 0, "\(report.texts)")
        }
        #expect(try store.items() == [7, 8, 11, 12, 21, 22])
    }
}
