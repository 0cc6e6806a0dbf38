// Lists that are loaded page by page: order, edges, drops, failures, restarts, observation.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("List loader", .timeLimit(.minutes(2)))
struct ListLoaderTests {
    @Test("pages make up the list in the order of the server, with its edges")
    func order() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        #expect(try list.state.isLoaded == false && list.state.noPrevious == "the list was never loaded")
        api.list.set(9, 2, 7, 4, 5, 1, 8)
        guard case .loaded(let reports, orphans: nil) = try await list.loadFirst() else {
            Testing.Issue.record("no page was loaded")
            return
        }
        #expect(reports.map(\.created) == [3])
        #expect(try list.state.ids == [9, 2, 7] && list.state.hasNext && !list.state.hasPrevious)
        #expect(try list.state.noPrevious == "it is the first page")
        try await list.loadNext()
        try await list.loadNext()
        let state = try list.state
        #expect(state.ids == [9, 2, 7, 4, 5, 1, 8] && !state.hasNext && state.failure == nil)
        #expect(state.lastSuccess != nil && state.loading == nil)
        guard case .noPage = try await list.loadNext() else {
            Testing.Issue.record("there is no page after the last one")
            return
        }
        #expect(api.server.targets == ["/link", "/link?page=2", "/link?page=3"])
    }

    @Test("without a list, the next page is the first one, and a refresh loads the first one")
    func withoutList() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4)
        try await list.loadNext()
        #expect(try list.state.ids == [1, 2, 3])
        let other = try await api.client.list(.numbered)
        try await other.refresh()
        #expect(try other.state.ids == [1, 2, 3] && other.state.hasNext)
        guard case .noPage = try await other.loadPrevious() else {
            Testing.Issue.record("there is no page before the first one")
            return
        }
    }

    @Test("rows that the server dropped leave the list, and stay in the store; an empty page empties the list")
    func drops() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5, 6)
        try await list.loadFirst()
        try await list.loadNext()
        api.list.set(1, 3, 4, 6)
        try await list.refresh()
        #expect(try list.state.ids == [1, 3, 4, 6] && !list.state.hasNext)
        #expect(try api.stored() == [1, 2, 3, 4, 5, 6])
        api.list.set()
        try await list.loadFirst()
        #expect(try list.state.ids == [] && list.state.isLoaded && !list.state.hasNext)
        #expect(try api.stored().count == 6)
    }

    @Test("a first page replaces all pages; a refresh loads as many as there were, confirmed by 304s")
    func firstAndRefresh() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5, 6, 7)
        try await list.loadFirst()
        try await list.loadNext()
        try await list.refresh()
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6] && list.state.hasNext)
        #expect(api.server.requests.map { $0.field("If-None-Match") != nil } == [false, false, true, true])
        try await list.loadFirst()
        #expect(try list.state.ids == [1, 2, 3])
    }

    @Test("a record that moves while one pages is listed once, at its newest place")
    func reorders() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5, 6)
        try await list.loadFirst()
        api.list.set(9, 1, 2, 3, 4, 5, 6)
        try await list.loadNext()
        #expect(try list.state.ids == [1, 2, 3, 4, 5])
        api.list.set(9, 4, 5, 3, 6, 2, 1)
        try await list.loadNext()
        #expect(try list.state.ids == [2, 3, 4, 5, 1])
        try await list.refresh()
        #expect(try list.state.ids == [9, 4, 5, 3, 6, 2, 1])
    }

    // MARK: Previous pages

    @Test(
        "a list that begins in the middle is extended in both directions by links, numbers and offsets",
        arguments: ["link", "number", "offset", "json", "auto"])
    func previousPages(style: String) async throws {
        let api = try ListAPI()
        api.list.set(1, 2, 3, 4, 5, 6, 7, 8, 9)
        let requests: [String: RecordRequest<Entry>] = [
            "number": .numbered, "offset": .byOffset, "json": .linkedInBody, "auto": .get("/json", records: "items"),
        ]
        let request = requests[style] ?? .entries()
        let list = try await api.client.list(request)
        let start =
            api.server.base + (style == "offset" ? "/offset?offset=3" : "/\(style == "auto" ? "json" : style)?page=2")
        try await list.loadFirst(at: start)
        #expect(try list.state.ids == [4, 5, 6] && list.state.hasPrevious && list.state.hasNext)
        #expect(try list.state.noPrevious == nil)
        try await list.loadPrevious()
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6] && !list.state.hasPrevious && list.state.hasNext)
        #expect(try list.state.noPrevious == "it is the first page")
        try await list.loadNext()
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6, 7, 8, 9] && !list.state.hasNext)
        api.list.set(1, 3, 2, 4, 5, 6, 7, 9, 8)
        try await list.refresh()
        #expect(try list.state.ids == [1, 3, 2, 4, 5, 6, 7, 9, 8] && !list.state.hasPrevious)
    }

    @Test("cursors lead forward only, and the state says so")
    func cursors() async throws {
        let api = try ListAPI()
        api.list.set(1, 2, 3, 4, 5, 6, 7)
        let list = try await api.client.list(.byCursor)
        try await list.loadFirst(at: api.server.base + "/cursor?cursor=3")
        let state = try list.state
        #expect(state.ids == [4, 5, 6] && state.hasNext && !state.hasPrevious)
        #expect(
            state.noPrevious
                == "the server links no previous page, and the style cursor computes only the next one")
        guard case .noPage = try await list.loadPrevious() else {
            Testing.Issue.record("there is no known page before")
            return
        }
    }

    // MARK: Failures

    @Test("a failure leaves the list as it is, and is a state until the next success")
    func failures() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5, 6)
        try await list.loadFirst()
        api.list.fail("500 Broken")
        await #expect(throws: CacheError.self) { try await list.loadNext() }
        let state = try list.state
        #expect(state.ids == [1, 2, 3] && state.hasNext && state.failed == .next && state.failure is CacheError)
        try await list.loadNext()
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6] && list.state.failure == nil && list.state.failed == nil)
        // The second page of the refresh fails: neither page changes.
        api.list.set(6, 5, 4, 3, 2, 1)
        api.list.fail("", "503 Gone")
        await #expect(throws: (any Error).self) { try await list.refresh() }
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6] && list.state.failed == .refresh)
    }

    @Test("a link to a page that was already loaded is an error, also after a restart")
    func loops() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries("loop"))
        api.list.set(1, 2, 3)
        try await list.loadFirst(at: api.server.base + "/loop?page=1")
        try await list.loadNext()
        await #expect(throws: (any Error).self) { try await list.loadNext() }
        let again = try await ListAPI.client(api.server.base, api.folder).list(.entries("loop"))
        await #expect(throws: (any Error).self) { try await again.loadNext() }
        #expect(try again.state.ids == [1, 2, 3] && api.server.targets.count == 2)
    }

    @Test("a response that must not be stored makes no list, and a request that does not persist has none")
    func notStored() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries("number"))
        api.list.set(1)
        api.list.send("Cache-Control: no-store")
        await #expect(throws: MirrorError.self) { try await api.client.list(.numbered).loadFirst() }
        #expect(try list.state.isLoaded == false)
        await #expect(throws: MirrorError.self) { _ = try await api.client.list(.numbered.persisting(false)) }
    }

    // MARK: Offline and restarts

    @Test("after a restart the list is there with its next page, offline, too")
    func restart() async throws {
        var api: ListAPI? = try ListAPI()
        let folder = try #require(api?.folder)
        api?.list.set(5, 3, 1, 4, 2, 6, 7)
        let base = try #require(api?.server.base)
        do {
            let list = try await api?.client.list(.entries())
            try await list?.loadFirst()
            try await list?.loadNext()
        }
        // The same port, without a server behind it, and then the server again.
        do {
            let offline = try RecordClient(
                base: base, records: Entry.self, store: folder("entries.tarn"), transport: Unreachable()
            ) { $0.api.retry.attempts = 1 }
            let list = try await offline.list(.entries())
            #expect(try list.state.ids == [5, 3, 1, 4, 2, 6] && list.state.hasNext && list.state.isLoaded)
            #expect(try list.state.lastSuccess != nil)
            await #expect(throws: CacheError.self) { try await list.loadNext() }
            await #expect(throws: CacheError.self) { try await list.loadFirst() }
            await #expect(throws: CacheError.self) { try await list.refresh() }
            #expect(try list.state.ids == [5, 3, 1, 4, 2, 6] && list.state.failed == .refresh)
        }
        let list = try await ListAPI.client(base, folder).list(.entries())
        try await list.loadNext()
        #expect(try list.state.ids == [5, 3, 1, 4, 2, 6, 7] && !list.state.hasNext)
        #expect(api?.server.targets == ["/link", "/link?page=2", "/link?page=3"])
        api = nil
    }

    @Test("offline, a list that was never loaded takes the stored page, with the failure as its state")
    func offlineFirst() async throws {
        let api = try ListAPI()
        api.list.set(2, 1)
        _ = try await api.client.all(.entries())
        let offline = try RecordClient(
            base: api.server.base, records: Entry.self, store: api.folder("entries.tarn"), transport: Unreachable()
        ) { $0.api.retry.attempts = 1 }
        let list = try await offline.list(.entries())
        try await list.loadFirst()
        #expect(try list.state.ids == [2, 1] && list.state.failure is CacheError && list.state.failed == .first)
    }

    /// A transport without a network.
    private struct Unreachable: Transport {
        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            throw TransportError(.connect, method: request.method, url: request.url, detail: "no network")
        }
    }

    @Test("a list of a request with a body continues after a restart, too")
    func post() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            let body = request.field("Content-Length").flatMap { Int($0) } ?? 0
            // The second page has a longer body: its cursor is set.
            return .init(
                body: body > 20 ? #"{"items":[{"id":3}]}"# : #"{"cursor":"next-page","items":[{"id":2},{"id":1}]}"#)
        }
        let request = RecordRequest<Entry>.post(
            "/search", body: .json(.object([.init("q", .string("x"))])), records: "items",
            pagination: .cursor(path: "cursor", sends: .body(["after"])))
        try await ListAPI.client(server.base, folder).list(request).loadFirst()
        let list = try await ListAPI.client(server.base, folder).list(request)
        #expect(try list.state.ids == [2, 1] && list.state.hasNext)
        try await list.loadNext()
        #expect(try list.state.ids == [2, 1, 3] && !list.state.hasNext)
    }

    // MARK: Orphans and queries

    @Test("the store's records go by the orphan rules of the request, with its veto, and never from another list")
    func orphans() async throws {
        let api = try ListAPI()
        let request = RecordRequest.entries().removingOrphans(Orphans(scans: 1)) { $0.id != 3 }
        let list = try await api.client.list(request), other = try await api.client.list(.entries("other"))
        api.list.set(1, 2, 3, 4, 5)
        try await list.loadFirst()
        guard case .loaded(_, orphans: nil) = try await list.loadNext() else {
            Testing.Issue.record("orphans after pages of different times")
            return
        }
        try await list.refresh()
        api.list.set(4)
        try await other.loadFirst()
        api.list.set(1, 5)
        guard case .loaded(_, orphans: let report?) = try await list.loadFirst() else {
            Testing.Issue.record("the complete list has no report")
            return
        }
        #expect(report.deleted == 1 && report.candidates == 3)
        #expect(try api.stored() == [1, 3, 4, 5] && list.state.ids == [1, 5])
        // A part of a list proves nothing.
        api.list.set(7, 8, 9, 1, 5)
        guard case .loaded(_, orphans: nil) = try await list.loadFirst() else {
            Testing.Issue.record("orphans after a part of the list")
            return
        }
        api.list.set(7, 8, 9, 1)
        try await list.loadNext()
        guard case .loaded(_, orphans: let second?) = try await list.refresh() else {
            Testing.Issue.record("the complete list has no report")
            return
        }
        #expect(try second.deleted == 1 && api.stored() == [1, 3, 4, 7, 8, 9])
    }

    @Test("a record that something else stores while a list is loaded is no orphan of that list")
    func storedMeanwhile() async throws {
        let api = try ListAPI()
        let list = try await api.client.list(RecordRequest.entries().removingOrphans(Orphans(.entity, scans: 1)))
        api.list.set(1, 2)
        api.list.isHeld.withLock { $0 = true }
        async let load = list.loadFirst()
        try await api.list.gate.reached()
        try await api.client.store.write { try $0.put(Entry(id: 9, rank: nil, title: "other")) }
        api.list.isHeld.withLock { $0 = false }
        api.list.gate.open()
        guard case .loaded(_, orphans: let report?) = try await load else {
            Testing.Issue.record("the complete list has no report")
            return
        }
        #expect(try report.deleted == 0 && api.stored() == [1, 2, 9])
    }

    @Test("a query orders the items, shows local records, and hides those that the complete list lacks")
    func query() async throws {
        let api = try ListAPI()
        let list = try await api.client.list(.entries(), local: Entry.all.order(by: \.id, .descending))
        api.list.set(2, 9, 4, 6, 1)
        try await list.loadFirst()
        #expect(try list.state.ids == [9, 4, 2])
        try await list.loadNext()
        #expect(try list.state.ids == [9, 6, 4, 2, 1])
        try await api.client.store.write { try $0.put(Entry(id: 5, rank: nil, title: "local")) }
        #expect(try list.state.ids == [9, 6, 5, 4, 2, 1])
        // Neither the first page alone proves a loss, nor pages of different times.
        api.list.set(2, 9, 4, 6)
        try await list.loadFirst()
        #expect(try list.state.ids == [9, 6, 5, 4, 2, 1])
        try await list.loadNext()
        #expect(try list.state.ids == [9, 6, 5, 4, 2, 1])
        try await list.refresh()
        #expect(try list.state.ids == [9, 6, 5, 4, 2])
        let again = try await ListAPI.client(api.server.base, api.folder)
            .list(.entries(), local: Entry.all.order(by: \.id, .descending))
        #expect(try again.state.ids == [9, 6, 5, 4, 2])
        api.list.set(1, 2)
        try await list.loadFirst()
        #expect(try list.state.ids == [5, 2, 1])
    }
}
