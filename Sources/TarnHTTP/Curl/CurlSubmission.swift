import CCrypto
import CCurl
import Foundation

/// What is to be transferred, and who waits for it. A class, since it goes from queue to queue.
final class CurlSubmission: Sendable {
    let request: HTTPRequest
    let url: HTTPURL
    /// Of the URL.
    let origin: String
    let options: CurlTransport.Options
    let timeout: Duration
    let ticket: CurlTicket
    /// Told of interim responses.
    let interim: (@Sendable (InterimResponse) -> Void)?
    /// Called exactly once.
    let completion: @Sendable (Result<CurlAnswer, CurlFailure>) -> Void

    init(
        request: HTTPRequest, url: HTTPURL, options: CurlTransport.Options, timeout: Duration, ticket: CurlTicket,
        interim: (@Sendable (InterimResponse) -> Void)?, completion: @escaping @Sendable (Result<CurlAnswer, CurlFailure>) -> Void
    ) {
        self.request = request
        self.url = url
        origin = url.origin
        self.options = options
        self.timeout = timeout
        self.ticket = ticket
        self.interim = interim
        self.completion = completion
    }
}
