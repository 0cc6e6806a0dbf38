// Parents that an endpoint was not scanned for.

/// Records of a `for_each` that were not requested: they lack a value for the path or the body.
package struct SkippedParents: Sendable, Hashable {
    /// The entity of the records.
    package var entity: String
    /// The name of the missing value in the path or the body, such as `repository.owner.login`.
    package var name: String
    /// The number of records that lack the value.
    package var count: Int
    /// The key of the first of these records.
    package var first: String

    /// Creates the count of records that lack a value.
    package init(entity: String, name: String, count: Int, first: String) {
        self.entity = entity
        self.name = name
        self.count = count
        self.first = first
    }
}
