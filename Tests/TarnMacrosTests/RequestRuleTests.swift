// Rules for the responses to typed requests, and paths that lead elsewhere.

import Logging
import TarnMacros
import TestSupport
import Testing

@Suite("Rules of typed requests", .timeLimit(.minutes(2)))
struct RequestRuleTests {
    private struct API {
        let folder: TemporaryFolder
        let client: RecordClient
        let server: AnsweringTransport

        /// Two pages; the third is missing.
        ///
        /// - Parameters:
        ///   - isShort: whether the second page has only one record.
        ///   - total: the declared total; nil for none.
        init(isShort: Bool = false, total: Int? = nil) throws {
            folder = try TemporaryFolder()
            server = AnsweringTransport { request in
                guard let number = request.target.last?.wholeNumberValue, number < 3 else { return .init(status: 404) }
                let second = isShort && number == 2 ? "" : #",{"id":\#(number)2}"#
                let count = total.map { #""total":\#($0),"# } ?? ""
                return .init(body: #"{\#(count)"items":[{"id":\#(number)1}\#(second)]}"#)
            }
            client = try RecordClient(
                base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server
            ) { $0.api.retry.attempts = 1 }
        }

        func stored() throws -> [Int64] { try client.store.read { try $0.fetch(Entry.all).map(\.id) } }
    }

    private static func list(_ action: ResponseRule.Action) -> RecordRequest<Entry> {
        .get("/entries", records: "items", pagination: .pageNumber(.query("page")))
            .responses(ResponseRule(statuses: [404...404], action: action))
    }

    @Test("a list ends before a response that a rule takes as its end or passes over", arguments: [false, true])
    func endings(isPassedOver: Bool) async throws {
        let request = Self.list(isPassedOver ? .ignore : .stop), ids: [Int64] = [11, 12, 21, 22]
        let api = try API()
        #expect(try await api.client.all(request).map(\.id) == ids)
        #expect(try await api.client.all(request).map(\.id) == ids && api.stored() == ids)
        // Also in a group that is one change.
        let group = try API()
        let missing = RecordRequest<Entry>.get("/missing").responses(
            ResponseRule(statuses: [404...404], action: isPassedOver ? .ignore : .stop))
        #expect(try await group.client.batch([request, missing], atomic: true).map { $0.map(\.id) } == [ids, []])
        #expect(try group.stored() == ids)
    }

    @Test("a handed-over response that a rule ignores, or takes for the end, is not the stored answer of its request")
    func handedOver() async throws {
        let fresh = TransportHeaders([.init("Cache-Control", "max-age=600")]), busy = Array(#"{"busy":true}"#.utf8)
        for action in [ResponseRule.Action.ignore, .stop] {
            let api = try API()
            let request = RecordRequest<Entry>.get("/entries", records: "items", pagination: .singlePage)
                .responses(ResponseRule(text: "busy", action: action))
            let page = try await api.client.accept(
                request, headers: fresh, body: Array(#"{"items":[{"id":5}]}"#.utf8))
            #expect(page.records.map(\.id) == [5])
            let empty = try await api.client.accept(request, headers: fresh, body: busy)
            #expect(empty.records.isEmpty && empty.next == nil && empty.report == nil)
            guard action == .ignore else { continue }
            #expect(try await api.client.all(request).map(\.id) == [5])
            #expect(api.server.requests.isEmpty)
        }
    }

    /// Loads a list and removes orphans: also in a group that is one change, and by POST.
    enum Loading: CaseIterable, Sendable {
        case all, batch, post

        func load(_ action: ResponseRule.Action, _ client: RecordClient) async throws {
            let rules = Orphans(.entity, scans: 1), request = RequestRuleTests.list(action).removingOrphans(rules)
            switch self {
            case .all: _ = try await client.all(request)
            case .batch: _ = try await client.batch([request], atomic: true)
            case .post:
                let post = RecordRequest<Entry>.post(
                    "/entries", body: .json(.object([])), records: "items", pagination: .pageNumber(.query("page")))
                _ = try await client.all(
                    post.responses(ResponseRule(statuses: [404...404], action: action)).removingOrphans(rules))
            }
        }
    }

    @Test(
        "a list that ends at a response that is passed over, or behind a full page, is not complete: no orphan is removed",
        arguments: Loading.allCases)
    func orphans(loading: Loading) async throws {
        for (action, isShort) in [(ResponseRule.Action.ignore, true), (.stop, false), (.stop, true)] {
            let api = try API(isShort: isShort)
            try await api.client.store.write { try $0.put(Entry(id: 99)) }
            try await loading.load(action, api.client)
            let isRemoved = try !api.stored().contains(99)
            #expect(isRemoved == (action == .stop && isShort), "\(action), a short last page: \(isShort)")
        }
    }

    @Test(
        "a refused page is no end of a list whose pages before have a total of more records",
        arguments: Loading.allCases)
    func refusedTotal(loading: Loading) async throws {
        let api = try API(isShort: true, total: 5)
        try await api.client.store.write { try $0.put(Entry(id: 99)) }
        await #expect(throws: (any Error).self) {
            try await loading.load(.stop, api.client)
        }
        #expect(try api.stored().contains(99))
    }

    @Test(
        "through a bridge, too, a refused page is no end of a list whose pages before have a total of more records",
        arguments: [4, 9])
    func refusedTotalOfBridge(total: Int) async throws {
        let api = try API(total: total), bridge = RESTBridge<Entry>(api.client)
        guard total > 4 else {
            let result = try await api.client.fetch(Self.list(.stop), through: bridge)
            return #expect(try api.client.records(Entry.self, of: result).map(\.id) == [11, 12, 21, 22])
        }
        await #expect(throws: MirrorError.self) {
            try await api.client.fetch(Self.list(.stop), through: bridge)
        }
        #expect(try api.stored().isEmpty)
    }

    @Test("a list that ends at a total which the server declares a lower limit is not returned as whole; its pages are")
    func cappedTotal() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            let number = request.target.last?.wholeNumberValue ?? 0
            let total = #""total":{"value":4,"relation":"gte"}"#
            return .init(body: #"{\#(total),"items":[{"id":\#(number)1},{"id":\#(number)2}]}"#)
        }
        let client = try RecordClient(
            base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server)
        let request = RecordRequest<Entry>.get(
            "/entries", records: "items", pagination: .pageNumber(.query("page"), total: "total.value"))
        await #expect {
            _ = try await client.all(request)
        } throws: {
            $0 is MirrorError && "\($0)".contains("total.value")
        }
        var ids: [Int64] = []
        for try await page in client.pages(request) { ids += page.records.map(\.id) }
        #expect(ids == [11, 12, 21, 22])
        await #expect(throws: MirrorError.self) { _ = try await client.batch([request], atomic: true) }
        // Also with values, without the cache, and by POST.
        await #expect(throws: MirrorError.self) { _ = try await client.all(request) { _ in 1 } }
        await #expect(throws: MirrorError.self) { _ = try await client.all(request.persisting(false)) }
        let post = RecordRequest<Entry>.post(
            "/entries", body: .json(.object([])), records: "items",
            pagination: .pageNumber(.query("page"), total: "total.value"))
        await #expect(throws: MirrorError.self) { _ = try await client.all(post) }
        // The caller's own limit is no doubt.
        #expect(try await client.all(request.limit(pages: 1)).map(\.id) == [11, 12])
    }

