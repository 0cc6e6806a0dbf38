import Dispatch
internal import LMDB

/// Whether something happened that concerns one observer, and who waits for that.
final class ObserverSignal: Sendable {
    private struct State: Sendable {
        /// At first there is the present state to be given.
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

    /// Waits until it is marked. False if the waiting task is cancelled.
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
