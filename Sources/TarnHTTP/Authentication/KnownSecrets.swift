/// The secrets of a request whose response repeats one, for their removal from messages.
package struct KnownSecrets: Sendable, Hashable {
    private let scrubber: Scrubber

    init(_ scrubber: Scrubber) { self.scrubber = scrubber }

    /// Returns a message about the response with `***` in place of every secret.
    package func conceal(_ message: String) -> String { scrubber.message(message) }

    /// Returns a body or a field of the response for a file that others may read.
    func recorded(_ bytes: [UInt8]) -> [UInt8] { scrubber.recorded(bytes) }
}
