/// A field in a condition. Compared with a value, it is one: `$0[.number] > 10`.
public struct QueryField: Sendable, Hashable {
    public var path: FieldPath

    public init(_ path: FieldPath) { self.path = path }

    /// The same field; texts that differ only in case are the same.
    public var ignoringCase: QueryField {
        var field = self
        field.path.ignoresCase = true
        return field
    }

    /// Absent or null.
    public var isMissing: Condition { .isMissing(path) }

    /// Equal to one of the values.
    public func isIn<Value: StoredValue>(_ values: some Sequence<Value>) -> Condition {
        .isIn(path, values.map { TarnStore.Value($0) })
    }

    /// Not less than the first value and not greater than the second.
    public func between<Value: StoredValue>(_ low: Value, _ high: Value) -> Condition {
        .between(path, TarnStore.Value(low), TarnStore.Value(high))
    }

    /// A text that begins with this one.
    public func hasPrefix(_ prefix: String) -> Condition { .hasPrefix(path, prefix) }

    /// A text in which this one stands; a list that has this element; a to-many relationship that leads to this key.
    public func contains<Value: StoredValue>(_ value: Value) -> Condition { .contains(path, TarnStore.Value(value)) }

    /// A text that is like a pattern: `%` stands for any characters, `_` for one, `\` takes the meaning of the next.
    public func like(_ pattern: String) -> Condition { .like(path, pattern) }

    // A comparison with a value is the condition of that name: see ``Condition``.

    public static func == <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.equal, value) }
    public static func != <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.notEqual, value) }
    public static func < <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.less, value) }
    public static func <= <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.lessOrEqual, value) }
    public static func > <Value: StoredValue>(field: QueryField, value: Value) -> Condition { field.compared(.greater, value) }
    public static func >= <Value: StoredValue>(field: QueryField, value: Value) -> Condition {
        field.compared(.greaterOrEqual, value)
    }

    /// `10...20 ~= $0[.number]`
    public static func ~= <Value: StoredValue>(range: ClosedRange<Value>, field: QueryField) -> Condition {
        field.between(range.lowerBound, range.upperBound)
    }

    /// `10..<20 ~= $0[.number]`
    public static func ~= <Value: StoredValue>(range: Range<Value>, field: QueryField) -> Condition {
        field >= range.lowerBound && field < range.upperBound
    }

    private func compared<Value: StoredValue>(_ comparison: Condition.Comparison, _ value: Value) -> Condition {
        .compare(path, comparison, TarnStore.Value(value))
    }
}
