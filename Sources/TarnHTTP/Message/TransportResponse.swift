/// An HTTP response.
public struct TransportResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The header fields as received, in order.
    public var headers: TransportHeaders
    /// The complete body, without content codings.
    public var body: [UInt8]
    /// The URL after redirects, to which relative links are relative; nil without redirects.
    public var redirectedTo: String?
    /// Whether nothing but the end of the connection shows the end of the body, and nothing shows
    /// that the server has ended it.
    package var hasUnknownEnd = false
    /// Whether the request was answered later, at ``redirectedTo``, and its URL began the work.
    package var cameLater = false
    /// Whether the server has carried out the request, and this is what it leads to (303).
    var isBehindEffect = false
    /// The body without secrets, of a success that repeats one; see ``shownBody``.
    var concealed: [UInt8]?
    /// The secrets of the request, if the body or a header field repeats one; otherwise nil.
    package var secrets: KnownSecrets?

    /// The number of renewals of the credentials that the request had; nil without credentials.
    var generation: Int?

    /// Creates a response.
    public init(
        status: Int, headers: TransportHeaders = TransportHeaders(), body: [UInt8] = [], redirectedTo: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.redirectedTo = redirectedTo
    }

    /// The body for messages: without the secrets that records may repeat.
    package var shownBody: [UInt8] { concealed ?? body }
}
