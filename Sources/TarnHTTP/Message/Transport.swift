// What carries a request to a server and its response back.

/// Carries one request to its response. Implementations are `CurlTransport` (libcurl), `FixtureTransport` (recorded
/// responses from files), or the user's own.
public protocol Transport: Sendable {
    /// Sends the request and returns the complete response, whatever its status.
    ///
    /// - Throws: `TransportError` if there is no complete response: a body that was cut short is never success.
    ///   Cancelling the task ends the transfer and throws `.cancelled`.
    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse
}
