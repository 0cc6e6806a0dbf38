/// Signs requests by an algorithm of the user's own. Two are equal if their names are.
public struct RequestSigner: Sendable, Hashable {
    /// Names the account too: what is stored for one is not served to another.
    public var name: String
    /// Returns the request with whatever proves who sends it. Called for every try. What it throws fails the request; its text is shown, so
    /// it must not hold a secret.
    public var sign: @Sendable (HTTPRequest) async throws -> HTTPRequest

    public init(name: String, sign: @escaping @Sendable (HTTPRequest) async throws -> HTTPRequest) {
        self.name = name
        self.sign = sign
    }

    public static func == (a: RequestSigner, b: RequestSigner) -> Bool { a.name == b.name }
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
