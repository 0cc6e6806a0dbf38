import Dispatch
internal import LMDB
import Locking

/// The mark of one observer that a change concerns it, and the task that waits for the mark.
final class ObserverSignal: Sendable {
    private struct State: Sendable {
        /// Marked at first, so that the current state is delivered.
        var isMarked = true
        var isEnded = false
        var waiter: CheckedContinuation<Bool, Never>?
    }

    let interest: ObserverHub.Interest
    private let state = Guarded(State())

    init(_ interest: ObserverHub.Interest) { self.interest = interest }

    func mark() {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.isMarked = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    func end() {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.isEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: false)
    }

    /// Waits for the mark; false if the waiting task is cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.isEnded { return false }
                    if state.isMarked {
                        state.isMarked = false
                        return true
                    }
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }
}
