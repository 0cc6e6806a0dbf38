// Requests without a task of their own: started by a call, completed by a closure.

/// A transport that can start a request without suspending a task.
///
/// A scan has many small requests. A task for each of them, with its switches between threads,
/// costs more than the transfer.
protocol DirectTransport: Transport {
    /// Starts a request, with the effects of ``Transport/send(_:)``.
    ///
    /// - Parameters:
    ///   - transfer: the handle that cancels the request.
    ///   - completion: called exactly once, on any thread, unless false is returned. It must not
    ///     block.
    /// - Returns: false if only ``Transport/send(_:)`` can send the request: it is not started.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool
}
