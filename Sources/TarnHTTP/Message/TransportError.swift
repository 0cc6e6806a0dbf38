/// Why there is no response.
public struct TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of failure it is.
    public enum Kind: String, Sendable, Hashable {
        /// The URL is not one that can be requested.
        case url
        /// The host's name has no address.
        case resolve
        /// No connection to the host.
        case connect
        /// No TLS session: a certificate that is not trusted, or no common version.
        case tls
        /// It took longer than allowed: to connect, without a byte, or altogether.
        case timeout
        /// The body is larger than the limit.
        case tooLarge
        /// The connection ended before the whole body was there (length or chunk mismatch).
        case cutShort
        /// The server does not speak HTTP as it should.
        case `protocol`
        /// The task was cancelled.
        case cancelled
        /// The server's limit is used up for longer than the request may wait.
        case rateLimit
        /// There are no credentials for the request: a secret is not there, or the server of tokens refuses.
        case credentials
        /// A fixture transport has no such response.
        case noFixture
        /// The store of a cache cannot be read or written.
        case store
    }

    /// What kind of failure it is.
    public var kind: Kind
    /// Of the request.
    public var method: String
    /// Of the request, as it was asked for; see ``description`` for what may be shown.
    public var url: String
    /// What the lower layer said.
    public var detail: String

    /// A failure of one request.
    public init(_ kind: Kind, method: String, url: String, detail: String) {
        self.kind = kind
        self.method = method
        self.url = url
        self.detail = detail
    }

    /// One line; secrets in the URL are not shown.
    public var description: String { "\(method) \(Redaction.shown(url)): \(detail.excerpt)" }

    /// Whether nothing of the server was reached: the answer to "are we off line?".
    public var isUnreachable: Bool { kind == .resolve || kind == .connect }
}
