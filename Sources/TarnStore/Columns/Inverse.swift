/// A relationship that the other side stores, as a property of a typed record.
///
/// It has no value in a struct. It is a name for queries: `include(\.issues)`, `$0.issues`, and the
/// inverse of the relationship that is stored.
///
/// ```swift
/// @Record struct User {
///     @Key var id: Int64
///     var issues = Inverse<Issue>()
/// }
/// ```
///
/// `Target` is a record type. It is not required here, since the two records name each other.
public struct Inverse<Target>: Sendable, Hashable {
    /// Creates the name of a relationship that the other side stores.
    @inlinable
    public init() {}
}
