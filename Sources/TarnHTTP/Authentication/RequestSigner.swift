/// A custom signature algorithm for requests. Two signers are equal if their names are equal.
public struct RequestSigner: Sendable, Hashable {
    /// The name of the algorithm and of the account.
    ///
    /// Stored data of one account is not served to another.
    package var name: String
    /// Returns the request with its signature. Called for every attempt.
    ///
    /// An error fails the request. Its text is shown, so it must not hold a secret.
    var sign: @Sendable (TransportRequest) async throws -> TransportRequest

    /// Creates a signer.
    public init(name: String, sign: @escaping @Sendable (TransportRequest) async throws -> TransportRequest) {
        self.name = name
        self.sign = sign
    }

    public static func == (a: RequestSigner, b: RequestSigner) -> Bool { a.name == b.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
