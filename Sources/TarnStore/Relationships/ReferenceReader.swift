/// Reads the references of a list in a row, one after the other.
struct ReferenceReader {
    private let bytes: Bytes
    private(set) var offset: Int

    init(_ value: EncodedValue?, at offset: Int = 1) {
        bytes = value.flatMap { $0.tag == ValueTag.references ? $0.bytes : nil } ?? .empty
        self.offset = offset
    }

    mutating func next() -> Bytes? {
        guard offset < bytes.count else { return nil }
        let end = offset + 1 + Int(bytes[offset])
        guard end > offset + 1, end <= bytes.count else { return nil }
        defer { offset = end }
        return bytes.slice(offset + 1..<end)
    }
}
