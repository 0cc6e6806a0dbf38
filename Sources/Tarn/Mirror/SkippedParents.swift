// Records that an endpoint was not walked for.

/// Records of a `for_each` for which nothing was requested: they lack a value that the path or the body needs.
public struct SkippedParents: Sendable, Hashable {
    public var entity: String
    /// The value's name in the path or the body, as `repository.owner.login`.
    public var name: String
    public var count: Int
    /// The key of the first of these records.
    public var first: String

    public init(entity: String, name: String, count: Int, first: String) {
        self.entity = entity
        self.name = name
        self.count = count
        self.first = first
    }
}
