// Reading the parts of an operation's entry, with every length checked.

/// A reader of bytes that may be damaged: every read is nil beyond the end.
struct BlobReader {
    private let bytes: Bytes
    private var offset = 0

    init(_ bytes: Bytes) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
        guard bytes.count - offset >= MemoryLayout<T>.size else { return nil }
        defer { offset += MemoryLayout<T>.size }
        return bytes.load(offset, type)
    }

    mutating func take(_ count: Int) -> Bytes? {
        guard count >= 0, bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return bytes.slice(offset..<offset + count)
    }

    /// Reads a value with its length. Nil also if it is no value of a row.
    mutating func value() -> [UInt8]? {
        guard let length = number(UInt32.self), let bytes = take(Int(length)), !bytes.isEmpty,
            EncodedValue(bytes).isWellFormed, bytes[0] != ValueTag.edges
        else { return nil }
        return Array(bytes)
    }

    /// Reads a record. Nil also if its key is too long for a storage key.
    mutating func record() -> ListedRecord? {
        guard let root = number(UInt16.self), let key = storageKey() else { return nil }
        return ListedRecord(entity: root, storageKey: key)
    }

    mutating func storageKey() -> [UInt8]? {
        guard let length = number(UInt8.self), length > 0, Int(length) <= StorageKey.digestLength,
            let key = take(Int(length))
        else { return nil }
        return Array(key)
    }
}

extension ByteWriter {
    mutating func appendBlob(value: [UInt8]) {
        appendLittleEndian(UInt32(value.count))
        append(value)
    }

    mutating func appendBlob(_ record: ListedRecord) {
        appendLittleEndian(record.entity)
        appendBlob(storageKey: record.storageKey)
    }

    mutating func appendBlob(storageKey: [UInt8]) {
        // A storage key has at most 240 bytes.
        append(UInt8(truncatingIfNeeded: storageKey.count))
        append(storageKey)
    }
}
