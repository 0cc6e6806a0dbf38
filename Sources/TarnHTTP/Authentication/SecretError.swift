/// The reason why a secret cannot be read. It names the source, never the secret.
public struct SecretError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The source of the secret.
    package var source: SecretSource
    /// The reason, as the predicate of a sentence about the source: `does not exist`.
    package var reason: String

    /// Creates an error.
    init(_ source: SecretSource, _ reason: String) {
        self.source = source
        self.reason = reason
    }

    public var description: String {
        if case .login(let place) = source { return "\(reason): sign in with `\(place.command)`" }
        return "\(source.place) \(reason); it must provide a secret of this API"
    }
}
