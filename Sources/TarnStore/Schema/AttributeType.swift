/// The type of an attribute's values.
public indirect enum AttributeType: Sendable, Hashable {
    /// True or false.
    case bool
    /// A signed 64-bit integer.
    case int
    /// An unsigned 64-bit integer.
    case uint
    /// An IEEE 754 double.
    case double
    /// A decimal number of any length, exact.
    case decimal
    /// A text.
    case string
    /// Bytes, in base64 in JSON.
    case bytes
    /// A point in time, in microseconds since 1970-01-01T00:00:00Z.
    case date
    /// A UUID.
    case uuid
    /// An absolute or relative URL, stored as its original text.
    case url
    /// Any JSON value, stored as compact JSON text.
    case json
    /// One of a fixed list of strings.
    case enumeration([String])
    /// A list of scalars of one type.
    case array(AttributeType)
}
