// A byte-by-byte parser of RFC 8259, for the documents that simdjson rejects, and for exact errors.
//
// simdjson's DOM is fast, but it rejects numbers beyond 64 bits and beyond a double, and locates
// errors only roughly. This parser decides: a document is valid if it is valid here, and every
// error is from here. Both write the same tape, so all other code is independent of the parser. For
// a number beyond 64 bits, the tape has the nearest double (infinity beyond the greatest), and the
// number's text is found by its position.
//
// It reads borrowed bytes with bounds checks in every build, and keeps its own stack.

internal import TarnStore

struct ExactParser: ~Copyable {
    /// The words of the tape, in simdjson's format.
    private var words = ByteWriter(capacity: 1024)
    /// The strings: for each, a length of 32 bits, the bytes and a NUL.
    private var strings = ByteWriter(capacity: 1024)
    private(set) var numberTexts = NumberTexts()
    private var source = Bytes(start: nil, count: 0)
    private var index = 0

    private struct Container {
        /// The container's first word on the tape.
        var start: Int
        var count: UInt32 = 0
        var isObject: Bool
    }

    private var containers: [Container] = []

    private enum Expected { case value, valueOrEnd, key, keyOrEnd, colon, commaOrEnd, nothing }

    /// The words and strings of the last document; valid until the next one.
    var tapeWords: UnsafeBufferPointer<UInt64> { words.bytes.bindMemory(to: UInt64.self) }
    var tapeStrings: Bytes { strings.bytes }

    /// Parses a document of less than 4 GiB.
    mutating func parse(_ bytes: Bytes, maximumDepth: Int) throws(JSONProblem) {
        words.removeAll()
        strings.removeAll()
        numberTexts = NumberTexts()
        containers.removeAll(keepingCapacity: true)
        source = bytes
        index = 0
        defer { source = Bytes(start: nil, count: 0) }
        word(0x72, 0)
        var expected = Expected.value
        while true {
            skipWhiteSpace()
            guard index < source.count else {
                guard case .nothing = expected else {
                    throw JSONProblem(kind: wordCount == 1 ? .empty : .cut, offset: index)
                }
                break
            }
            expected = try token(byte(index), expected, maximumDepth)
        }
        word(0x72, 0)
        words.store(0x72 << 56 | UInt64(wordCount), at: 0)
    }

    /// Parses one token.
    ///
    /// - Returns: what may follow it.
    @inline(__always)
    private mutating func token(
        _ byte: UInt8, _ expected: Expected, _ maximumDepth: Int
    ) throws(JSONProblem) -> Expected {
        switch expected {
        case .nothing: throw problem(.followed)
        case .colon:
            guard byte == UInt8(ascii: ":") else { throw problem(.colonExpected) }
            index += 1
            return .value
        case .commaOrEnd: return try commaOrEnd(byte)
        case .keyOrEnd where byte == UInt8(ascii: "}"), .valueOrEnd where byte == UInt8(ascii: "]"):
            close()
            return afterValue
        case .key, .keyOrEnd:
            guard byte == UInt8(ascii: "\"") else { throw problem(.keyExpected) }
            countElement()
            try string()
            return .colon
        case .value, .valueOrEnd:
            if let container = containers.last, !container.isObject { countElement() }
            return try value(byte, maximumDepth)
        }
    }

    /// The expectation after a value.
    private var afterValue: Expected { containers.isEmpty ? .nothing : .commaOrEnd }

    @inline(__always)
    private mutating func commaOrEnd(_ byte: UInt8) throws(JSONProblem) -> Expected {
        guard let container = containers.last else { throw problem(.followed) }
        if byte == UInt8(ascii: ",") {
            index += 1
            return container.isObject ? .key : .value
        }
        guard byte == (container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
            throw problem(container.isObject ? .commaOrEndOfObject : .commaOrEndOfList)
        }
        close()
        return afterValue
    }

