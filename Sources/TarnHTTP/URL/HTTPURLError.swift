/// The reason why a text is not a URL that can be requested.
public struct HTTPURLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text.
    public var url: String
    /// The reason.
    public var reason: String

    /// Creates an error.
    public init(_ url: String, _ reason: String) {
        self.url = url
        self.reason = reason
    }

    public var description: String { "\(Redaction.url(url)): \(reason)" }
}
