import CCrypto
import CCurl
import Foundation

/// A queued request and its completion handler. A class, so that queues move a reference.
final class CurlSubmission: Sendable {
    let request: TransportRequest
    let url: HTTPURL
    /// The origin of the URL.
    let origin: String
    let options: CurlTransport.Options
    let timeout: Duration
    let ticket: CurlTicket
    let receiver: Receiver

    /// Whether the options of the request differ only in its URL, its header fields and its timeout
    /// from those of others.
    var isPlain: Bool { request.method == "GET" && request.body == nil }

    /// The functions that are called with the responses.
    struct Receiver: Sendable {
        /// The handler of interim responses.
        var interim: (@Sendable (InterimResponse) -> Void)?
        /// The completion handler, called exactly once.
        var completion: @Sendable (Result<CurlAnswer, CurlFailure>) -> Void
    }

    init(
        request: TransportRequest, url: HTTPURL, options: CurlTransport.Options, timeout: Duration, ticket: CurlTicket,
        receiver: Receiver
    ) {
        self.request = request
        self.url = url
        origin = url.origin
        self.options = options
        self.timeout = timeout
        self.ticket = ticket
        self.receiver = receiver
    }
}
