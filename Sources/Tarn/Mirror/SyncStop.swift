// The end of a sync because of a failure in one of the endpoints that are scanned side by side.

import Locking

/// Stops the scans of a sync: no further page is requested, and fetched pages are committed.
final class SyncStop: Sendable {
    private let state = Guarded((isRequested: false, scans: [Arrivals]()))

    /// Whether the scans are to stop.
    var isRequested: Bool { state.withLock(\.isRequested) }

    /// Stops all scans, also those that begin later.
    func request() {
        let scans = state.withLock { state in
            state.isRequested = true
            return state.scans
        }
        for scan in scans { scan.signal() }
    }

    /// Wakes a scan when the stop is requested.
    func wakes(_ scan: Arrivals) { state.withLock { $0.scans.append(scan) } }
}
