/// What a record has to meet to stand in a partial index: one attribute compared with a value. An absent attribute counts
/// as null. A comparison of a null with a value is never met, except `!=` (null is not equal to any value).
public struct IndexCondition: Sendable, Hashable {
    /// How the attribute has to compare with the value; the raw values are those of a description file.
    public enum Comparison: String, Sendable, Hashable, Codable, CaseIterable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }

    /// The name of an attribute of the entity, or of one that it descends from; not a list and not JSON.
    public var attribute: String
    /// The attribute stands on its left.
    public var comparison: Comparison
    /// Of the attribute's type; null only with `==` and `!=`.
    public var value: Value

    public init(_ attribute: String, _ comparison: Comparison, _ value: Value) {
        self.attribute = attribute
        self.comparison = comparison
        self.value = value
    }
}
