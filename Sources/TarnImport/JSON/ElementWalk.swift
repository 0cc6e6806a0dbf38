internal import TarnStore

/// A walk through the elements of a document's list, which skips elements whose length is known.
///
/// It does not prove that the text is JSON. What lies outside the known elements has to be parsed:
/// if that is valid without them, so is the whole, and the list is where the walk has found it.
struct ElementWalk {
    private let text: Bytes
    private var offset = 0

    /// - Parameter text: the text of a document, without a byte order mark.
    init(_ text: Bytes) { self.text = text }

    /// Returns the ranges of a list's elements.
    ///
    /// - Parameters:
    ///   - path: the keys that lead to the list. That a key occurs once is not checked.
    ///   - known: called with the start of each element. Returns its length, if it is known; nil to
    ///     look for its end.
    ///   - found: called with each element whose end was looked for. Returns whether to go on.
    /// - Returns: nil if an element is no object, or if the text has no such list.
    mutating func elements(
        at path: [String], known: (Int) -> Int?, found: (Range<Int>) -> Bool
    ) -> JSONParser.ElementRanges? {
        skipSpace()
        for key in path {
            guard enter(key) else { return nil }
        }
        guard take(UInt8(ascii: "[")) else { return nil }
        var ranges = JSONParser.ElementRanges(list: offset..<offset)
        skipSpace()
        while byte == UInt8(ascii: "{") {
            let start = offset
            if let length = known(start), length > 0, length <= text.count - start {
                offset += length
                ranges.elements.append(start..<offset)
            } else {
                guard skipValue(), found(start..<offset) else { return nil }
                ranges.elements.append(start..<offset)
            }
            skipSpace()
            guard take(UInt8(ascii: ",")) else { break }
            skipSpace()
            guard byte == UInt8(ascii: "{") else { return nil }
        }
        guard byte == UInt8(ascii: "]") else { return nil }
        ranges.list = ranges.list.lowerBound..<offset
        return ranges
    }

    /// Returns the range of the value at a path; nil if the text has none.
    ///
    /// - Parameter path: the keys that lead to the value. Of equal ones, the first one counts.
    mutating func value(at path: [String]) -> Range<Int>? {
        skipSpace()
        for key in path {
            guard enter(key) else { return nil }
        }
        let start = offset
        return skipValue() ? start..<offset : nil
    }

    private var byte: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        offset += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    /// Goes to the first value of a key in the object that begins here.
    private mutating func enter(_ key: String) -> Bool {
        guard take(UInt8(ascii: "{")) else { return false }
        while true {
            skipSpace()
            let start = offset + 1
            guard byte == UInt8(ascii: "\""), skipString() else { return false }
            let end = offset - 1
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            var key = key
            if key.withUTF8({ Bytes.equal(text.slice(start..<end), Bytes($0)) }) { return true }
            guard skipValue() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ",")) else { return false }
        }
    }

    /// Skips a string, up to the quotation mark behind it.
    private mutating func skipString() -> Bool {
        var position = offset + 1
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "\""):
                offset = position + 1
                return true
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        return false
    }

    /// Skips the value that begins here: an object or a list up to its end, which may be in an
    /// invalid text anywhere.
    private mutating func skipValue() -> Bool {
        var depth = 0
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                offset += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The end of a number, or of a word, in an object.
                guard depth > 0 else { return true }
                depth -= 1
                offset += 1
            case UInt8(ascii: ","):
                guard depth > 0 else { return true }
                offset += 1
                continue
            default:
                offset += 1
                continue
            }
            if depth == 0 { return true }
        }
        return false
    }
}
