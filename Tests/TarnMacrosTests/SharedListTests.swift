// Lists that several loaders, requests and caches share or have beside one another.

import Foundation
import Synchronization
import TarnMacros
import TarnStore
import TestSupport
import Testing

@testable import Tarn

@Suite("Lists beside one another", .timeLimit(.minutes(2)))
struct SharedListTests {
    @Test("requests with other hooks, header fields or metadata have lists of their own")
    func hooks() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5)
        try await list.loadFirst()
        try await list.loadNext()
        let others: [RecordRequest<Entry>] = [
            .entries().filtering { _, _ in true }, .entries().header("Accept-Language", "de"),
            .entries().metadata("x", at: "x"),
        ]
        for request in others {
            let other = try await api.client.list(request)
            try await other.loadFirst()
            #expect(try list.state.ids == [1, 2, 3, 4, 5] && other.state.ids == [1, 2, 3])
            try await list.refresh()
            #expect(try other.state.ids == [1, 2, 3])
        }
    }

    @Test("a list of the same request under another mapping replaces the old one")
    func otherMapping() async throws {
        let api = try ListAPI()
        api.list.set(1, 2, 3)
        try await api.client.list(.entries()).loadFirst()
        try await api.client.list(.entries().header("Accept-Language", "de")).loadFirst()
        let other = try RecordClient(base: api.server.base, records: Entry.self, store: api.folder("entries.tarn")) {
            $0.mapping.keyless = .fail
        }
        let list = try await other.list(.entries())
        #expect(try !list.state.isLoaded)
        try await list.loadFirst()
        let lists = try api.client.store.read { reader in
            var count = 0
            try reader.access.responses.forEach(from: 0) { view in
                if view.isOfList { count += 1 }
                return true
            }
            return count
        }
        #expect(try lists == 2 && list.state.ids == [1, 2, 3])
    }

    @Test("a refresh does not replace a list that another loader has loaded meanwhile")
    func olderRefresh() async throws {
        let entries = ListServer(), gate = ThreadGate(), holds = Mutex(false), folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            if request.target.contains("page=2"), holds.withLock(\.self) { gate.wait() }
            return entries.answer(request)
        }
        let list = try await ListAPI.client(server.base, folder).list(.numbered)
        let other = try await ListAPI.client(server.base, folder).list(.numbered)
        entries.set(1, 2, 3, 4)
        try await list.loadFirst()
        try await list.loadNext()
        holds.withLock { $0 = true }
        let refresh = Task { try await list.refresh() }
        try await gate.reached()
        entries.set(50, 1, 2)
        try await other.loadFirst()
        holds.withLock { $0 = false }
        gate.open()
        guard case .skipped = try await refresh.value else {
            Testing.Issue.record("the older list was stored")
            return
        }
        #expect(try list.state.ids == [50, 1, 2] && !list.state.hasNext)
    }

    @Test("a loader does not take another list for its own, after its list was removed")
    func removedList() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        let other = try await ListAPI.client(api.server.base, api.folder).list(.entries())
        api.list.set((1...15).map { $0 })
        try await list.loadFirst()
        try await api.client.store.write { writer in
            var ids: [UInt64] = []
            try writer.access.responses.forEach(from: 0) { view in
                if view.isOfList { ids.append(view.id) }
                return true
            }
            for id in ids { try writer.removeResponse(id: id) }
        }
        #expect(try list.state.isLoaded == false)
        try await other.loadFirst(at: api.server.base + "/link?page=3")
        try await list.loadNext()
        #expect(try list.state.ids == [7, 8, 9, 10, 11, 12])
    }

    @Test("a list stays when the responses of its URL are purged, and is listed as a list")
    func purge() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5)
        for purge in [RecordCache.Purge.url(api.server.base + "/link"), .prefix(api.server.base), .all] {
            try await list.loadFirst()
            try await list.loadNext()
            let removed = try await api.client.cache.purge(purge)
            #expect(removed == (purge == .url(api.server.base + "/link") ? 1 : 2))
            #expect(try list.state.ids == [1, 2, 3, 4, 5])
        }
        let keepers = try api.client.store.read { reader in
            var keepers: [StoredResponse.Keeper] = []
            try reader.access.responses.forEach(from: 0) { view in
                if let entry = view.entry { keepers.append(StoredResponse(view.id, entry, at: 0).keeper) }
                return true
            }
            return keepers
        }
        #expect(keepers == [.list])
    }

    @Test("a load whose domain is cancelled is no failure of the list")
    func cancelledDomain() async throws {
        let holding = try HoldingServer(), folder = try TemporaryFolder()
        let client = try ListAPI.client(holding.base, folder)
        let list = try await client.list(.entries().domain("screen"))
        let load = Task { try await list.loadFirst() }
        try await eventually("a request") { holding.held == 1 }
        #expect(client.cancel(domain: "screen") == 1)
        await #expect {
            _ = try await load.value
        } throws: { error in
            (error as? CacheError)?.isCancelled ?? false && "\(error)".hasPrefix("the call was cancelled")
        }
        #expect(try list.state.failure == nil && list.state.failed == nil && list.state.loading == nil)
    }
}
