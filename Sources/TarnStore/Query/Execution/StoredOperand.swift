internal import Glibc

/// An operand in the form that a filter stores: a number, or bytes.
struct StoredOperand {
    /// An integer, a double in the order of its bits, or 0 or 1.
    var number: Int64 = 0
    /// Whether the integer is above `Int64.max`; `number` then has its bits.
    var isLarge = false
    /// The payload, in the filter's memory.
    var bytes = Bytes(start: nil, count: 0)

    init() {}

    init(_ value: EncodedValue, _ order: ValueOrder) {
        switch order {
        case .integer:
            number = value.int ?? Int64(bitPattern: value.eightBytes ?? 0)
            isLarge = value.tag == ValueTag.uint
        case .double: number = StoredOperand.sortable(value.eightBytes ?? 0)
        case .bool: number = value.tag == ValueTag.true ? 1 : 0
        case .decimal, .bytes, .foldedText: bytes = value.payload
        case .reference: bytes = value.reference ?? .empty
        }
    }

    /// Maps the bits of a double to a number in the order of doubles.
    ///
    /// −0 equals 0; every NaN is equal and comes last.
    @inline(__always)
    static func sortable(_ bits: UInt64) -> Int64 {
        let value = Double(bitPattern: bits)
        if value.isNaN { return .max }
        let bits = value == 0 ? 0 : Int64(bitPattern: bits)
        return bits < 0 ? bits ^ .max : bits
    }
}
