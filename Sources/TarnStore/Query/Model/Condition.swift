// What a record has to meet to be in the result of a query.

/// A condition on a record. It is met or not; there is no third answer:
///
/// - A value that is absent or null is *missing*. It is equal to nothing but `.null`, and less or greater than nothing: `lessOrEqual`
///   and `greaterOrEqual` with `.null` find it, and `between` does not unless both bounds are `.null`.
/// - `notEqual` and `not` hold exactly where `equal` and the negated condition do not: also where the value is missing.
///
/// A value is compared by the type of its field: numbers by value, text by its UTF-8 bytes, dates by time, booleans false
/// before true, UUIDs and bytes by their bytes. A value of another type that says the same is converted (`"2026-01-02"` for a
/// date, `1` for a double, a text for an enumeration or a UUID, a key's components for a relationship); one that cannot be is the
/// error `wrongType`. A list has elements and no order: ask what it contains, or whether it is missing; an empty list of scalars
/// is a value, one of references is missing.
public indirect enum Condition: Sendable, Hashable {
    /// Every record.
    case all
    case compare(FieldPath, Comparison, Value)
    /// Equal to one of the values.
    case isIn(FieldPath, [Value])
    /// Not less than the first value and not greater than the second.
    case between(FieldPath, Value, Value)
    /// A text that begins with this one.
    case hasPrefix(FieldPath, String)
    /// A text in which this one stands; a list that has this element; a to-many relationship that leads to this key.
    case contains(FieldPath, Value)
    /// A text that is like a pattern: `%` stands for any characters, `_` for one (a Unicode scalar; one of the folded text where
    /// case does not count), `\` takes the meaning of the next.
    case like(FieldPath, String)
    /// Absent or null. Of a relationship: that there is no reference; of a to-many one, that there is none in the list.
    case isMissing(FieldPath)
    case and([Condition])
    case or([Condition])
    case not(Condition)

    public typealias Comparison = IndexCondition.Comparison
}
