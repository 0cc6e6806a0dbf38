// A page that is asked for: its request is under way, and its answer is taken when its turn has come.

import TarnHTTP
import TarnStore

struct PageFetch {
    let request: PageRequest
    let key: RequestKey
    /// The entry of its last answer.
    let stored: ResponseEntry?
    /// As it is named in errors and progress.
    let shownURL: String
    let task: Task<Result<HTTPResponse, TransportError>, Never>

    init(
        _ request: PageRequest, key: RequestKey, stored: ResponseEntry?, shownURL: String, sending sent: HTTPRequest,
        over transport: RetryingTransport, pausing pause: @escaping @Sendable () async -> Void
    ) {
        self.request = request
        self.key = key
        self.stored = stored
        self.shownURL = shownURL
        task = Task {
            await pause()
            let result: Result<HTTPResponse, TransportError>
            do throws(TransportError) { result = .success(try await transport.send(sent)) } catch { result = .failure(error) }
            await pause()
            return result
        }
    }

    /// Waits for the answer; gives up the transfer if the waiting task is cancelled.
    func answer() async throws(TransportError) -> HTTPResponse {
        try await withTaskCancellationHandler { await task.value } onCancel: { task.cancel() }.get()
    }
}
