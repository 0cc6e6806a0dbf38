/// What a server answered.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// As they were received, in order.
    public var headers: HTTPHeaders
    /// The complete body, content codings removed.
    public var body: [UInt8]
    /// The URL that answered, if redirects led away from the requested one; what relative links are relative to.
    public var redirectedTo: String?

    /// A response.
    public init(
        status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = [], redirectedTo: String? = nil
    ) {
        self.status = status
        self.headers = headers
        self.body = body
        self.redirectedTo = redirectedTo
    }
}
