import Foundation

/// The reason why there is no response.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure.
    public enum Kind: String, Sendable, Hashable {
        /// The URL cannot be requested.
        case url
        /// The host name has no address.
        case resolve
        /// The connection to the host failed, or broke off within the TLS handshake.
        case connect
        /// TLS failed: an untrusted certificate, also the one of this client, or no common version.
        case tls
        /// A time limit expired: for the connection, for inactivity or for the whole transfer.
        case timeout
        /// The body is larger than the limit.
        case tooLarge
        /// The connection ended before the body was complete (length or chunk mismatch).
        case cutShort
        /// The server violates HTTP, or the token endpoint fails (5xx).
        case `protocol`
        /// The task was cancelled.
        case cancelled
        /// The server's rate limit is exhausted for longer than the request may wait.
        case rateLimit
        /// There are no credentials: a secret is missing, or the token endpoint refuses them.
        case credentials
        /// There is no recording of the response.
        case noFixture
        /// The store of a cache cannot be read or written.
        case store
        /// This process has no file descriptor or no thread left. The request was not sent.
        case resources
    }

    /// The kind of the failure.
    public var kind: Kind
    /// The method of the request.
    public var method: String
    /// The requested URL, with its secrets; ``description`` redacts it.
    public var url: String
    /// The message of the lower layer.
    public var detail: String
    /// Whether the server has answered with a redirect that is not followed: the same request fails
    /// again.
    package var isRefusedRedirect = false
    /// Whether another attempt must not follow: the failure is that of the credentials, whose
    /// requests are retried by themselves.
    package var isFinal = false
    /// Whether the server has carried out the request, and what it leads to (303) has failed: a
    /// second attempt could have a second effect.
    var isBehindEffect = false
    /// The end of the wait for a used-up rate limit; nil for other failures.
    package var until: Date?

    /// The status and the header fields of a complete answer whose body cannot be used: its coding
    /// is unknown or damaged, or it is too large. Nil for other failures.
    ///
    /// The server has processed the request.
    package var answer: TransportResponse?
    /// Whether a connection that was used before has ended without a response: a server also ends
    /// the unused ones, and may have received the request or not.
    package var isUnanswered = false
    /// Whether the failure may be that of a connection that was used before, and that the network
    /// has lost since: the unused ones may be as dead.
    var isOfUsedConnection = false

    /// Creates a failure of one request.
    public init(_ kind: Kind, method: String, url: String, detail: String) {
        self.kind = kind
        self.method = method
        self.url = url
        self.detail = detail
    }

    /// One line, without the secrets of the URL.
    public var description: String { "\(method) \(Redaction.shown(url)): \(detail.excerpt)".singleLine }

    /// Whether the server was not reached: the device may be offline.
    package var isUnreachable: Bool { kind == .resolve || kind == .connect }
}
