/// The forms of payloads.
///
/// Types whose values have one form share the checks, the comparison and the entries in indexes.
enum ValueForm: UInt8 {
    /// No payload.
    case null
    /// No payload: the tag is the value.
    case bool
    /// 1, 2, 4 or 8 bytes, two's complement.
    case integer
    /// 8 bytes: an integer above `Int64.max`.
    case largeInteger
    /// 8 bytes, two's complement.
    case fixedInteger
    /// 8 bytes, IEEE 754.
    case double
    /// A decimal in its canonical text.
    case decimal
    /// Any bytes.
    case bytes
    /// UTF-8.
    case text
    /// 16 bytes.
    case uuid
    /// Values, each after its length.
    case list
    /// A storage key, perhaps after a position.
    case reference
    /// Storage keys, each after its length.
    case references
    /// The name of a list in the table of edges.
    case edges
}
