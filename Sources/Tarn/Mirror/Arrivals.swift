// The signal of a scan with several requests in progress: something it waits for has happened.

import Locking

/// A signal that wakes one waiting task: a response has arrived, or a commit has ended.
///
/// Signals that occur while nothing waits are kept as one.
final class Arrivals: Sendable {
    private struct State {
        var isSignalled = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    func signal() {
        let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let waiting = state.waiting else {
                state.isSignalled = true
                return nil
            }
            state.waiting = nil
            return waiting
        }
        waiting?.resume()
    }

    /// Waits for the next signal. Returns at once after a signal, or if the task is cancelled.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSignalled = state.withLock { state in
                    if state.isSignalled {
                        state.isSignalled = false
                        return true
                    }
                    state.waiting = continuation
                    return false
                }
                if isSignalled { continuation.resume() }
            }
        } onCancel: {
            signal()
        }
    }
}
