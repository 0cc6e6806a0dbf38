// The rules by which a watch determines when an endpoint is due. They are pure: the status of the
// endpoint and the schedule determine the time.

import Foundation
import TarnStore

/// The rules for the next run of an endpoint.
package struct SyncTiming: Sendable, Hashable {
    /// The seconds after which endpoints without a schedule are due again; nil: when their stored
    /// response is no longer fresh.
    package var interval: Int?
    /// The least number of seconds between two scans of an endpoint that has no schedule.
    package var floor = 60
    /// The seconds after which a failed attempt is repeated, unless its schedule is more frequent.
    package var retry = 300
    /// The time zone of local times.
    package var timeZone = TimeZone.current

    /// Creates the default rules.
    package init() {}

    /// The time at which an endpoint is due. It may be in the past.
    ///
    /// It follows from the last complete scan, so it is the same after a restart. An endpoint whose
    /// scan is not complete is due at once, and a failed one after a pause. A stored time in the
    /// future comes from a clock that was wrong: it says nothing, and the endpoint is due at once.
    package func next(of status: EndpointStatus, _ schedule: SyncSchedule?, now: Timestamp) -> Timestamp {
        var due = now
        if let last = status.completedAt, last <= now, status.unfinished == nil {
            switch schedule {
            case .every(let seconds): due = last.adding(seconds)
            case .daily(let times):
                let begin = Date(timeIntervalSince1970: Double(last.microseconds) / 1_000_000)
                due = times.map { Timestamp($0.next(after: begin, in: timeZone)) }.min() ?? now
            case nil:
                due = last.adding(interval ?? floor)
                if interval == nil, let fresh = status.freshUntil { due = max(due, fresh) }
            }
        }
        if let failure = status.failure, failure.at <= now { due = max(due, failure.at.adding(pause(schedule))) }
        return due
    }

    /// The seconds between two attempts, the first of which did not complete the endpoint.
    func pause(_ schedule: SyncSchedule?) -> Int {
        switch schedule {
        case .every(let seconds): max(1, min(seconds, retry))
        case .daily: retry
        case nil: max(1, min(interval ?? retry, retry))
        }
    }
}

extension Timestamp {
    /// The time some seconds later, or the last one that there is.
    fileprivate func adding(_ seconds: Int) -> Timestamp {
        let (product, isTooLarge) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflows) = microseconds.addingReportingOverflow(product)
        return Timestamp(microseconds: isTooLarge || overflows ? .max : sum)
    }
}
