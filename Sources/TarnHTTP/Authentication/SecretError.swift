/// Why a secret is not to be had. Says where it should be, and never what it is.
public struct SecretError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where the secret should be.
    public var source: SecretSource
    /// Why it is not to be had from there.
    public var reason: String

    public init(_ source: SecretSource, _ reason: String) {
        self.source = source
        self.reason = reason
    }

    public var description: String { "\(source.place), which holds a secret of this API, \(reason)" }
}
