internal import TarnStore

/// A condition in code. Predicates of the same name are equal.
public struct JSONPredicate: Sendable, Hashable {
    /// The identity of the code in comparisons and in the mapping's fingerprint.
    public let name: String
    let holds: @Sendable (JSONValue) -> Bool

    /// Creates a predicate.
    ///
    /// - Parameter holds: a pure function.
    public init(_ name: String, _ holds: @escaping @Sendable (JSONValue) -> Bool) {
        self.name = name
        self.holds = holds
    }

    public static func == (a: JSONPredicate, b: JSONPredicate) -> Bool { a.name == b.name }

    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
