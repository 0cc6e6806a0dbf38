// Syncs by schedules and freshness: waits until the next endpoint is due, and syncs those that are.

import Foundation
import Locking
import TarnHTTP
import TarnStore

/// A watch over endpoints: syncs each of them when it is due, until the task is cancelled.
///
/// Several APIs are watched side by side: a sync of one that is slow or waits for its rate limit
/// delays none of another. APIs whose endpoints depend on one another are watched together.
package struct SyncWatch: Sendable {
    /// The schedules by endpoint; endpoints without one are missing.
    private let schedules: [String: SyncSchedule]
    /// The endpoints that are watched together.
    private let groups: [Set<String>]
    private let timing: SyncTiming
    private let time: TimeSource
    /// The longest wait without a look at the store: another process may have synced, a clock may
    /// have been set, and a machine may have slept.
    private static let longestWait: Int64 = 60 * 1_000_000

    /// Creates a watch over the endpoints of a description.
    package init(_ description: Description, timing: SyncTiming, time: TimeSource = .system) {
        schedules = Dictionary(
            description.endpoints.compactMap { endpoint in endpoint.schedule.map { (endpoint.name, $0) } }
        ) { first, _ in first }
        groups = SyncWatch.groups(of: description)
        self.timing = timing
        self.time = time
    }

    /// The endpoints of each API, together with those of APIs that they wait for.
    private static func groups(of description: Description) -> [Set<String>] {
        let endpoints = description.endpoints, apis = endpoints.map { description.apiName(of: $0) }
        guard Set(apis).count > 1 else { return endpoints.isEmpty ? [] : [Set(endpoints.map(\.name))] }
        let order = SyncOrder(endpoints, description.schema, description.mapping)
        return groups(apis, order.predecessors).map { Set($0.map { endpoints[$0].name }) }
    }

    /// Returns the indexes of the endpoints of each API, with those of APIs that they wait for.
    ///
    /// An API may have thousands of endpoints: APIs are joined, and each endpoint is named once.
    static func groups(_ apis: [String?], _ predecessors: [BitSet]) -> [[Int]] {
        var numbers: [String?: Int] = [:], api: [Int] = []
        for name in apis {
            let number = numbers[name] ?? numbers.count
            numbers[name] = number
            api.append(number)
        }
        // Each API leads to an earlier one of its group; the first one leads to itself.
        var earlier = Array(0..<numbers.count)
        func first(_ number: Int) -> Int {
            var number = number
            while earlier[number] != number {
                earlier[number] = earlier[earlier[number]]
                number = earlier[number]
            }
            return number
        }
        for (index, before) in predecessors.enumerated() {
            for other in before.numbers where api[other] != api[index] {
                let (one, another) = (first(api[index]), first(api[other]))
                earlier[max(one, another)] = min(one, another)
            }
        }
        var groups: [[Int]] = Array(repeating: [], count: numbers.count)
        for index in api.indices { groups[first(api[index])].append(index) }
        return groups.filter { !$0.isEmpty }
    }

    /// A change of the description, as the groups see it.
    private struct Change {
        var isKnown = false
        /// The groups that are being synced, and those of them that were when the change was seen.
        var underWay: Set<Int> = [], awaited: Set<Int> = []

        mutating func note() {
            if !isKnown { awaited = underWay }
            isKnown = true
        }

        mutating func ended(_ group: Int) {
            underWay.remove(group)
            awaited.remove(group)
        }
    }

    /// Runs until the task is cancelled, or the description has changed.
    ///
    /// The syncs that are under way at a change may take long, as for the rate limit of one API:
    /// until they have ended, the endpoints of other APIs are synced as before.
    ///
    /// - Parameters:
    ///   - status: returns the status of endpoints, from the store, by their names; nil stands for
    ///     all watched ones.
    ///   - sync: syncs endpoints by their names. Failures that may be over later are not thrown.
    ///     With several APIs, it is called for one while it still runs for another.
    ///   - isOutdated: returns whether the description has changed: then the watch ends after the
    ///     syncs that are under way at that time. It is asked before each sync, and at least once a
    ///     minute.
    ///   - wait: called when the next time at which endpoints are due has changed.
    /// - Returns: whether the description has changed.
    /// - Throws: what the closures throw.
    @discardableResult
    package func run(
        status: @escaping (Set<String>?) async throws -> [EndpointStatus],
        sync: @escaping (Set<String>) async throws -> Void,
        isOutdated: @escaping () throws -> Bool = { false },
        wait: @escaping (_ until: Timestamp, _ endpoints: [String]) -> Void
    ) async throws -> Bool {
        guard groups.count > 1 else { return try await run(nil, status, sync, isOutdated, wait) }
        let change = Guarded(Change())
        let isChanged = {
            // A change that is taken back is one for all: some may have seen it.
            if !change.withLock({ $0.isKnown }) {
                guard try isOutdated() else { return false }
                change.withLock { $0.note() }
            }
            return change.withLock { $0.awaited.isEmpty }
        }
        nonisolated(unsafe) let status = status, sync = sync, isOutdated = isChanged, wait = wait
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            for (number, names) in groups.enumerated() {
                group.addTask {
                    func counted(_ names: Set<String>) async throws {
                        change.withLock { _ = $0.underWay.insert(number) }
                        defer { change.withLock { $0.ended(number) } }
                        try await sync(names)
                    }
                    return try await run(names, status, counted, isOutdated, wait)
                }
            }
            // The first error ends the others.
            var hasChanged = false
            while let outcome = try await group.next() { hasChanged = hasChanged || outcome }
            return hasChanged
        }
    }

    /// Watches some endpoints; nil stands for all.
    ///
    /// - Returns: whether the description has changed.
    private func run(
        _ names: Set<String>?, _ status: (Set<String>?) async throws -> [EndpointStatus],
        _ sync: (Set<String>) async throws -> Void, _ isOutdated: () throws -> Bool,
        _ wait: (_ until: Timestamp, _ endpoints: [String]) -> Void
    ) async throws -> Bool {
        var attempts: [String: Timestamp] = [:], completed: Set<String> = [], told: Timestamp?
        while !Task.isCancelled {
            if try isOutdated() { return true }
            let now = Timestamp(time.now())
            let watched = try await status(names).filter { names?.contains($0.name) ?? true }
            let due = watched.map { status -> (name: String, at: Timestamp) in
                let schedule = schedules[status.name]
                var at = timing.next(of: status, schedule, now: now)
                guard let last = attempts[status.name], last <= now else { return (status.name, at) }
                if status.isCompleted(since: last, until: now) {
                    completed.insert(status.name)
                } else if !completed.contains(status.name) {
                    // An attempt that did not complete, such as of a busy endpoint. One that did is
                    // missing in a store that has taken the place of another one.
                    at = max(at, Timestamp(microseconds: last.microseconds + Int64(timing.pause(schedule)) * 1_000_000))
                }
                return (status.name, at)
            }
            let ready = due.filter { $0.at <= now }.map(\.name)
            guard ready.isEmpty, let next = due.map(\.at).min() else {
                guard !ready.isEmpty else { return false }
                for name in ready { attempts[name] = now }
                completed.subtract(ready)
                told = nil
                try await sync(Set(ready))
                continue
            }
            if told != next {
                told = next
                wait(next, due.filter { $0.at == next }.map(\.name))
            }
            let pause = min(next.elapsed(since: now), SyncWatch.longestWait)
            do { try await time.sleep(.microseconds(max(1000, pause))) } catch { return false }
        }
        return false
    }
}

extension EndpointStatus {
    /// Whether the last scan was completed within a time.
    fileprivate func isCompleted(since start: Timestamp, until end: Timestamp) -> Bool {
        guard unfinished == nil, let completedAt else { return false }
        return completedAt >= start && completedAt <= end
    }
}
