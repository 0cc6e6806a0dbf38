/// A field of a record in a query, typed by its values.
///
/// A comparison with a value is a ``Condition``: `$0.number > 10`. An optional field compares with
/// nil, and with values.
public struct Column<Value: StoredValue>: Sendable {
    /// The field without the type.
    let field: QueryField

    /// Creates the column of a field of the record at a path.
    public init(_ path: ColumnPath, _ name: String) { field = path.field(name) }

    fileprivate init(_ field: QueryField) { self.field = field }

    /// The condition that the value is absent or null.
    public var isMissing: Condition { field.isMissing }

    /// Returns the condition that the value equals one of these.
    public func isIn(_ values: some Sequence<Value>) -> Condition { field.isIn(values) }

    /// Returns the condition that the value is not less than `low` and not greater than `high`.
    public func between(_ low: Value, _ high: Value) -> Condition { field.between(low, high) }

    /// Returns the condition that the value is in a range.
    public func isIn(_ range: Range<Value>) -> Condition where Value: Comparable {
        field >= range.lowerBound && field < range.upperBound
    }

    /// Returns the condition that the value is in a closed range.
    public func isIn(_ range: ClosedRange<Value>) -> Condition where Value: Comparable {
        field.between(range.lowerBound, range.upperBound)
    }

    // MARK: Comparisons

    /// Returns the condition that the value equals another. Only a missing value equals nil.
    ///
    /// Stored values are compared: JSON and URLs by their texts, and a default is not considered. A
    /// list is not compared: using such a query throws `StoreError.wrongType`.
    public static func == (column: Column, value: Value) -> Condition {
        let value = TarnStore.Value(value)
        return value == .null ? column.field.isMissing : .compare(column.field.path, .equal, value)
    }

    /// Returns the condition that the value does not equal another, or is missing.
    ///
    /// The condition `!= nil` holds for every value that is not missing.
    public static func != (column: Column, value: Value) -> Condition { !(column == value) }

    /// Returns the condition that the value is less than another.
    public static func < (column: Column, value: Value) -> Condition { column.field < value }

    /// Returns the condition that the value is less than or equal to another.
    public static func <= (column: Column, value: Value) -> Condition { column.field <= value }

    /// Returns the condition that the value is greater than another.
    public static func > (column: Column, value: Value) -> Condition { column.field > value }

    /// Returns the condition that the value is greater than or equal to another.
    public static func >= (column: Column, value: Value) -> Condition { column.field >= value }

    /// Returns the condition that the text begins with a prefix.
    public func hasPrefix(_ prefix: String) -> Condition where Value: TextValue { field.hasPrefix(prefix) }

    /// Returns the condition that the text has a part.
    public func contains(_ part: String) -> Condition where Value: TextValue { field.contains(part) }

    /// Returns the condition that the text matches a pattern.
    ///
    /// `%` matches any text, `_` one Unicode scalar; `\` escapes the next scalar.
    public func like(_ pattern: String) -> Condition where Value: TextValue { field.like(pattern) }

    /// Returns the condition that the list has an element.
    public func contains<Element: StoredValue>(_ element: Element) -> Condition where Value == [Element] {
        field.contains(element)
    }

    /// Returns the condition that the list has an element.
    public func contains<Element: StoredValue>(_ element: Element) -> Condition where Value == [Element]? {
        field.contains(element)
    }
}

extension Column where Value: TextValue {
    /// The column without regard to case: texts that differ only in case are equal.
    public var ignoringCase: Column { Column(field.ignoringCase) }
}

/// A value that is a text, which has prefixes, parts and case.
public protocol TextValue: StoredValue {}

extension String: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}
