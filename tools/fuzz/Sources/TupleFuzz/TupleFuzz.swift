// Tuples: arbitrary bytes are read within their bounds, and readable tuples are encoded to the same
// bytes.

import FuzzDriver
@testable import TarnStore

@_cdecl("TupleFuzz_main")
public func run(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    fuzz(count, arguments, seeds: { seeds }) { input in
        input.withUnsafeBytes { bytes in
            if let found = elements(bytes) {
                let canonical = encoded(found)
                canonical.withUnsafeBytes { again in
                    precondition(elements(again).map(encoded) == canonical, "what was read is encoded as something else")
                }
            }
            checkKey(bytes)
            checkEntry(bytes)
        }
    }
}

/// All elements; nil if the bytes are not a tuple.
private func elements(_ bytes: Bytes) -> [TupleElement]? {
    var reader = TupleReader(bytes), skipping = TupleReader(bytes), elements: [TupleElement] = []
    while !reader.isAtEnd {
        let element = reader.next(), isSkipped = skipping.skip()
        precondition(element == nil || isSkipped, "what is read is not skipped")
        precondition(reader.offset <= bytes.count && skipping.offset <= bytes.count, "a place outside of the bytes")
        guard let element else { return nil }
        precondition(reader.offset == skipping.offset, "it is skipped to another place")
        elements.append(element)
    }
    return elements
}

private func encoded(_ elements: [TupleElement]) -> [UInt8] {
    var writer = ByteWriter()
    for element in elements {
        switch element {
        case .null: writer.appendTupleNull()
        case .bool(let value): writer.appendTuple(value)
        case .int(let value): writer.appendTuple(value)
        case .uint(let value): writer.appendTuple(value)
        case .double(let value): writer.appendTuple(value)
        case .string(var value): value.withUTF8 { writer.appendTuple(string: Bytes($0)) }
        case .bytes(let value): value.withUnsafeBytes { writer.appendTuple(bytes: $0) }
        case .uuid(let value): value.withUnsafeBytes { writer.appendTuple(uuid: $0) }
        case .decimal(let value): writer.appendTuple(value)
        }
    }
    return Array(writer.bytes)
}

/// A primary key that can be read has a storage key that can be found again before anything.
private func checkKey(_ bytes: Bytes) {
    _ = RecordKey(storageKey: bytes)
    _ = RecordKey.describe(storageKey: bytes)
    for components in 1...3 {
        if let length = StorageKey.length(in: bytes, components: components) {
            precondition(length <= bytes.count, "a storage key ends outside of the bytes")
        }
    }
    guard let key = RecordKey(tuple: bytes) else { return }
    let stored = key.storageKey
    precondition(stored.count <= StorageKey.digestLength, "a storage key is too long")
    if stored.count < StorageKey.digestLength {
        precondition(stored.withUnsafeBytes { RecordKey(storageKey: $0) } == key, "a key is read as another one")
    }
    for rest in [[], [0x00], [0x15, 0x01], [0x02, 0xFF, 0x00]] as [[UInt8]] {
        let length = (stored + rest).withUnsafeBytes { StorageKey.length(in: $0, components: key.components.count) }
        precondition(length == stored.count, "a storage key does not end where it does")
    }
}

/// Entries of indexes are split inside of their bytes.
private func checkEntry(_ bytes: Bytes) {
    for components in 1...3 {
        let (length, _) = IndexEntry.values(of: bytes, components: components)
        for positioned in [false, true] {
            if let owner = IndexEntry.owner(in: bytes, afterValuesOf: length, positioned: positioned) {
                precondition(!owner.isEmpty && owner.count < bytes.count, "an owner outside of the entry")
            }
        }
        if length <= bytes.count {
            _ = IndexEntry.isCut(bytes.slice(0..<length))
            _ = IndexEntry.begins(bytes, with: bytes.slice(0..<length))
        }
    }
}

private var seeds: [[UInt8]] {
    let long = String(repeating: "x", count: 300)
    let tuples: [[TupleElement]] = [
        [.null, .bool(true), .bool(false)], [.int(0), .int(1), .int(-1), .int(.max), .int(.min), .uint(.max)],
        [.double(0), .double(-1.5), .double(.nan), .double(.infinity)], [.string(""), .string("a\0b"), .string("ä€😀")],
        [.bytes([0, 0xFF, 0, 1])], [.uuid(Array(0..<16))], [.string(long), .int(7)],
        ["0", "-1.5", "1e300", "-1e-300", "123456789012345678901234567890.5"].compactMap { ExactDecimal($0).map(TupleElement.decimal) },
    ]
    let keys = [RecordKey(7), RecordKey("main"), RecordKey([.string("acme"), .int(17)]), RecordKey(long)]
    return tuples.map(encoded) + keys.map(\.storageKey) + keys.map { Array(encoded([.string("value")])) + $0.storageKey }
}
