internal import TarnStore

/// The texts of the fields in a line of `tarn inspect dump`, as they are written.
///
/// The JSON that a program has stored may have white space and escapes, which parsing drops.
struct WrittenFields {
    private let line: Bytes
    private var offset = 0
    /// Whether the line has the form of a dump: without white space around its own members.
    private var isDumped = true
    private var ranges: [String: Range<Int>] = [:]

    /// - Parameter line: valid JSON.
    private init(_ line: Bytes) { self.line = line }

    /// Returns the texts of fields by their names; none if another program has written the line.
    static func texts(of line: String, _ names: Set<String>) -> [String: String] {
        var line = line
        return line.withUTF8 { bytes in
            var fields = WrittenFields(Bytes(bytes))
            fields.forEachMember { name, fields in
                guard name == "fields" else { return fields.skipValue() }
                fields.forEachMember { name, fields in
                    let start = fields.offset
                    fields.skipValue()
                    if names.contains(name) { fields.ranges[name] = start..<fields.offset }
                }
            }
            guard fields.isDumped else { return [:] }
            return fields.ranges.mapValues { String(decoding: fields.line.slice($0), as: UTF8.self) }
        }
    }

    private var byte: UInt8? { offset < line.count ? line[offset] : nil }

    private mutating func take(_ expected: Unicode.Scalar) -> Bool {
        guard let byte, UInt32(byte) == expected.value else { return false }
        offset += 1
        return true
    }

    /// Reads an object, and calls a closure at the beginning of each value, which it skips.
    private mutating func forEachMember(_ body: (_ name: String, _ fields: inout WrittenFields) -> Void) {
        guard take("{") else { return isDumped = false }
        if take("}") { return }
        repeat {
            let start = offset
            skipString()
            // Names of fields need no escapes.
            let name = String(decoding: line.slice(start..<offset).dropFirst().dropLast(), as: UTF8.self)
            guard take(":") else { return isDumped = false }
            body(name, &self)
            guard isDumped else { return }
        } while take(",")
        if !take("}") { isDumped = false }
    }

    private mutating func skipValue() {
        var depth = 0
        repeat {
            guard let byte else { return isDumped = false }
            switch byte {
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                offset += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                offset += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
                guard depth > 0 else { return isDumped = false }
                offset += 1
            default: skipScalar()
            }
        } while depth > 0
    }

    /// Skips a number, or the word of a Boolean value or of null.
    private mutating func skipScalar() {
        repeat { offset += 1 } while byte.map { $0 > 0x20 && !",:}]".utf8.contains($0) } ?? false
    }

    private mutating func skipString() {
        guard take("\"") else { return isDumped = false }
        while let byte {
            offset = min(offset + (byte == UInt8(ascii: "\\") ? 2 : 1), line.count)
            if byte == UInt8(ascii: "\"") { return }
        }
        isDumped = false
    }
}
