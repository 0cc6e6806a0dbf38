extension RetryingTransport {
    /// Sends a request until an outcome is final, as ``send(_:)`` does.
    ///
    /// The task is suspended once, and not by each transport of the chain in turn. Cancelling it
    /// cancels the transfer.
    package func sendDirectly(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        let transfer = DirectTransfer()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation {
                (continuation: CheckedContinuation<Result<TransportResponse, TransportError>?, Never>) in
                if !start(request, transfer, { continuation.resume(returning: $0) }) {
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            transfer.cancel()
        }
        guard let result else { return try await send(request) }
        return try result.get()
    }
}
