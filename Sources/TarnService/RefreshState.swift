import Foundation
import Tarn

/// The state of one refresh in a service.
struct RefreshState: Sendable {
    let refresh: ScheduledRefresh
    var isRunning = false
    var lastComplete: Date?
    /// The account of the last complete refresh of an earlier process; nil for another plan.
    var scope: String?
    /// Whether the last complete refresh has continued an interrupted one, and is as old as that.
    var isContinued = false
    /// The refusals of the last refresh, if it was complete except for them; nil otherwise.
    var refusals: String?
    /// Whether the refresh before has ended with the same refusals: they recur.
    var hasSameRefusals = false
    /// The records that the last complete refresh may lack; nil if it lacks none.
    var finding: String?
    var failure: String?
    /// Failures in succession.
    var failures = 0
    var nextStart: Date?
    /// Complete refreshes, of all processes.
    var completed: UInt64 = 0

    init(_ refresh: ScheduledRefresh) { self.refresh = refresh }

    /// The name of the checkpoint of a refresh: no endpoint, and no sync, has such a name.
    ///
    /// Another service may have a refresh of the same name with other parameters.
    private var checkpointName: String { "*refresh \(refresh.name) \(refresh.plan.requests)" }

    /// Reads the time of the last complete refresh of the same request from the store.
    mutating func restore() throws {
        guard let known = try refresh.store.read({ try $0.checkpoint(checkpointName) }) else { return }
        completed = known.scan
        // A refresh of the same name may have asked for other records, or for fewer fields.
        let parts = known.plan.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == refresh.plan.plan else { return }
        scope = String(parts[1])
        lastComplete = known.completedAt.map { Date(timeIntervalSince1970: Double($0.microseconds) / 1e6) }
        var totals = RefreshRun.Totals()
        totals.skipped = known.skipped
        if known.mayEndAtLimit { totals.doubts[RefreshRun.Totals.doubt] = 1 }
        finding = totals.finding
    }

    /// The checkpoint of a complete refresh, and its name.
    ///
    /// - Parameter scope: the account of the refresh; nil if it is unknown.
    func checkpoint(
        _ totals: RefreshRun.Totals, startedAt: Date, completedAt: Date, scope: String?
    ) -> (name: String, value: Checkpoint) {
        var checkpoint = Checkpoint(
            state: .complete, plan: "\(refresh.plan.plan) \(scope ?? "?")", scan: completed &+ 1,
            startedAt: Timestamp(startedAt),
            completedAt: Timestamp(completedAt))
        checkpoint.skipped = totals.allSkipped
        checkpoint.mayEndAtLimit = !totals.doubts.isEmpty || !totals.doubtsBefore.isEmpty
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

    /// Notes the outcome of a run.
    mutating func note(_ outcome: RefreshOutcome, _ totals: RefreshRun.Totals, at now: Date) {
        isRunning = false
        switch outcome {
        case .complete:
            lastComplete = totals.continuedFrom ?? now
            isContinued = totals.continuedFrom != nil
            completed &+= 1
            finding = totals.finding
            (failure, failures, refusals, hasSameRefusals) = (nil, 0, nil, false)
        case .failed(let text):
            failure = text
            failures += 1
            hasSameRefusals = totals.refusals != nil && totals.refusals == refusals
            refusals = totals.refusals
        case .interrupted: break
        }
    }

    /// The wait after a run: the interval, or after failures the doubling waits of retries.
    ///
    /// Refusals that recur wait for the interval: all else was refreshed.
    func nextWait(_ retry: RefreshService.Retry, now: Date = Date()) -> Duration {
        guard failures > 0 else {
            return isContinued ? firstWait(.whenDue, now: now) : refresh.jittered(refresh.interval)
        }
        guard !hasSameRefusals else { return refresh.jittered(refresh.interval) }
        let first = min(retry.first, refresh.interval).ofRefresh
        // 30 doublings of the longest wait do not overflow.
        return refresh.jittered(
            min(retry.maximum, first * Double(sign: .plus, exponent: min(failures - 1, 30), significand: 1)))
    }

    func health(at now: Date) -> RefreshHealth.Item {
        let age = lastComplete.map { max(0, now.timeIntervalSince($0)) }
        let status: RefreshHealth.Status =
            if let age {
                failures > 0 || finding != nil || .seconds(age) > refresh.limitOfAge ? .degraded : .healthy
            } else {
                .unavailable
            }
        return RefreshHealth.Item(
            name: refresh.name, status: status, isRunning: isRunning, lastComplete: lastComplete, age: age,
            finding: age == nil ? nil : finding, failure: failure, failures: failures, nextStart: nextStart)
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
