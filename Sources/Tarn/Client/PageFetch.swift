// The fetch of a page: its request is under way until the scan takes the response.

import TarnHTTP
import TarnStore

struct PageFetch {
    let request: PageRequest
    let key: RequestKey
    /// The stored entry of the request; nil if it is sent without a condition.
    let stored: ResponseEntry?
    /// The URL as errors and progress show it.
    let shownURL: String
    let task: Task<Result<TransportResponse, TransportError>, Never>

    init(
        _ request: PageRequest, key: RequestKey, stored: ResponseEntry?, shownURL: String,
        sending sent: TransportRequest,
        over transport: RetryingTransport, pausing pause: @escaping @Sendable () async -> Void
    ) {
        self.request = request
        self.key = key
        self.stored = stored
        self.shownURL = shownURL
        task = Task {
            await pause()
            let result: Result<TransportResponse, TransportError>
            do throws(TransportError) { result = .success(try await transport.send(sent)) } catch {
                result = .failure(error)
            }
            await pause()
            return result
        }
    }

    /// Waits for the response. Cancelling the waiting task cancels the transfer.
    func answer() async throws(TransportError) -> TransportResponse {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
