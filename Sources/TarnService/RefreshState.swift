import Foundation
import Tarn

/// The state of one refresh in a service.
struct RefreshState: Sendable {
    let refresh: ScheduledRefresh
    var isRunning = false
    var lastComplete: Date?
    var failure: String?
    /// Failures in succession.
    var failures = 0
    var nextStart: Date?
    /// Complete refreshes, of all processes.
    var completed: UInt64 = 0

    init(_ refresh: ScheduledRefresh) { self.refresh = refresh }

    /// The name of the checkpoint of a refresh: no endpoint, and no sync, has such a name.
    private var checkpointName: String { "*refresh " + refresh.name }

    /// Reads the time of the last complete refresh of the same request from the store.
    mutating func restore() throws {
        guard let known = try refresh.store.read({ try $0.checkpoint(checkpointName) }) else { return }
        completed = known.scan
        // A refresh of the same name may have asked for other records, or for fewer fields.
        guard known.plan == refresh.plan else { return }
        lastComplete = known.completedAt.map { Date(timeIntervalSince1970: Double($0.microseconds) / 1e6) }
    }

    /// The checkpoint of a complete refresh, and its name.
    func checkpoint(startedAt: Date, completedAt: Date) -> (name: String, value: Checkpoint) {
        let checkpoint = Checkpoint(
            state: .complete, plan: refresh.plan, scan: completed &+ 1, startedAt: Timestamp(startedAt),
            completedAt: Timestamp(completedAt))
        return (checkpointName, checkpoint)
    }

    /// The wait before the first refresh of this process.
    func firstWait(_ start: RefreshService.Start, now: Date) -> Duration {
        switch start {
        case .immediately: return .zero
        case .afterInterval: return refresh.jittered(refresh.interval)
        case .whenDue:
            guard let lastComplete else { return .zero }
            let rest = refresh.interval - .seconds(now.timeIntervalSince(lastComplete))
            // A clock that was set back must not put it off.
            return rest > .zero ? refresh.jittered(min(rest, refresh.interval)) : .zero
        }
    }

    /// The wait after a run: the interval, or after failures the doubling waits of retries.
    func nextWait(_ retry: RefreshService.Retry) -> Duration {
        guard failures > 0 else { return refresh.jittered(refresh.interval) }
        let first = min(retry.first, refresh.interval).ofRefresh
        // 30 doublings of the longest wait do not overflow.
        return refresh.jittered(
            min(retry.maximum, first * Double(sign: .plus, exponent: min(failures - 1, 30), significand: 1)))
    }

    func health(at now: Date) -> RefreshHealth.Item {
        let age = lastComplete.map { max(0, now.timeIntervalSince($0)) }
        let status: RefreshHealth.Status =
            if let age { failures > 0 || .seconds(age) > refresh.limitOfAge ? .degraded : .healthy } else {
                .unavailable
            }
        return RefreshHealth.Item(
            name: refresh.name, status: status, isRunning: isRunning, lastComplete: lastComplete, age: age,
            failure: failure, failures: failures, nextStart: nextStart)
    }
}

extension RefreshHealth {
    init(_ states: [RefreshState], at now: Date) {
        refreshes = states.map { $0.health(at: now) }
        let isUnavailable = zip(states, refreshes).contains { $0.refresh.isRequired && $1.status == .unavailable }
        status =
            if isUnavailable { .unavailable } else {
                refreshes.allSatisfy { $0.status == .healthy } ? .healthy : .degraded
            }
    }
}