    /// Parses a scalar, or opens a container.
    @inline(__always)
    private mutating func value(_ byte: UInt8, _ maximumDepth: Int) throws(JSONProblem) -> Expected {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard containers.count < maximumDepth else { throw problem(.tooDeep(limit: maximumDepth)) }
            let isObject = byte == UInt8(ascii: "{")
            containers.append(Container(start: wordCount, isObject: isObject))
            word(byte, 0)
            index += 1
            return isObject ? .keyOrEnd : .valueOrEnd
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        default: throw problem(.valueExpected)
        }
        return afterValue
    }

    // MARK: The tape

    private var wordCount: Int { words.count / 8 }

    private mutating func word(_ type: UInt8, _ payload: UInt64) {
        words.appendLittleEndian(UInt64(type) << 56 | payload)
    }

    private mutating func countElement() {
        guard !containers.isEmpty else { return }
        containers[containers.count - 1].count &+= 1
    }

    private mutating func close() {
        let container = containers.removeLast()
        let isObject = container.isObject
        word(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"), UInt64(container.start))
        let count = UInt64(min(container.count, 0xFF_FFFF))
        words.store(
            UInt64(isObject ? UInt8(ascii: "{") : UInt8(ascii: "[")) << 56 | count << 32 | UInt64(wordCount),
            at: container.start * 8)
        index += 1
    }

    // MARK: Bytes

    @inline(__always)
    private func byte(_ offset: Int) -> UInt8 {
        // The subscript of a buffer checks its bounds in debug builds only.
        precondition(offset >= 0 && offset < source.count)
        return source[offset]
    }

    private func problem(_ kind: JSONProblem.Kind, at offset: Int? = nil) -> JSONProblem {
        JSONProblem(kind: kind, offset: offset ?? index)
    }

    private mutating func skipWhiteSpace() {
        while index < source.count {
            switch byte(index) {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func literal(_ text: StaticString) throws(JSONProblem) {
        let start = index
        for position in 0..<text.utf8CodeUnitCount {
            guard index < source.count else { throw problem(.cut) }
            guard byte(index) == text.utf8Start[position] else { throw problem(.literal, at: start) }
            index += 1
        }
        word(byte(start), 0)
    }

    // MARK: Numbers

    private mutating func number() throws(JSONProblem) {
        let start = index
        var isWhole = true
        if byte(index) == UInt8(ascii: "-") { index += 1 }
        let first = index
        try digits()
        if index - first > 1, byte(first) == UInt8(ascii: "0") { throw problem(.leadingZero, at: first) }
        if index < source.count, byte(index) == UInt8(ascii: ".") {
            isWhole = false
            index += 1
            try digits()
        }
        if index < source.count, byte(index) | 0x20 == UInt8(ascii: "e") {
            isWhole = false
            index += 1
            if index < source.count, byte(index) == UInt8(ascii: "+") || byte(index) == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        // The text of every 64-bit integer fits in 20 bytes.
        if isWhole, index - start <= 20 {
            let text = String(decoding: source[start..<index], as: UTF8.self)
            if let value = Int64(text) {
                word(UInt8(ascii: "l"), 0)
                return words.appendLittleEndian(value)
            }
            if let value = UInt64(text) {
                word(UInt8(ascii: "u"), 0)
                return words.appendLittleEndian(value)
            }
        }
        numberTexts.add(place: wordCount, offset: start)
        word(UInt8(ascii: "d"), 0)
        words.appendLittleEndian(ExactParser.nearest(source.slice(start..<index)).bitPattern)
    }

    private mutating func digits() throws(JSONProblem) {
        guard index < source.count else { throw problem(.cut) }
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(index)) else { throw problem(.digitExpected) }
        while index < source.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte(index)) { index += 1 }
    }

    /// Returns the double nearest to a number of any length; infinity beyond the greatest.
    private static func nearest(_ text: Bytes) -> Double {
        if let value = Double(String(decoding: text, as: UTF8.self)) { return value }
        return text.first == UInt8(ascii: "-") ? -.infinity : .infinity
    }

    // MARK: Strings

    private mutating func string() throws(JSONProblem) {
        word(UInt8(ascii: "\""), UInt64(strings.count))
        let start = strings.count
        strings.appendLittleEndian(UInt32(0))
        index += 1
        var run = index
        while true {
            guard index < source.count else { throw problem(.cut) }
            let byte = byte(index)
            switch byte {
            case UInt8(ascii: "\""):
                strings.append(source.slice(run..<index))
                strings.store(UInt32(truncatingIfNeeded: strings.count - start - 4), at: start)
                strings.append(0)
                index += 1
                return
            case UInt8(ascii: "\\"):
                strings.append(source.slice(run..<index))
                try escape()
                run = index
            case 0..<0x20: throw problem(.control)
            case 0x20..<0x80: index += 1
            default:
                guard let length = sequenceLength() else { throw problem(.notUTF8) }
                index += length
            }
        }
    }

    /// Returns the length of the well-formed multi-byte UTF-8 sequence here; nil if there is none.
    ///
    /// Table 3-7 of the Unicode Standard.
    private func sequenceLength() -> Int? {
        let lead = byte(index)
        var length = 3, second: ClosedRange<UInt8> = 0x80...0xBF
        switch lead {
        case 0xC2...0xDF: length = 2
        case 0xE0: second = 0xA0...0xBF  // else overlong
        case 0xED: second = 0x80...0x9F  // else a surrogate
        case 0xE1...0xEF: break
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: length = 4
        case 0xF4: (length, second) = (4, 0x80...0x8F)  // else beyond U+10FFFF
        default: return nil
        }
        guard source.count - index >= length, second.contains(byte(index + 1)) else { return nil }
        for offset in 2..<max(length, 2) where byte(index + offset) & 0xC0 != 0x80 { return nil }
        return length
    }

    private mutating func escape() throws(JSONProblem) {
        let start = index
        index += 1
        guard index < source.count else { throw problem(.cut) }
        let letter = byte(index)
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): strings.append(letter)
        case UInt8(ascii: "b"): strings.append(0x08)
        case UInt8(ascii: "f"): strings.append(0x0C)
        case UInt8(ascii: "n"): strings.append(0x0A)
        case UInt8(ascii: "r"): strings.append(0x0D)
        case UInt8(ascii: "t"): strings.append(0x09)
        case UInt8(ascii: "u"):
            var value = try codeUnit(start)
            if value & 0xFC00 == 0xDC00 { throw problem(.surrogate, at: start) }
            if value & 0xFC00 == 0xD800 {
                let second = index
                guard index < source.count else { throw problem(.cut) }
                guard byte(index) == UInt8(ascii: "\\") else { throw problem(.surrogate, at: start) }
                guard index + 1 < source.count else { throw problem(.cut, at: source.count) }
                guard byte(index + 1) == UInt8(ascii: "u") else { throw problem(.surrogate, at: start) }
                index += 2
                let low = try codeUnit(second)
                guard low & 0xFC00 == 0xDC00 else { throw problem(.surrogate, at: start) }
                value = 0x10000 + ((value & 0x3FF) << 10) + (low & 0x3FF)
            }
            guard let scalar = Unicode.Scalar(value) else { throw problem(.surrogate, at: start) }
            for unit in scalar.utf8 { strings.append(unit) }
        default: throw problem(.escape, at: start)
        }
    }

    private mutating func codeUnit(_ start: Int) throws(JSONProblem) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard index < source.count else { throw problem(.cut) }
            let byte = byte(index)
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
            default: throw problem(.hexadecimal, at: start)
            }
            index += 1
        }
        return value
    }
}
