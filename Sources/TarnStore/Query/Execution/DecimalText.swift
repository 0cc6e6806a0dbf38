internal import Glibc

/// The canonical text of a decimal, parsed without copying its digits.
struct DecimalText {
    private let text: Bytes
    private let isNegative: Bool
    /// The range of the significant digits, perhaps with a point in between; empty for zero.
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
