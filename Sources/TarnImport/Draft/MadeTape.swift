internal import TarnStore

/// Texts and whole numbers that are created for a record, in the format of a tape.
struct MadeTape: ~Copyable {
    private var words = ByteWriter(capacity: 64)
    private var strings = ByteWriter(capacity: 64)

    mutating func removeAll() {
        words.removeAll()
        strings.removeAll()
    }

    /// Appends a number.
    ///
    /// - Returns: the index of the value.
    mutating func append(_ number: Int) -> Int {
        append(.int, 0)
        words.appendLittleEndian(UInt64(bitPattern: Int64(number)))
        return words.count / 8 - 2
    }

    mutating func append(_ text: Bytes) -> Int {
        append(.string, UInt64(strings.count))
        strings.appendLittleEndian(UInt32(text.count))
        strings.append(text)
        return words.count / 8 - 1
    }

    mutating func append(_ text: String) -> Int {
        var text = text
        return text.withUTF8 { append(Bytes($0)) }
    }

    private mutating func append(_ kind: Tape.Kind, _ payload: UInt64) {
        words.appendLittleEndian(UInt64(kind.rawValue) << 56 | payload)
    }

    /// Returns the tape, valid until the next value is appended.
    ///
    /// It contains no doubles, so it needs no parser of its own.
    func tape(beside other: Tape) -> Tape {
        let bytes = words.bytes
        return Tape(
            words: UnsafeBufferPointer(
                start: bytes.baseAddress?.assumingMemoryBound(to: UInt64.self), count: bytes.count / 8),
            strings: strings.bytes.baseAddress ?? other.strings, parser: other.parser)
    }
}
