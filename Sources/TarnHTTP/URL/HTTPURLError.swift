/// The reason why a text is not a URL that can be requested.
package struct HTTPURLError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text.
    package var url: String
    /// The reason.
    package var reason: String

    /// Creates an error.
    package init(_ url: String, _ reason: String) {
        self.url = url
        self.reason = reason
    }

    package var description: String { "\(Redaction.url(url)): \(reason)" }
}
