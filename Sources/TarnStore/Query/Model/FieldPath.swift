// Paths of fields: a field of the record, or one behind to-one relationships.

/// The name of a field, perhaps behind names of to-one relationships: `state`, `author.login`.
///
/// A relationship at the end denotes the key of its target; a to-many one, the keys of its targets.
/// If a relationship on the path is null, or its target is missing, the field is missing, too.
public struct FieldPath: Sendable, Hashable {
    /// The names of relationships in order, then of a field. Not empty.
    var names: [String]
    /// Whether texts that differ only in case are equal (``CaseFolding``).
    var ignoresCase: Bool

    /// Creates a path of names.
    public init(_ names: [String], ignoringCase: Bool = false) {
        self.names = names
        self.ignoresCase = ignoringCase
    }

    /// Creates a path from text.
    ///
    /// - Parameter path: names separated by dots.
    public init(_ path: String, ignoringCase: Bool = false) {
        self.init(
            path.split(separator: ".", omittingEmptySubsequences: false).map(String.init), ignoringCase: ignoringCase)
    }
}

extension FieldPath: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension FieldPath: CustomStringConvertible {
    public var description: String {
        let path = names.joined(separator: ".")
        return ignoresCase ? "nocase(\(path))" : path
    }
}
