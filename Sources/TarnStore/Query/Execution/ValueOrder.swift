internal import Glibc

/// The comparison that a field's values need: one case for each order.
enum ValueOrder: UInt8 {
    /// Integers of both kinds, and dates.
    case integer
    case double
    case decimal
    case bool
    /// Text, bytes, UUIDs: by their bytes.
    case bytes
    /// Text with its case folded.
    case foldedText
    /// The storage key of a reference.
    case reference

    init(_ type: AttributeType, folded: Bool) {
        switch type {
        case .int, .uint, .date: self = .integer
        case .double: self = .double
        case .decimal: self = .decimal
        case .bool: self = .bool
        case .bytes, .uuid: self = .bytes
        case .string, .url, .json, .enumeration, .array: self = folded ? .foldedText : .bytes
        }
    }
}
