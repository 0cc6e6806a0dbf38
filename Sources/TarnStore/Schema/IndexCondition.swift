/// A condition of a partial index: one attribute compared with a value.
///
/// A record is in the index if it meets all of its conditions. An absent attribute counts as null.
/// Null meets no comparison with a value except `!=`.
public struct IndexCondition: Sendable, Hashable {
    /// The comparison of the attribute with the value, as written in a description file.
    public enum Comparison: String, Sendable, Hashable, Codable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    /// The name of an attribute of the entity or an ancestor; not a list and not JSON.
    var attribute: String
    /// The comparison, with the attribute on its left.
    var comparison: Comparison
    /// The value, of the attribute's type; null only with `==` and `!=`.
    var value: Value

    /// Creates a condition.
    public init(_ attribute: String, _ comparison: Comparison, _ value: Value) {
        self.attribute = attribute
        self.comparison = comparison
        self.value = value
    }
}
