/// What an attribute's values are.
public indirect enum AttributeType: Sendable, Hashable {
    case bool
    /// A signed 64-bit integer.
    case int
    /// An unsigned 64-bit integer.
    case uint
    /// An IEEE 754 double.
    case double
    /// A decimal number of any length, exact.
    case decimal
    case string
    /// Bytes; in JSON as base64.
    case bytes
    /// A point in time, in microseconds since 1970-01-01T00:00:00Z.
    case date
    case uuid
    /// An absolute or relative URL, kept as the text that came.
    case url
    /// Any JSON value, kept as compact JSON text.
    case json
    /// One of a fixed list of strings.
    case enumeration([String])
    /// A list of scalars of one type.
    case array(AttributeType)
}
