/// The request for a page.
public struct PageRequest: Sendable, Hashable {
    /// The absolute URL.
    public var url: String
    /// The body; nil for a request without one.
    public var body: TransportBody?

    /// Creates a request.
    public init(url: String, body: TransportBody? = nil) {
        self.url = url
        self.body = body
    }
}
