// The conditions of queries.

/// A condition on a record. A record meets it or not; there is no third truth value.
///
/// - A value that is absent or null is *missing*. It equals nothing but `.null`, and it is neither
///   less nor greater than anything. `lessOrEqual` and `greaterOrEqual` with `.null` find it;
///   `between` does not, unless both bounds are `.null`.
/// - `notEqual` and `not` hold exactly where `equal` and the negated condition do not, so also
///   where the value is missing.
///
/// The type of the field determines the comparison: numbers by value, text by its UTF-8 bytes,
/// dates by time, booleans false before true, UUIDs and bytes by their bytes. A value of another
/// type with the same meaning is converted (`"2026-01-02"` for a date, `1` for a double, a text for
/// an enumeration or a UUID, a key's components for a relationship). If it cannot be converted, the
/// error is `wrongType`. A list has elements and no order: conditions test its elements, or that it
/// is missing. An empty list of scalars is a value; an empty list of references is missing.
public indirect enum Condition: Sendable, Hashable {
    /// The condition that every record meets.
    case all
    /// The value compares so with another one.
    case compare(FieldPath, Comparison, Value)
    /// The value equals one of these.
    case isIn(FieldPath, [Value])
    /// The value is not less than the first and not greater than the second.
    case between(FieldPath, Value, Value)
    /// The text begins with this prefix.
    case hasPrefix(FieldPath, String)
    /// The text has this part, the list this element, or the to-many relationship this target.
    case contains(FieldPath, Value)
    /// Any text field of the record has this part: an attribute, or an element of a list of texts.
    ///
    /// The fields are those of the record's kind; fields behind relationships do not count. It
    /// reads every record.
    case anyContains(String, ignoringCase: Bool)
    /// The text matches a pattern: `%` is any text, `_` one Unicode scalar, `\` escapes the next.
    ///
    /// Without regard to case, `_` matches one scalar of the folded text.
    case like(FieldPath, String)
    /// The value is absent or null.
    ///
    /// A to-one relationship is missing without a reference, a to-many one without targets.
    case isMissing(FieldPath)
    /// All of these hold.
    case and([Condition])
    /// At least one of these holds.
    case or([Condition])
    /// This does not hold.
    case not(Condition)

    /// The comparison operators of ``compare(_:_:_:)``.
    public typealias Comparison = IndexCondition.Comparison
}
