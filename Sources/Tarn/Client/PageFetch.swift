// The fetch of a page: its request is under way until the scan takes the response.

import Synchronization
import TarnHTTP
import TarnStore

struct PageFetch {
    let page: PageRequest
    let key: RequestKey
    /// The stored entry of the request; nil if it is sent without a condition.
    let stored: ResponseEntry?
    /// The message that was sent, before credentials were added.
    let message: TransportRequest
    private let task: Task<Result<TransportResponse, TransportError>, Never>
    private let arrival = Arrival()

    /// Whether the response has arrived, or the request has failed.
    private final class Arrival: Sendable {
        let hasArrived = Atomic(false)
    }

    /// Sends a request for a page, with the validators of its stored response.
    ///
    /// - Parameters:
    ///   - message: the message for the page, without conditions and credentials.
    ///   - arrivals: the signal of the response; nil for none.
    init(
        _ page: PageRequest, _ message: TransportRequest, _ client: APIClient, key: RequestKey,
        revalidating stored: ResponseEntry?, over transport: RetryingTransport, arrivals: Arrivals? = nil
    ) {
        self.page = page
        self.stored = stored
        self.key = key
        var message = message
        if let stored { Validators(TransportHeaders(flat: stored.validation.headers)).apply(to: &message) }
        self.message = message
        task = Task { [message, arrival] in
            await client.pause()
            let result: Result<TransportResponse, TransportError>
            do throws(TransportError) { result = .success(try await transport.send(message)) } catch {
                result = .failure(error)
            }
            await client.pause()
            arrival.hasArrived.store(true, ordering: .releasing)
            arrivals?.signal()
            return result
        }
    }

    /// The URL as errors and progress show it.
    var shownURL: String { Redaction.shown(message.url) }

    /// Whether ``answer()`` returns without a wait.
    var hasArrived: Bool { arrival.hasArrived.load(ordering: .acquiring) }

    /// Ends the transfer.
    func cancel() { task.cancel() }

    /// Waits for the response. Cancelling the waiting task cancels the transfer.
    func answer() async throws(TransportError) -> TransportResponse {
        try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }
}
