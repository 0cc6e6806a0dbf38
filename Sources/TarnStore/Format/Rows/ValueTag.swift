/// The tags: the first byte of a value selects the form of its payload.
@usableFromInline
package enum ValueTag {
    @inlinable static var null: UInt8 { 0 }
    static let `false`: UInt8 = 1
    static let `true`: UInt8 = 2
    /// 1, 2, 4 or 8 bytes, two's complement.
    @inlinable static var int: UInt8 { 3 }
    /// 8 bytes; only for values above `Int64.max`.
    static let uint: UInt8 = 4
    /// 8 bytes, IEEE 754.
    static let double: UInt8 = 5
    /// A decimal in its canonical text (`ExactDecimal.description`), ASCII.
    static let decimal: UInt8 = 6
    /// UTF-8. Also used for enumerations.
    package static let string: UInt8 = 7
    /// Raw bytes.
    package static let bytes: UInt8 = 8
    /// 8 bytes: microseconds since 1970-01-01T00:00:00Z, two's complement.
    static let date: UInt8 = 9
    /// 16 bytes.
    package static let uuid: UInt8 = 10
    /// UTF-8.
    package static let url: UInt8 = 11
    /// Compact JSON text, UTF-8.
    package static let json: UInt8 = 12
    /// For each element: u32 length, value (a tag and a payload).
    package static let array: UInt8 = 13
    /// A storage key.
    package static let reference: UInt8 = 14
    /// A u32 position among the referrers of the same target, then a storage key.
    package static let positionedReference: UInt8 = 15
    /// For each reference: u8 length, storage key.
    package static let references: UInt8 = 16
    /// References in an edge table: u64 list id, u32 count, 16 bytes of a digest (`EdgeList`).
    package static let edges: UInt8 = 17
}

extension ValueTag {
    /// Returns the form of the payload after a tag; nil for an unknown tag.
    ///
    /// It is inlined and folded: a comparison with one form costs as much as a comparison of tags.
    @inline(__always)
    static func form(of tag: UInt8) -> ValueForm? {
        switch tag {
        case null: .null
        case `false`, `true`: .bool
        case int: .integer
        case uint: .largeInteger
        case double: .double
        case decimal: .decimal
        case string, url, json: .text
        case bytes: .bytes
        case date: .fixedInteger
        case uuid: .uuid
        case array: .list
        case reference, positionedReference: .reference
        case references: .references
        case edges: .edges
        default: nil
        }
    }
}
