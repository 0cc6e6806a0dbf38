/// A field in a condition. Its comparison with a value is a ``Condition``: `$0[.number] > 10`.
public struct QueryField: Sendable, Hashable {
    /// The path of the field.
    package var path: FieldPath

    /// Creates the field at a path.
    init(_ path: FieldPath) { self.path = path }

    /// The field without regard to case: texts that differ only in case are equal.
    public var ignoringCase: QueryField {
        var field = self
        field.path.ignoresCase = true
        return field
    }

    /// The condition that the value is absent or null.
    public var isMissing: Condition { .isMissing(path) }

    /// Returns the condition that the value equals one of these.
    public func isIn<Value: StoredValue>(_ values: some Sequence<Value>) -> Condition {
        .isIn(path, values.map { TarnStore.Value($0) })
    }

    /// Returns the condition that the value is not less than `low` and not greater than `high`.
    public func between<Value: StoredValue>(_ low: Value, _ high: Value) -> Condition {
        .between(path, TarnStore.Value(low), TarnStore.Value(high))
    }

    /// Returns the condition that the text begins with a prefix.
    public func hasPrefix(_ prefix: String) -> Condition { .hasPrefix(path, prefix) }

    /// Returns the condition that the value contains another.
    ///
    /// A text contains a part, a list an element, and a to-many relationship the key of a target.
    public func contains<Value: StoredValue>(_ value: Value) -> Condition { .contains(path, TarnStore.Value(value)) }

    /// Returns the condition that the text matches a pattern.
    ///
    /// `%` matches any text, `_` one Unicode scalar; `\` escapes the next scalar.
    public func like(_ pattern: String) -> Condition { .like(path, pattern) }

    // Comparisons with missing values follow the rules of `Condition`.

    /// Returns the condition that the value equals another.
    public static func == <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.equal, value)
    }
    /// Returns the condition that the value does not equal another, or is missing.
    public static func != <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.notEqual, value)
    }
    /// Returns the condition that the value is less than another.
    public static func < <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.less, value)
    }
    /// Returns the condition that the value is less than or equal to another.
    public static func <= <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.lessOrEqual, value)
    }
    /// Returns the condition that the value is greater than another.
    public static func > <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.greater, value)
    }
    /// Returns the condition that the value is greater than or equal to another.
    public static func >= <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.greaterOrEqual, value)
    }

    /// Returns the condition that the value is in a closed range: `10...20 ~= $0[.number]`.
    public static func ~= <Value: StoredValue>(range: ClosedRange<Value>, field: QueryField) -> Condition {
        field.between(range.lowerBound, range.upperBound)
    }

    /// Returns the condition that the value is in a range: `10..<20 ~= $0[.number]`.
    public static func ~= <Value: StoredValue>(range: Range<Value>, field: QueryField) -> Condition {
        field >= range.lowerBound && field < range.upperBound
    }

    private func compared<Value: StoredValue>(_ comparison: Condition.Comparison, _ value: Value) -> Condition {
        .compare(path, comparison, TarnStore.Value(value))
    }
}
