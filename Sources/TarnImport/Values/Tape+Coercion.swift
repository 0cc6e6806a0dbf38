// Coercion of JSON to attribute values: the kinds of JSON that each type accepts, and total
// functions that return a value or fail, never a silent 0. `ImportValues.md` documents the result
// of each; a test covers every cell.

import Foundation
internal import TarnStore

extension AttributeType {
    /// Returns the kinds of JSON that this type accepts; a value may still be refused.
    ///
    /// - Parameter dates: the formats of a date.
    func accepted(_ mode: CoercionMode, dates: [DateFormat]) -> JSONKinds {
        switch (self, mode) {
        case (.bool, .lenient): return [.bool, .integer, .string]
        case (.bool, .strict): return .bool
        case (.int, .lenient), (.uint, .lenient): return [.number, .string]
        case (.int, .strict), (.uint, .strict): return .integer
        case (.double, .lenient), (.decimal, .lenient): return [.number, .string]
        case (.double, .strict), (.decimal, .strict): return .number
        case (.string, .lenient): return [.string, .number]
        case (.string, .strict), (.bytes, _), (.uuid, _), (.url, _), (.enumeration, _): return .string
        case (.date, .lenient): return dates.contains(where: \.isEpoch) ? [.number, .string] : .string
        case (.date, .strict):
            var kinds: JSONKinds = []
            if dates.contains(where: \.isEpoch) { kinds.formUnion(.number) }
            if dates.contains(where: { !$0.isEpoch }) { kinds.formUnion(.string) }
            return kinds
        case (.json, _): return .all
        case (.array, _): return .array
        }
    }
}

extension Tape {
    /// Appends the value of an attribute: a tag and a payload. The JSON is not null.
    ///
    /// - Returns: false if the JSON does not fit the type; then nothing is appended.
    func appendValue(
        _ index: Int, by rule: ValueRule, to writer: inout ByteWriter
    ) -> Bool {
        guard rule.accepted.contains(JSONKinds(kind(index))) else { return false }
        switch rule.type {
        case .bool:
            guard let value = bool(index) else { return false }
            writer.appendValue(value)
        case .int:
            guard let value = wholeNumber(index).flatMap(\.signed) else { return false }
            writer.appendValue(value)
        case .uint:
            guard let value = wholeNumber(index).flatMap(\.unsigned) else { return false }
            writer.appendValue(value)
        case .double:
            guard let value = number(index) else { return false }
            writer.appendValue(value)
        case .decimal:
            guard let value = decimal(index) else { return false }
            writer.appendValue(value)
        case .bytes:
            guard let value = Tape.base64(string(index), isStrict: rule.isStrict) else { return false }
            value.withUnsafeBytes { writer.appendValue(tag: ValueTag.bytes, $0) }
        case .string:
            if kind(index) == .string {
                writer.appendValue(tag: ValueTag.string, string(index))
            } else {
                writer.append(ValueTag.string)
                appendText(index, to: &writer)
            }
        case .date:
            guard let value = date(index, rule) else { return false }
            writer.appendValue(value)
        case .uuid:
            guard let value = uuid(index) else { return false }
            withUnsafeBytes(of: value.uuid) { writer.appendValue(tag: ValueTag.uuid, $0) }
        case .url:
            guard Tape.isURL(string(index)) else { return false }
            writer.appendValue(tag: ValueTag.url, string(index))
        case .enumeration(let values):
            let text = string(index)
            guard values.contains(where: { $0.utf8.count == text.count && $0.utf8.elementsEqual(text) }) else {
                return false
            }
            writer.appendValue(tag: ValueTag.string, text)
        case .json:
            writer.append(ValueTag.json)
            appendText(index, to: &writer)
        case .array:
            guard let element = rule.element, appendArray(index, of: element, to: &writer) else { return false }
        }
        return true
    }

    private func appendArray(_ index: Int, of element: ValueRule, to writer: inout ByteWriter) -> Bool {
        let start = writer.count
        writer.append(ValueTag.array)
        var isSound = true
        forEachElement(index) { item in
            guard isSound else { return }
            let lengthOffset = writer.count
            writer.appendLittleEndian(UInt32(0))
            if kind(item) == .null {
                writer.appendValueNull()
            } else if !appendValue(item, by: element, to: &writer) {
                isSound = false
            }
            writer.store(UInt32(writer.count - lengthOffset - 4), at: lengthOffset)
        }
        if !isSound { writer.truncate(to: start) }
        return isSound
    }

    func uuid(_ index: Int) -> UUID? {
        // Foundation stops at a NUL and ignores the rest.
        guard kind(index) == .string, string(index).count == 36 else { return nil }
        return UUID(uuidString: String(decoding: string(index), as: UTF8.self))
    }

    private func bool(_ index: Int) -> Bool? {
        switch kind(index) {
        case .true: return true
        case .false: return false
        case .int where int(index) == 0 || int(index) == 1: return int(index) == 1
        case .string:
            let text = String(decoding: string(index), as: UTF8.self)
            return text == "true" ? true : text == "false" ? false : nil
        default: return nil
        }
    }

    enum WholeNumber {
        case int(Int64), uint(UInt64)

