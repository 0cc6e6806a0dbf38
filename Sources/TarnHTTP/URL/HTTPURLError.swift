/// Why a text is not a URL that can be requested.
public struct HTTPURLError: Error, Sendable, Hashable, CustomStringConvertible {
    public var url: String
    public var reason: String

    public init(_ url: String, _ reason: String) {
        self.url = url
        self.reason = reason
    }

    public var description: String { "\(Redaction.url(url)): \(reason)" }
}
