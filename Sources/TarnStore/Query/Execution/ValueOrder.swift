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

    /// The order of a type's values; folded if case is ignored, which only texts permit.
    init(_ type: AttributeType, folded: Bool) { self = folded ? .foldedText : type.descriptor.order }
}
