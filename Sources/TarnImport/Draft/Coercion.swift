// From JSON to values of attributes: total functions, a value or a reason why not, never a silent 0.
//
//   attribute   accepts
//   bool        true, false, 0, 1, "true", "false"
//   int, uint   a whole number in range, also as 1.0 or as text of decimal digits
//   double      a number, or its text
//   decimal     a number exactly as it is written, or its text
//   bytes       base64 text (RFC 4648 §4 or §5, padding optional)
//   string      text; a number becomes its text
//   date        RFC 3339 text; with a declared epoch a number (or its text) of that unit
//   uuid, url   text of that form
//   enum        one of the declared values
//   json        anything
//   [scalar]    a list, every element of which is accepted

import Foundation
internal import TarnStore

extension Tape {
    /// Appends the value of an attribute, a tag and a payload. Null is not handed in here.
    ///
    /// - Returns: false if the JSON cannot be taken as this type; then nothing is appended.
    func appendValue(
        _ index: Int, as type: AttributeType, epoch: EpochUnit?, to writer: inout ByteWriter
    ) -> Bool {
        let start = writer.count
        switch type {
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
            guard kind(index) == .string, let value = Tape.base64(string(index)) else { return false }
            value.withUnsafeBytes { writer.appendValue(tag: ValueTag.bytes, $0) }
        case .string:
            switch kind(index) {
            case .string: writer.appendValue(tag: ValueTag.string, string(index))
            case .int, .uint, .double:
                writer.append(ValueTag.string)
                appendText(index, to: &writer)
            default: return false
            }
        case .date:
            guard let value = date(index, epoch) else { return false }
            writer.appendValue(value)
        case .uuid:
            guard let value = uuid(index) else { return false }
            withUnsafeBytes(of: value.uuid) { writer.appendValue(tag: ValueTag.uuid, $0) }
        case .url:
            guard kind(index) == .string, Tape.isURL(string(index)) else { return false }
            writer.appendValue(tag: ValueTag.url, string(index))
        case .enumeration(let values):
            guard kind(index) == .string else { return false }
            let text = string(index)
            guard values.contains(where: { $0.utf8.count == text.count && $0.utf8.elementsEqual(text) }) else { return false }
            writer.appendValue(tag: ValueTag.string, text)
        case .json:
            writer.append(ValueTag.json)
            appendText(index, to: &writer)
        case .array(let element):
            guard kind(index) == .array else { return false }
            writer.append(ValueTag.array)
            var isSound = true
            forEachElement(index) { item in
                guard isSound else { return }
                let lengthOffset = writer.count
                writer.appendLittleEndian(UInt32(0))
                if kind(item) == .null {
                    writer.appendValueNull()
                } else if !appendValue(item, as: element, epoch: epoch, to: &writer) {
                    isSound = false
                }
                writer.store(UInt32(writer.count - lengthOffset - 4), at: lengthOffset)
            }
            guard isSound else {
                writer.truncate(to: start)
                return false
            }
        }
        return true
    }

    /// Appends a component of a primary key, encoded. False if the JSON cannot be taken as the key's type.
    func appendKeyComponent(_ index: Int, as type: AttributeType, to writer: inout ByteWriter) -> Bool {
        switch type {
        case .int:
            guard let value = wholeNumber(index).flatMap(\.signed) else { return false }
            writer.appendTuple(value)
        case .string:
            switch kind(index) {
            case .string: writer.appendTuple(string: string(index))
            case .int, .uint:
                var text = ByteWriter(capacity: 24)
                appendText(index, to: &text)
                writer.appendTuple(string: text.bytes)
            default: return false
            }
        case .uuid:
            guard let value = uuid(index) else { return false }
            withUnsafeBytes(of: value.uuid) { writer.appendTuple(uuid: $0) }
        default: return false
        }
        return true
    }

    private func uuid(_ index: Int) -> UUID? {
        // Foundation stops at a NUL and does not look at what follows.
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

    private enum WholeNumber {
        case int(Int64), uint(UInt64)

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

    private func wholeNumber(_ index: Int) -> WholeNumber? {
        switch kind(index) {
        case .int: return .int(int(index))
        case .uint: return .uint(uint(index))
        // Beyond 2^53 a double says no more which whole number was meant.
        case .double where abs(double(index)) <= 0x1p53: return Int64(exactly: double(index)).map(WholeNumber.int)
        case .string:
            let text = String(decoding: string(index), as: UTF8.self)
            return Int64(text).map(WholeNumber.int) ?? UInt64(text).map(WholeNumber.uint)
        default: return nil
        }
    }

    private func number(_ index: Int) -> Double? {
        switch kind(index) {
        case .int: return Double(int(index))
        case .uint: return Double(uint(index))
        // Beyond the greatest double there is none.
        case .double: return double(index).isFinite ? double(index) : nil
        case .string:
            // Double's own parser also takes hexadecimal, "nan" and "infinity", which no API means.
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

    private static func base64(_ text: Bytes) -> [UInt8]? {
        var standard = text.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
        while standard.last == UInt8(ascii: "=") { standard.removeLast() }
        standard += Array(repeating: UInt8(ascii: "="), count: (4 - standard.count % 4) % 4)
        return Data(base64Encoded: Data(standard)).map { Array($0) }
    }

    private func date(_ index: Int, _ epoch: EpochUnit?) -> Timestamp? {
        if kind(index) == .string, let value = Timestamp(rfc3339: string(index)) { return value }
        guard let epoch else { return nil }
        let scale: Int64 =
            switch epoch {
            case .seconds: 1_000_000
            case .milliseconds: 1000
            case .microseconds: 1
            }
        if let whole = wholeNumber(index).flatMap(\.signed) {
            let (value, overflow) = whole.multipliedReportingOverflow(by: scale)
            return overflow ? nil : Timestamp(microseconds: value)
        }
        guard let value = number(index) else { return nil }
        return Int64(exactly: (value * Double(scale)).rounded()).map { Timestamp(microseconds: $0) }
    }

    /// No spaces, no control characters, not empty: what RFC 3986 §2 leaves of a URL reference. Characters beyond ASCII are
    /// let through, since APIs send them.
    private static func isURL(_ text: Bytes) -> Bool {
        text.count > 0 && text.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x22 && $0 != 0x3C && $0 != 0x3E }
    }
}

extension Tape {
    /// What stands there, for messages: `the text "12px"`, `a list`.
    func describe(_ index: Int) -> String {
        switch kind(index) {
        case .object: return "an object"
        case .array: return "a list"
        case .string:
            let text = String(decoding: string(index), as: UTF8.self)
            return "the text \"\(text.count > 40 ? text.prefix(40) + "…" : text)\""
        case .int, .uint, .double:
            var text = ByteWriter()
            appendText(index, to: &text)
            return "the number \(String(decoding: text.bytes.prefix(40), as: UTF8.self))\(text.count > 40 ? "…" : "")"
        case .true: return "true"
        case .false: return "false"
        case .null, nil: return "null"
        }
    }
}
