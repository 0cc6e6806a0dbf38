/// An HTTP request.
public struct TransportRequest: Sendable, Hashable {
    /// The method, such as `GET`; case-sensitive (RFC 9110 §9.1).
    public var method: String
    /// The absolute `http` or `https` URL, percent-encoded.
    public var url: String
    /// The header fields, in addition to those of the transport.
    public var headers: TransportHeaders
    /// The body; nil for none, which differs from an empty body. ``headers`` has its type.
    public var body: [UInt8]?
    /// The servers to which redirects may lead, besides the request's own origin; nil for any.
    var redirects: RedirectScope?
    /// The limits of the response's body, in addition to the transport's; nil for none.
    package var responseLimits: ResponseLimits?
    /// Whether the request only reads, whatever its method: it may be sent twice.
    package var isRead = false
    /// The URL of the status monitor of an interrupted wait for the answer: it is asked instead.
    /// Nil for a new request.
    package var monitor: String?
    /// Whether a 303 is returned instead of being followed: the server has carried out the request,
    /// and only the resource that it names may be requested again.
    package var returnsSeeOther = false
    /// Whether every redirect is returned instead of being followed.
    var returnsRedirects = false
    /// The raw value of the priority among requests that wait to be sent.
    package var priority = TaskPriority.medium.rawValue

    /// Whether the response keeps its content codings, for a cache that removes them itself.
    ///
    /// A transport that removes codings checks then that it can, and passes the coded content on.
    package var keepsCoding = false

    /// Whether the request was sent before: it does not wait behind those that were not.
    var isRetry = false
    /// Whether the request is sent on a new connection: an earlier attempt had no whole response
    /// over one that was used before. The others may be as dead.
    var needsNewConnection = false

    /// The limits of a response's body, in bytes.
    package struct ResponseLimits: Sendable, Hashable {
        /// The maximum length, beyond which the body is an error; nil for the transport's limit.
        package var body: Int?
        /// The length after which the body of a status other than 2xx is cut off without an error.
        package var refusal: Int

        /// Creates limits.
        init(body: Int? = nil, refusal: Int) {
            self.body = body
            self.refusal = refusal
        }

        /// The limits of requests for records.
        ///
        /// The body of a refusal is cut off at the length that ``ResponseRule`` examines.
        package static let records = ResponseLimits(refusal: 64 << 10)
    }

    /// Creates a request; by default GET without a body.
    public init(
        method: String = "GET", url: String, headers: TransportHeaders = TransportHeaders(), body: [UInt8]? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
