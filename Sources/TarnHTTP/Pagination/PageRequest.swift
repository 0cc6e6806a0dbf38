/// The request for a page.
public struct PageRequest: Sendable, Hashable {
    /// Absolute.
    public var url: String
    /// Nil for a request without a body.
    public var body: RequestBody?

    public init(url: String, body: RequestBody? = nil) {
        self.url = url
        self.body = body
    }
}
