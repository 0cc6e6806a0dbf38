// The asynchronous commit of a unit: enqueued at once, so that units are committed in the order in
// which they were started, and awaited later.

import Locking

/// The pending result of a unit's commit.
final class UnitCommit: Sendable {
    private struct State {
        var result: Result<ImportReport, any Error>?
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())
    let cancellation = Cancellation()

    /// Delivers the result. Must be called once.
    func deliver(_ result: Result<ImportReport, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// Waits for the commit and returns its report. Must be called once.
    func report() async throws -> ImportReport {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result != nil
            }
            if hasEnded { continuation.resume() }
        }
        // Read under the lock: the thread sanitizer sees no resumption before the suspension.
        guard let result = state.withLock(\.result) else { preconditionFailure("resumed before the delivery") }
        return try result.get()
    }
}
