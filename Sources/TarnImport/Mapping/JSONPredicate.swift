/// A condition in code. Predicates of the same name are equal.
public struct JSONPredicate: Sendable, Hashable {
    private let named: NamedCode<@Sendable (JSONValue) -> Bool>

    /// Creates a predicate.
    ///
    /// - Parameter holds: a pure function.
    public init(_ name: String, _ holds: @escaping @Sendable (JSONValue) -> Bool) {
        named = NamedCode(name, holds)
    }

    /// The identity of the code in comparisons and in the mapping's fingerprint.
    package var name: String { named.name }

    func holds(_ json: JSONValue) -> Bool { named.code(json) }
}