        /// Returns nil if a number is not whole, or does not fit in 64 bits.
        init?(_ number: ExactDecimal) {
            // The value is 0.d₁d₂… × 10^point.
            let point = Int(number.exponent)
            guard number.digits.count <= point || number.digits.isEmpty, point <= 20 else { return nil }
            var magnitude: UInt64 = 0
            for place in 0..<max(0, point) {
                let digit = place < number.digits.count ? UInt64(number.digits[place]) : 0
                let (tens, overflows) = magnitude.multipliedReportingOverflow(by: 10)
                let (next, overflowsToo) = tens.addingReportingOverflow(digit)
                if overflows || overflowsToo { return nil }
                magnitude = next
            }
            if number.isNegative {
                guard magnitude <= 1 << 63 else { return nil }
                self = .int(Int64(truncatingIfNeeded: 0 &- magnitude))
            } else {
                self = Int64(exactly: magnitude).map { .int($0) } ?? .uint(magnitude)
            }
        }

        var signed: Int64? {
            switch self {
            case .int(let x): x
            case .uint(let x): Int64(exactly: x)
            }
        }

        var unsigned: UInt64? {
            switch self {
            case .int(let x): UInt64(exactly: x)
            case .uint(let x): x
            }
        }
    }

    func wholeNumber(_ index: Int) -> WholeNumber? {
        switch kind(index) {
        case .int: return .int(int(index))
        case .uint: return .uint(uint(index))
        // The written number counts: the nearest double may be whole although the number is not.
        case .double: return numberText(index).flatMap { ExactDecimal(ascii: $0) }.flatMap { WholeNumber($0) }
        case .string:
            let text = String(decoding: string(index), as: UTF8.self)
            return Int64(text).map(WholeNumber.int) ?? UInt64(text).map(WholeNumber.uint)
        default: return nil
        }
    }

    /// The nearest double of a number; -0.0 is 0.
    private func number(_ index: Int) -> Double? {
        signedNumber(index).map { $0 == 0 ? 0 : $0 }
    }

    private func signedNumber(_ index: Int) -> Double? {
        switch kind(index) {
        case .int: return Double(int(index))
        case .uint: return Double(uint(index))
        // A number beyond the greatest double is infinite on the tape.
        case .double: return double(index).isFinite ? double(index) : nil
        case .string:
            // `Double` also parses hexadecimal, "nan" and "infinity", which are not JSON numbers.
            let text = string(index)
            let digits = text.allSatisfy { (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }
            guard digits, let value = Double(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
            return value
        default: return nil
        }
    }

    private func decimal(_ index: Int) -> ExactDecimal? {
        switch kind(index) {
        case .int: return ExactDecimal(String(int(index)))
        case .uint: return ExactDecimal(String(uint(index)))
        case .double: return numberText(index).flatMap { ExactDecimal(ascii: $0) }
        case .string: return ExactDecimal(ascii: string(index))
        default: return nil
        }
    }

    /// Decodes RFC 4648 §4. Unless strict, also §5 (`-` and `_`), and text without padding.
    private static func base64(_ text: Bytes, isStrict: Bool) -> [UInt8]? {
        if isStrict {
            // Foundation accepts any number of padding characters.
            guard text.count % 4 == 0, !text.dropLast(2).contains(UInt8(ascii: "=")) else { return nil }
            return Data(base64Encoded: Data(text)).map { Array($0) }
        }
        var standard = text.map {
            $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0
        }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard)).map { Array($0) }
    }

    private func date(_ index: Int, _ rule: ValueRule) -> Timestamp? {
        if kind(index) == .string {
            let text = string(index)
            if rule.beginsWithRFC3339, let value = Timestamp(rfc3339: text, isStrict: rule.isStrict) { return value }
            for format in rule.dates {
                if format.isEpoch, rule.isStrict { continue }
                if let value = format.timestamp(text, isStrict: rule.isStrict) { return value }
            }
            return nil
        }
        for format in rule.dates {
            guard case .epoch(let unit) = format else { continue }
            switch kind(index) {
            case .int: if let value = unit.timestamp(int(index)) { return value }
            case .double: if let value = numberText(index).flatMap({ unit.timestamp($0) }) { return value }
            // A whole number beyond 63 bits is later than any date.
            default: break
            }
        }
        return nil
    }

    /// Returns whether a text may be a URL reference (RFC 3986 §2) that Foundation reads.
    ///
    /// It is not empty and has no spaces, control characters, quotes or angle brackets. Characters
    /// beyond ASCII are accepted, since APIs send them. A text that Foundation does not read, such
    /// as one with a port that is no number, could never be read as a `URL`.
    static func isURL(_ text: Bytes) -> Bool {
        guard text.count > 0,
            text.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E })
        else { return false }
        return isPlainURL(text) || URL(string: String(decoding: text, as: UTF8.self)) != nil
    }

    /// Returns whether a text is a web address of the most frequent form: a name, a path, a query.
    private static func isPlainURL(_ text: Bytes) -> Bool {
        guard text.starts(with: "https://".utf8) || text.starts(with: "http://".utf8) else { return false }
        let host = text.dropFirst(text[4] == UInt8(ascii: "s") ? 8 : 7)
        let end = host.firstIndex(of: UInt8(ascii: "/")) ?? host.endIndex
        guard end > host.startIndex else { return false }
        return host[..<end].allSatisfy { isPlain($0) }
            && host[end...].allSatisfy { isPlain($0) || "/?=&,+_~".utf8.contains($0) }
    }

    /// Returns whether a byte is a letter or a digit of ASCII, a dot or a hyphen.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
