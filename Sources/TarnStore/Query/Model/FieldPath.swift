// Where a query finds a value: a field of the record, or one behind to-one relationships.

/// The name of a field, or names of to-one relationships and then of a field: `state`, `author.login`.
///
/// A relationship at the end stands for the key of the record that it leads to; for a to-many one, for their keys. A field
/// behind a relationship that is null, or that leads to a record that is missing, is missing as well.
public struct FieldPath: Sendable, Hashable {
    /// Relationships from the first on, and at last a field. Not empty.
    public var names: [String]
    /// Whether texts that differ only in case are the same (``CaseFolding``).
    public var ignoresCase: Bool

    public init(_ names: [String], ignoringCase: Bool = false) {
        self.names = names
        self.ignoresCase = ignoringCase
    }

    /// - Parameter path: names with a dot between them.
    public init(_ path: String, ignoringCase: Bool = false) {
        self.init(path.split(separator: ".", omittingEmptySubsequences: false).map(String.init), ignoringCase: ignoringCase)
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
