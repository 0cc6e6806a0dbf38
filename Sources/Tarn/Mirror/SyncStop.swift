// The end of a sync because of a failure in one of the endpoints that are scanned side by side.

import Locking

/// Stops the scans of a sync: no further page is requested, and fetched pages are committed.
final class SyncStop: Sendable {
    private let state = Guarded((isRequested: false, scans: [Arrivals](), forbidden: ForbiddenEndpoints()))

    /// Whether the scans are to stop.
    var isRequested: Bool { state.withLock(\.isRequested) }

    /// Whether no other scan is to begin. Those under way may still show that one may.
    var holdsOthers: Bool { state.withLock { $0.isRequested || $0.forbidden.areAll } }

    /// Stops all scans, also those that begin later.
    func request() {
        let scans = state.withLock { state in
            state.isRequested = true
            return state.scans
        }
        for scan in scans { scan.signal() }
    }

    /// Notes the result of a scan. If others would fail for the same reason, it stops them.
    func note(_ report: SyncReport.Endpoint) {
        state.withLock { $0.forbidden.note(report) }
        if report.failures.contains(where: \.endsEverything) { request() }
    }

    /// Wakes a scan when the stop is requested.
    func wakes(_ scan: Arrivals) { state.withLock { $0.scans.append(scan) } }
}
