import Locking

/// The commit of an atomic batch: either it begins, or the batch is cancelled, never both.
///
/// A call that is cancelled before the commit begins ends at once. Its requests, and its place in
/// the queue of the writer, end after it and store nothing.
final class AtomicCommit: Sendable {
    private enum Phase {
        case waiting, begun, cancelled
        case ended(SyncReport)
    }

    private struct State {
        var phase = Phase.waiting
        var caller: CheckedContinuation<SyncReport?, Never>?
    }

    private let state = Guarded(State())

    /// Begins the commit, at the end of its transaction.
    ///
    /// - Throws: `CancellationError` if the batch was cancelled.
    func begin() throws(CancellationError) {
        let isCancelled = state.withLock { state in
            if case .cancelled = state.phase { return true }
            state.phase = .begun
            return false
        }
        if isCancelled { throw CancellationError() }
    }

    /// Cancels the batch, unless the commit has begun.
    func cancel() {
        let caller = state.withLock { state -> CheckedContinuation<SyncReport?, Never>? in
            guard case .waiting = state.phase else { return nil }
            state.phase = .cancelled
            defer { state.caller = nil }
            return state.caller
        }
        caller?.resume(returning: nil)
    }

    /// Ends the batch, committed or not.
    func end(_ report: SyncReport) {
        let caller = state.withLock { state -> CheckedContinuation<SyncReport?, Never>? in
            if case .cancelled = state.phase { return nil }
            state.phase = .ended(report)
            defer { state.caller = nil }
            return state.caller
        }
        caller?.resume(returning: report)
    }

    /// Waits for the end; nil if the batch was cancelled. Must be called once.
    func report() async -> SyncReport? {
        await withCheckedContinuation { caller in
            let ended = state.withLock { state -> SyncReport?? in
                switch state.phase {
                case .waiting, .begun:
                    state.caller = caller
                    return nil
                case .cancelled: return .some(nil)
                case .ended(let report): return report
                }
            }
            if let ended { caller.resume(returning: ended) }
        }
    }
}
