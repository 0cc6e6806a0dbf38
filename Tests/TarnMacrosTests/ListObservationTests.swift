// The states of a list, and the rules for concurrent loads.

import Foundation
import Synchronization
import TarnMacros
import TestSupport
import Testing

@Suite("States and concurrent loads of a list", .timeLimit(.minutes(2)))
struct ListObservationTests {
    @Test("states follow loads and commits of the store")
    func states() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(3, 1, 2, 4)
        var states = list.states.makeAsyncIterator()
        var state = try #require(try await states.next())
        #expect(!state.isLoaded && state.ids == [] && state.loading == nil)
        api.list.isHeld.withLock { $0 = true }
        let load = Task { try await list.loadFirst() }
        repeat { state = try #require(try await states.next()) } while state.loading == nil
        #expect(state.loading == .first && state.ids == [])
        try await api.list.gate.reached()
        api.list.isHeld.withLock { $0 = false }
        api.list.gate.open()
        repeat { state = try #require(try await states.next()) } while state.loading != nil
        #expect(state.ids == [3, 1, 2] && state.hasNext && state.failure == nil)
        _ = try await load.value
        // A commit of another writer.
        try await api.client.store.write { try $0.put(Entry(id: 1, rank: 7, title: "changed")) }
        repeat { state = try #require(try await states.next()) } while state.items.first { $0.id == 1 }?.rank != 7
        #expect(state.ids == [3, 1, 2])
        // A record that is deleted keeps its place until it is back.
        try await api.client.store.write { _ = try $0.delete(Entry.self, 1) }
        repeat { state = try #require(try await states.next()) } while state.ids != [3, 2]
        try await api.client.store.write { try $0.put(Entry(id: 1, rank: 8, title: "back")) }
        repeat { state = try #require(try await states.next()) } while state.ids != [3, 1, 2]
        #expect(state.hasNext)
        // Another loader of the same list.
        try await api.client.list(.entries()).loadNext()
        repeat { state = try #require(try await states.next()) } while state.ids != [3, 1, 2, 4]
        #expect(!state.hasNext)
        api.list.fail("500 Broken")
        await #expect(throws: CacheError.self) { try await list.refresh() }
        repeat { state = try #require(try await states.next()) } while state.failure == nil
        #expect(state.failed == .refresh && state.ids == [3, 1, 2, 4])
    }

    @Test("states end with an error if the files of the store are removed: no later change would come")
    func removedFiles() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        let seen = Mutex(0)
        let loop = Task { for try await _ in list.states { seen.withLock { $0 += 1 } } }
        try await eventually("the first state") { seen.withLock { $0 == 1 } }
        try FileManager.default.removeItem(atPath: api.client.store.path + "/data.mdb")
        await #expect(throws: StoreError.self) { try await loop.value }
    }

    @Test("a cancelled loop ends the states")
    func endOfStates() async throws {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        let count = Mutex(0)
        let loop = Task {
            for try await _ in list.states { count.withLock { $0 += 1 } }
            return true
        }
        try await eventually("the first state") { count.withLock { $0 == 1 } }
        loop.cancel()
        #expect(try await loop.value)
    }

    @Test("two loaders that load the same next page add it once")
    func twoLoaders() async throws {
        let api = try ListAPI(), list = try await api.client.list(.byCursor),
            other = try await api.client.list(.byCursor)
        api.list.set(1, 2, 3, 4, 5, 6, 7)
        try await list.loadFirst()
        api.list.isHeld.withLock { $0 = true }
        async let first = list.loadNext()
        async let second = other.loadNext()
        try await api.list.gate.reached()
        api.list.isHeld.withLock { $0 = false }
        for _ in 0..<2 { api.list.gate.open() }
        let results = try await [first, second].map { if case .loaded = $0 { "loaded" } else { "skipped" } }
        #expect(try results.sorted() == ["loaded", "skipped"] && list.state.ids == [1, 2, 3, 4, 5, 6])
        try await other.loadNext()
        #expect(try list.state.ids == [1, 2, 3, 4, 5, 6, 7])
    }

    // MARK: Rules

    /// Holds a first load at the server, begins others, and returns all outcomes in order.
    private func outcomes(
        _ rules: (ListLoad, ConcurrentLoads)...
    ) async throws -> (outcomes: [String], targets: [String], ids: [Int64]) {
        let api = try ListAPI(), list = try await api.client.list(.entries())
        api.list.set(1, 2, 3, 4, 5, 6, 7, 8, 9)
        try await list.loadFirst()
        api.list.isHeld.withLock { $0 = true }
        let decided = list.decisions
        var tasks: [Task<String, Never>] = []
        for (index, (load, rule)) in ([(ListLoad.next, ConcurrentLoads.queue)] + rules).enumerated() {
            tasks.append(
                Task {
                    do {
                        let result =
                            switch load {
                            case .first: try await list.loadFirst(rule: rule)
                            case .next: try await list.loadNext(rule: rule)
                            case .previous: try await list.loadPrevious(rule: rule)
                            case .refresh: try await list.refresh(rule: rule)
                            }
                        return switch result {
                        case .loaded: "loaded"
                        case .noPage: "noPage"
                        case .skipped: "skipped"
                        }
                    } catch {
                        return "\(type(of: error))"
                    }
                })
            // Its rule has decided.
            try await eventually("load \(index)") { list.decisions == decided + index + 1 }
            if index == 0 { try await api.list.gate.reached() }
        }
        api.list.isHeld.withLock { $0 = false }
        for _ in 0..<10 { api.list.gate.open() }
        var outcomes: [String] = []
        for task in tasks { outcomes.append(await task.value) }
        return (outcomes, api.server.targets, try list.state.ids)
    }

    @Test("queue: each load waits for those before it")
    func queue() async throws {
        let result = try await outcomes((.next, .queue), (.refresh, .queue))
        #expect(result.outcomes == ["loaded", "loaded", "loaded"] && result.ids == Array(1...9))
        #expect(result.targets.count == 6)
    }

    @Test("replaceQueue: the loads that wait are skipped, the one under way is not")
    func replaceQueue() async throws {
        let result = try await outcomes((.refresh, .queue), (.next, .queue), (.next, .replaceQueue))
        #expect(result.outcomes == ["loaded", "skipped", "skipped", "loaded"] && result.ids == Array(1...9))
    }

    @Test("cancelOthers: all others are cancelled")
    func cancelOthers() async throws {
        let result = try await outcomes((.next, .queue), (.first, .cancelOthers))
        #expect(result.outcomes == ["CancellationError", "CancellationError", "loaded"] && result.ids == [1, 2, 3])
    }

    @Test("skip: nothing is loaded while another load is under way")
    func skip() async throws {
        let result = try await outcomes((.refresh, .skip), (.next, .skip))
        #expect(result.outcomes == ["loaded", "skipped", "skipped"] && result.ids == [1, 2, 3, 4, 5, 6])
    }

    @Test("skipSame: the same load is skipped, another one waits")
    func skipSame() async throws {
        let result = try await outcomes((.next, .skipSame), (.refresh, .skipSame), (.refresh, .skipSame))
        #expect(result.outcomes == ["loaded", "skipped", "loaded", "skipped"] && result.targets.count == 4)
    }

    @Test("join: the same load answers several calls, another one waits")
    func join() async throws {
        let result = try await outcomes((.next, .join), (.refresh, .join), (.refresh, .join), (.next, .join))
        #expect(result.outcomes == Array(repeating: "loaded", count: 5) && result.ids == [1, 2, 3, 4, 5, 6])
        #expect(result.targets.count == 4)
    }

    @Test("a cancelled call ends its transfer, unless another call waits for the load")
    func cancellation() async throws {
        let holding = try HoldingServer(), folder = try TemporaryFolder()
        let list = try await ListAPI.client(holding.base, folder).list(.entries())
        let first = Task { try await list.loadFirst(rule: .join) },
            second = Task { try await list.loadFirst(rule: .join) }
        try await eventually("a request") { holding.held == 1 && list.callers == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(holding.leftByClient == 0)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await eventually("the end of the transfer") { holding.leftByClient == 1 }
        try await eventually("the end of the load") { try list.state.loading == nil }
        #expect(try list.state.failure == nil && !list.state.isLoaded)
    }
}
