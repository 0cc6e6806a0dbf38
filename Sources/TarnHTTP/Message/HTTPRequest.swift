/// What is asked of a server.
public struct HTTPRequest: Sendable, Hashable {
    /// Such as `GET`; case counts (RFC 9110 §9.1).
    public var method: String
    /// Absolute, `http` or `https`, already percent-encoded.
    public var url: String
    /// Beside those that the transport adds.
    public var headers: HTTPHeaders
    /// What is sent along; its type is in ``headers``. Nil for nothing, which is not the same as nothing of length 0.
    public var body: [UInt8]?
    /// Where redirects may lead, beside the request's own origin; nil for anywhere.
    public var redirects: RedirectScope?
    /// How much of the answer's body is read, beside the limits of the transport; nil for all of it.
    package var responseLimits: ResponseLimits?

    /// How much of a body is of use.
    package struct ResponseLimits: Sendable, Hashable {
        /// A longer body is an error; nil for the transport's limit.
        package var body: Int?
        /// Of a body that comes with another status than 2xx, what is beyond is not read, and no error.
        package var refusal: Int

        package init(body: Int? = nil, refusal: Int) {
            self.body = body
            self.refusal = refusal
        }

        /// For requests of which only the records of a success are of use: of a refusal, as much as ``ResponseRule`` looks at.
        package static let records = ResponseLimits(refusal: 64 << 10)
    }

    /// A request; GET without a body if nothing else is said.
    public init(method: String = "GET", url: String, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8]? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
