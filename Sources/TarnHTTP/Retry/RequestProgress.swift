// The step of a request: a caller that ends lets a transfer finish, and no wait.

import Locking

/// The step of the request that a task has under way.
///
/// A caller that has to end soon sets it for its task, and calls ``endWaits()``: a wait for the
/// pace, a limit, a retry or credentials ends at once, and a transfer is completed.
package final class RequestProgress: Sendable {
    /// The request of the current task; nil if nobody asks for its step.
    @TaskLocal package static var current: RequestProgress?

    private struct State {
        var isTransferring = false
        var endsWaits = false
        var hasEnded = false
    }

    private let state = Guarded(State())
    private let cancel: Guarded<(@Sendable () -> Void)?>

    /// Creates the progress of a request that waits.
    package init() { cancel = Guarded(nil) }

    /// Whether a wait was ended.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Sets the function that ends the request. It is called at most once.
    package func onEnd(_ body: @escaping @Sendable () -> Void) { cancel.withLock { $0 = body } }

    /// Notes that the request is sent, and is answered and imported from now on.
    package func transfers() { state.withLock { $0.isTransferring = true } }

    /// Notes that the request waits from now on.
    package func waits() { change { $0.isTransferring = false } }

    /// Ends the current wait and the following ones.
    package func endWaits() { change { $0.endsWaits = true } }

    private func change(_ body: (inout State) -> Void) {
        let ends = state.withLock { state in
            body(&state)
            guard state.endsWaits, !state.isTransferring, !state.hasEnded else { return false }
            state.hasEnded = true
            return true
        }
        if ends { cancel.withLock(\.self)?() }
    }
}
