// Decimal numbers of any length, exactly as written: for amounts of money, not for measurements.

/// A decimal number, exact, of any length.
///
/// Equality is numeric: `1.50`, `1.5` and `15e-1` are equal. There is no arithmetic.
public struct ExactDecimal: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Indicates a number below zero.
    package let isNegative: Bool
    /// The significant digits, 0–9, without leading and trailing zeros. Empty for zero.
    package let digits: [UInt8]
    /// The position of the decimal point: the value is 0.d₁d₂d₃… × 10^exponent. 0 for zero.
    package let exponent: Int32

    /// Parses a number in JSON's form (RFC 8259 §6). A leading `+` and leading zeros are allowed.
    /// Nil for any other text, and if the exponent exceeds 32 bits.
    public init?(_ text: String) {
        var text = text
        guard let value = text.withUTF8({ ExactDecimal(ascii: Bytes($0)) }) else { return nil }
        self = value
    }

    package init?(ascii text: Bytes) {
        var index = 0, isNegative = false, digits: [UInt8] = [], point: Int64?, seen = 0
        if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            isNegative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        digits.reserveCapacity(text.count)
        while index < text.count {
            let byte = text[index]
            if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                digits.append(byte - UInt8(ascii: "0"))
                seen += 1
            } else if byte == UInt8(ascii: "."), point == nil, seen > 0 {
                point = Int64(digits.count)
                seen = 0
            } else {
                break
            }
            index += 1
        }
        guard seen > 0 else { return nil }
        var exponent = point ?? Int64(digits.count)
        if index < text.count {
            guard text[index] | 0x20 == UInt8(ascii: "e") else { return nil }
            var power: Int64 = 0, powerIsNegative = false, powerDigits = 0
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
                powerIsNegative = text[index] == UInt8(ascii: "-")
                index += 1
            }
            while index < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) {
                // A larger power cannot pass the 32-bit check below, so its digits are ignored.
                if power < 1 << 40 { power = power * 10 + Int64(text[index] - UInt8(ascii: "0")) }
                powerDigits += 1
                index += 1
            }
            guard powerDigits > 0, index == text.count else { return nil }
            exponent += powerIsNegative ? -power : power
        }
        let leading = digits.prefix { $0 == 0 }.count
        exponent -= Int64(leading)
        digits.removeFirst(leading)
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty {
            self.isNegative = false
            self.exponent = 0
        } else {
            guard let exponent = Int32(exactly: exponent) else { return nil }
            self.isNegative = isNegative
            self.exponent = exponent
        }
        self.digits = digits
    }

    /// The number in JSON's form: plain if that is short, otherwise with an exponent.
    public var description: String {
        guard !digits.isEmpty else { return "0" }
        var text = isNegative ? "-" : ""
        let figures = digits.map { Character(UnicodeScalar($0 + UInt8(ascii: "0"))) }
        let point = Int(exponent)
        if point > -6, point <= 0 {
            text += "0." + String(repeating: "0", count: -point) + String(figures)
        } else if point > 0, point <= max(21, figures.count) {
            let whole = figures.prefix(point)
            text += String(whole) + String(repeating: "0", count: point - whole.count)
            if figures.count > point { text += "." + String(figures.dropFirst(point)) }
        } else {
            text.append(figures[0])
            if figures.count > 1 { text += "." + String(figures.dropFirst()) }
            text += "e\(point - 1)"
        }
        return text
    }

    public static func < (a: ExactDecimal, b: ExactDecimal) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? isLess(b, a) : isLess(a, b)
    }

    /// Compares magnitudes.
    private static func isLess(_ a: ExactDecimal, _ b: ExactDecimal) -> Bool {
        if a.digits.isEmpty || b.digits.isEmpty { return a.digits.isEmpty && !b.digits.isEmpty }
        if a.exponent != b.exponent { return a.exponent < b.exponent }
        return a.digits.lexicographicallyPrecedes(b.digits)
    }
}

extension ByteWriter {
    /// Appends an order-preserving encoding under 40, a code that the tuple layer reserves for
    /// users.
    ///
    /// The next byte is 01 for a negative number, 02 for zero, 03 for a positive one. Zero ends
    /// there. Otherwise the exponent follows (32 bits, biased, big-endian), then each digit plus
    /// one, then 00. In a negative number all bytes after the 01 are complemented.
    mutating func appendTuple(_ value: ExactDecimal) {
        append(TupleCode.decimal)
        guard !value.digits.isEmpty else { return append(2) }
        append(value.isNegative ? 1 : 3)
        let mask: UInt8 = value.isNegative ? 0xFF : 0
        let biased = UInt32(bitPattern: value.exponent) ^ 0x8000_0000
        for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: biased >> shift) ^ mask) }
        for digit in value.digits { append((digit + 1) ^ mask) }
        append(mask)
    }
}

extension TupleReader {
    /// Returns the length of the decimal element at the beginning of the bytes.
    /// Nil if the element is cut off.
    static func decimalLength(_ bytes: Bytes) -> Int? {
        guard bytes.count >= 2 else { return nil }
        if bytes[1] == 2 { return 2 }
        guard bytes[1] == 1 || bytes[1] == 3 else { return nil }
        let end: UInt8 = bytes[1] == 1 ? 0xFF : 0
        var index = 6
        while index < bytes.count {
            if bytes[index] == end { return index + 1 }
            index += 1
        }
        return nil
    }

    /// Decodes an element of known length.
    static func decimal(_ bytes: Bytes) -> ExactDecimal? {
        if bytes[1] == 2 { return ExactDecimal("0") }
        let mask: UInt8 = bytes[1] == 1 ? 0xFF : 0
        let biased = bytes[2..<6].reduce(UInt32(0)) { $0 << 8 | UInt32($1 ^ mask) }
        let exponent = Int32(bitPattern: biased ^ 0x8000_0000)
        var text = mask == 0 ? "0." : "-0."
        for byte in bytes[6..<bytes.count - 1] {
            let digit = byte ^ mask
            guard (1...10).contains(digit) else { return nil }
            text.append(Character(UnicodeScalar(digit - 1 + UInt8(ascii: "0"))))
        }
        return ExactDecimal(text + "e\(exponent)")
    }
}
