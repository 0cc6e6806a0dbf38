// The protocol of HTTP transports.

/// A sender of HTTP requests.
///
/// Implementations are `CurlTransport` (libcurl), `FixtureTransport` (recorded responses from
/// files), or the user's own.
public protocol Transport: Sendable {
    /// Sends a request and returns the complete response, regardless of its status.
    ///
    /// Cancelling the task ends the transfer and throws `.cancelled`.
    ///
    /// - Throws: `TransportError` if there is no complete response. An incomplete body is never a
    ///   success.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}
