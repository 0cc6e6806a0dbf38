// Comparing values where they stand in rows, in the order that they have in indexes, without copying them.

internal import Glibc

/// How the values of a field are compared. One for each order that there is.
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

/// An operand where a filter keeps it: a number, or bytes.
struct StoredOperand {
    /// An integer; a double in the order of its bits; 0 or 1.
    var number: Int64 = 0
    /// Whether it is an integer above `Int64.max`; `number` then has the bits of it.
    var isLarge = false
    /// The payload. It lies in the filter's memory.
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

    /// A number that is ordered as doubles are: −0 equals 0, every NaN is the same and comes last.
    @inline(__always)
    static func sortable(_ bits: UInt64) -> Int64 {
        let value = Double(bitPattern: bits)
        if value.isNaN { return .max }
        let bits = value == 0 ? 0 : Int64(bitPattern: bits)
        return bits < 0 ? bits ^ .max : bits
    }
}

extension EncodedValue {
    /// Less than 0, 0 or greater, as the value is to the operand. Nil if it is of a type that has no place in this order.
    /// Text with its case folded is not compared here: it has to be folded first.
    @inline(__always)
    func order(to operand: StoredOperand, _ order: ValueOrder) -> Int? {
        switch order {
        case .integer:
            if let number = tag == ValueTag.date ? eightBytes.map({ Int64(bitPattern: $0) }) : int {
                if operand.isLarge { return -1 }
                return number < operand.number ? -1 : number > operand.number ? 1 : 0
            }
            guard tag == ValueTag.uint, let number = eightBytes else { return nil }
            guard operand.isLarge else { return 1 }
            let other = UInt64(bitPattern: operand.number)
            return number < other ? -1 : number > other ? 1 : 0
        case .double:
            guard tag == ValueTag.double, let bits = eightBytes else { return nil }
            let number = StoredOperand.sortable(bits)
            return number < operand.number ? -1 : number > operand.number ? 1 : 0
        case .bool:
            guard tag == ValueTag.true || tag == ValueTag.false else { return nil }
            return (tag == ValueTag.true ? 1 : 0) - Int(operand.number)
        case .decimal:
            guard tag == ValueTag.decimal, let a = DecimalText(payload), let b = DecimalText(operand.bytes) else { return nil }
            return a.order(to: b)
        case .bytes, .foldedText:
            return Bytes.compare(payload, operand.bytes)
        case .reference:
            return reference.map { Bytes.compare($0, operand.bytes) }
        }
    }
}

/// The canonical text of a decimal, taken apart without copying its digits.
struct DecimalText {
    private let text: Bytes
    private let isNegative: Bool
    /// From the first digit that is not 0 to behind the last one; a point may be among them. Empty for zero.
    private let digits: Range<Int>
    /// The value is 0.d₁d₂… × 10^exponent.
    private let exponent: Int64

    init?(_ text: Bytes) {
        var index = 0, first = -1, end = 0, beforePoint: Int64 = 0, leading: Int64 = 0, seesPoint = false
        isNegative = text.first == UInt8(ascii: "-")
        if isNegative { index = 1 }
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: ".") {
                seesPoint = true
            } else if byte &- UInt8(ascii: "0") < 10 {
                if !seesPoint { beforePoint += 1 }
                if byte != UInt8(ascii: "0") {
                    if first < 0 { first = index }
                    end = index + 1
                } else if first < 0 {
                    leading += 1
                }
            } else {
                break
            }
            index += 1
        }
        var power: Int64 = 0
        if index < text.count {
            guard text[index] == UInt8(ascii: "e"), index + 1 < text.count else { return nil }
            index += 1
            let isBelow = text[index] == UInt8(ascii: "-")
            if isBelow { index += 1 }
            while index < text.count, text[index] &- UInt8(ascii: "0") < 10, power < 1 << 40 {
                power = power * 10 + Int64(text[index] &- UInt8(ascii: "0"))
                index += 1
            }
            if isBelow { power = -power }
        }
        self.text = text
        digits = first < 0 ? 0..<0 : first..<end
        exponent = beforePoint - leading + power
    }

    func order(to other: DecimalText) -> Int {
        if digits.isEmpty { return other.digits.isEmpty ? 0 : other.isNegative ? 1 : -1 }
        if other.digits.isEmpty { return isNegative ? -1 : 1 }
        if isNegative != other.isNegative { return isNegative ? -1 : 1 }
        let magnitude = magnitudeOrder(to: other)
        return isNegative ? -magnitude : magnitude
    }

    private func magnitudeOrder(to other: DecimalText) -> Int {
        if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
        var i = digits.lowerBound, j = other.digits.lowerBound
        while true {
            if i < digits.upperBound, text[i] == UInt8(ascii: ".") { i += 1 }
            if j < other.digits.upperBound, other.text[j] == UInt8(ascii: ".") { j += 1 }
            guard i < digits.upperBound, j < other.digits.upperBound else { break }
            if text[i] != other.text[j] { return text[i] < other.text[j] ? -1 : 1 }
            i += 1
            j += 1
        }
        return i < digits.upperBound ? 1 : j < other.digits.upperBound ? -1 : 0
    }
}

extension Bytes {
    /// Whether these bytes stand somewhere in it.
    func contains(bytes: Bytes) -> Bool {
        guard let needle = bytes.baseAddress, bytes.count > 0 else { return true }
        guard let start = baseAddress, count >= bytes.count else { return false }
        let first = Int32(bytes[0]), last = count - bytes.count
        var offset = 0
        while offset <= last, let found = memchr(start + offset, first, last - offset + 1) {
            if memcmp(found, needle, bytes.count) == 0 { return true }
            offset = start.distance(to: UnsafeRawPointer(found)) + 1
        }
        return false
    }
}
