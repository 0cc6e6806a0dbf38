// The cancellation of a request that has no task.

import Locking

/// The handle of a request that was started by a ``DirectTransport``.
package final class DirectTransfer: Sendable {
    /// The function that is called with the outcome of a request.
    package typealias Completion = @Sendable (Result<TransportResponse, TransportError>) -> Void

    private struct State {
        var isCancelled = false
        var cancel: (@Sendable () -> Void)?
        /// The number of the current step of the request.
        var step = 0
    }

    private let state = Guarded(State())

    package init() {}

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the request, unless it is complete. Its completion is called in either case.
    package func cancel() {
        let cancel = state.withLock { state in
            state.isCancelled = true
            return state.cancel
        }
        cancel?()
    }

    /// Sets the function that cancels the current step of the request, in place of the one before.
    ///
    /// It is called at once if the request is already cancelled.
    package func onCancel(_ cancel: @escaping @Sendable () -> Void) { onCancel(of: begin(), cancel) }

    /// Begins the next step of the request, whose function is set later.
    func begin() -> Int {
        state.withLock { state in
            state.step += 1
            return state.step
        }
    }

    /// Sets the function that cancels a step of the request, unless a later one has begun.
    func onCancel(of step: Int, _ cancel: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            guard state.step == step else { return false }
            state.cancel = cancel
            return state.isCancelled
        }
        if isCancelled { cancel() }
    }

    /// Continues the request in a task: after a redirect, or before a retry.
    package func resume(
        _ completion: @escaping Completion,
        with send: @escaping @Sendable () async throws(TransportError) -> TransportResponse
    ) {
        // Before the task: it may end, and the next step begin, before its function is set.
        let step = begin()
        let task = Task {
            do throws(TransportError) { completion(.success(try await send())) } catch { completion(.failure(error)) }
        }
        onCancel(of: step) { task.cancel() }
    }
}
