// The fetch of a page: its request is under way until the scan takes the response.

import Locking
import Synchronization
import TarnHTTP
import TarnStore

final class PageFetch: Sendable {
    let page: PageRequest
    let key: RequestKey
    /// The stored entry of the request; nil if it is sent without a condition.
    let stored: ResponseEntry?
    /// The revision of the outbox before the request was sent.
    let outboxRevision: UInt64
    /// The last commit before the request was sent.
    let requestedAfter: UInt64
    /// The message that was sent, before credentials were added.
    let message: TransportRequest
    private let transfer = DirectTransfer()
    private let arrival: Arrival

    /// The response, or the failure, that the scan waits for.
    private final class Arrival: Sendable {
        private struct State {
            var result: Result<TransportResponse, TransportError>?
            var waiting: CheckedContinuation<Void, Never>?
        }

        private let state = Guarded(State())
        private let hasArrived = Atomic(false)
        private let arrivals: Arrivals?

        init(_ arrivals: Arrivals?) { self.arrivals = arrivals }

        var isOver: Bool { hasArrived.load(ordering: .acquiring) }

        var result: Result<TransportResponse, TransportError>? { state.withLock(\.result) }

        func deliver(_ result: Result<TransportResponse, TransportError>) {
            let waiting = state.withLock { state in
                state.result = result
                defer { state.waiting = nil }
                return state.waiting
            }
            hasArrived.store(true, ordering: .releasing)
            waiting?.resume()
            arrivals?.signal()
        }

        /// Waits for the result. One task may wait.
        func wait() async {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.result == nil { state.waiting = continuation }
                    return state.result != nil
                }
                if isOver { continuation.resume() }
            }
        }
    }

    /// Sends a request for a page, with the validators of its stored response.
    ///
    /// - Parameters:
    ///   - message: the message for the page, without conditions and credentials.
    ///   - arrivals: the signal of the response; nil for none.
    init(
        _ page: PageRequest, _ message: TransportRequest, _ client: APIClient, key: RequestKey,
        revalidating stored: ResponseEntry?, outboxRevision: UInt64, requestedAfter: UInt64,
        over transport: RetryingTransport, arrivals: Arrivals? = nil
    ) {
        self.outboxRevision = outboxRevision
        self.requestedAfter = requestedAfter
        self.page = page
        self.stored = stored
        self.key = key
        var message = message
        if let stored {
            let headers = TransportHeaders(flat: stored.validation.headers)
            let now = Int(stored.validation.validatedAt.microseconds / 1_000_000)
            Validators(headers).withoutWeakDate(of: headers, now: now).apply(to: &message)
        }
        self.message = message
        let arrival = Arrival(arrivals)
        self.arrival = arrival
        if !client.isInterleaved, transport.start(message, transfer, { arrival.deliver($0) }) { return }
        let task = Task { [message] in
            await client.pause()
            let result: Result<TransportResponse, TransportError>
            do throws(TransportError) { result = .success(try await transport.send(message)) } catch {
                result = .failure(error)
            }
            await client.pause()
            arrival.deliver(result)
        }
        transfer.onCancel { task.cancel() }
    }

    /// The URL as errors and progress show it.
    var shownURL: String { Redaction.shown(message.url) }

    /// Whether ``answer()`` returns without a wait.
    var hasArrived: Bool { arrival.isOver }

    /// Ends the transfer.
    func cancel() { transfer.cancel() }

    /// Waits for the response. Cancelling the waiting task cancels the transfer.
    func answer() async throws(TransportError) -> TransportResponse {
        while true {
            if let result = arrival.result { return try result.get() }
            await withTaskCancellationHandler {
                await arrival.wait()
            } onCancel: {
                transfer.cancel()
            }
        }
    }
}