    @Test("a list whose last page is empty, although the page before names it, is returned; the log has the doubt")
    func emptyLastPage() async throws {
        let folder = try TemporaryFolder()
        let server = AnsweringTransport { request in
            if request.target == "/mixed" { return .init(body: #"[{"id":7},{"title":"without a key"}]"#) }
            guard request.target == "/entries" else { return .init(body: "[]") }
            let link = "<http://made.example/entries?page=2>; rel=\"next\""
            return .init(fields: ["Link": link], body: #"[{"id":1},{"id":2}]"#)
        }
        let client = try RecordClient(
            base: "http://made.example", records: Entry.self, store: folder("entries.tarn"), transport: server)
        let logs = LogStore(), logsOfBatch = LogStore(), request = RecordRequest<Entry>.get("/entries")
        let doubt = "doubt=the last page has no records"
        #expect(try await client.all(request.logging(to: logs.logger(.info))).map(\.id) == [1, 2])
        #expect(logs.lines.filter { $0.contains(doubt) }.count == 1, "\(logs.text)")
        let logged = request.logging(to: logsOfBatch.logger(.info))
        #expect(try await client.batch([logged], atomic: true).map { $0.map(\.id) } == [[1, 2]])
        #expect(logsOfBatch.lines.filter { $0.contains(doubt) }.count == 1, "\(logsOfBatch.text)")
        // The log has the number of skipped elements, too.
        let mixed = RecordRequest<Entry>.get("/mixed").logging(to: logs.logger(.info))
        #expect(try await client.all(mixed).map(\.id) == [7])
        #expect(logs.lines.last?.contains("skipped=1") == true, "\(logs.text)")
    }

    @Test(
        "the answer to a POST that leads elsewhere (303) is what is read there; without records it fails, sent once",
        arguments: ["records", "page", "later", "nowhere"])
    func seeOther(result: String) async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            guard request.method == "GET" else {
                let target = result == "nowhere" ? "http://127.0.0.1:1/result" : "/result"
                return .init(status: "303 See Other", fields: ["Location: \(target)"])
            }
            if result == "later" { return .init(status: "503 Later") }
            return .init(body: result == "page" ? "<html>Sign in</html>" : #"[{"id":7}]"#)
        }
        let client = try RecordClient(base: server.base, records: Entry.self, store: folder("entries.tarn")) {
            $0.api.retry.firstDelay = .milliseconds(1)
            $0.api.follows = ["http://127.0.0.1:1"]
        }
        let request = RecordRequest<Entry>.post("/search", body: .json(.object([])))
        if result == "records" {
            #expect(try await client.all(request).map(\.id) == [7])
        } else {
            await #expect(throws: CacheError.self) { try await client.all(request) }
        }
        #expect(server.requests.filter { $0.method == "POST" }.count == 1)
        #expect(try client.store.read { try $0.fetch(Entry.all).map(\.id) } == (result == "records" ? [7] : []))
    }

    @Test("a path continues neither the name of the server nor that of a folder")
    func paths() async throws {
        let api = try API()
        for path in ["entries", ".evil.example/x", "@evil.example/x", ":81/x"] {
            await #expect(throws: CacheError.self) { try await api.client.all(RecordRequest<Entry>.get(path)) }
        }
        #expect(api.server.requests.isEmpty)
    }
}
