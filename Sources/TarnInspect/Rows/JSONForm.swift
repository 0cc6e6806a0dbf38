import TarnStore

/// The check that bytes are one JSON value (RFC 8259) of any depth, without recursion.
struct JSONForm {
    private let bytes: Bytes
    private var offset = 0

    /// Returns whether bytes are a JSON value. Texts are not checked to be UTF-8.
    static func isValid(_ bytes: Bytes) -> Bool {
        var form = JSONForm(bytes)
        return form.isValid()
    }

    private init(_ bytes: Bytes) { self.bytes = bytes }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func isValid() -> Bool {
        // Whether each open value is an object; otherwise it is an array.
        var open: [Bool] = []
        repeat {
            skipSpace()
            // The beginning of a value, or the end of an empty object or array.
            if take("{") {
                skipSpace()
                guard take("}") else {
                    guard takeName() else { return false }
                    open.append(true)
                    continue
                }
            } else if take("[") {
                skipSpace()
                guard take("]") else {
                    open.append(false)
                    continue
                }
            } else if !takeScalar() {
                return false
            }
            // The end of a value: of those around it, too.
            while let isObject = open.last {
                skipSpace()
                if take(",") {
                    skipSpace()
                    guard !isObject || takeName() else { return false }
                    break
                }
                guard take(isObject ? "}" : "]") else { return false }
                open.removeLast()
            }
        } while !open.isEmpty
        skipSpace()
        return offset == bytes.count
    }

    private mutating func skipSpace() {
        while let next, next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { offset += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let next, UInt32(next) == character.value else { return false }
        offset += 1
        return true
    }

    private mutating func take(word: StaticString) -> Bool {
        let text = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard bytes.count - offset >= text.count, Bytes.equal(bytes.slice(offset..<offset + text.count), text) else {
            return false
        }
        offset += text.count
        return true
    }

    /// Takes the name of a member, and the colon behind it.
    private mutating func takeName() -> Bool {
        guard takeString() else { return false }
        skipSpace()
        return take(":")
    }

    private mutating func takeScalar() -> Bool {
        switch next {
        case UInt8(ascii: "\""): takeString()
        case UInt8(ascii: "t"): take(word: "true")
        case UInt8(ascii: "f"): take(word: "false")
        case UInt8(ascii: "n"): take(word: "null")
        default: takeNumber()
        }
    }

    private mutating func takeString() -> Bool {
        guard take("\"") else { return false }
        while let byte = next {
            offset += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"): if !takeEscape() { return false }
            case ..<0x20: return false
            default: break
            }
        }
        return false
    }

    private mutating func takeEscape() -> Bool {
        guard let byte = next else { return false }
        offset += 1
        guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
        guard bytes.count - offset >= 4 else { return false }
        defer { offset += 4 }
        return bytes.slice(offset..<offset + 4).allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x46).contains($0) || (0x61...0x66).contains($0)
        }
    }

    private mutating func takeNumber() -> Bool {
        _ = take("-")
        guard take("0") || takeDigits() else { return false }
        if take("."), !takeDigits() { return false }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            return takeDigits()
        }
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = offset
        while let next, (0x30...0x39).contains(next) { offset += 1 }
        return offset > start
    }
}
