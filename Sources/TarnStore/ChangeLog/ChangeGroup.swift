// Changes of one kind that follow each other, in one entry of the change log.
//
//   key     of the first change; the ordinals of the others follow without a gap
//   value   u8 operation + 64, u16 entity, and for each change u8 length, storage key
//
// An entry of its own needs some 34 bytes for a change: its key, its checksum, and what LMDB and
// the page need for it.

/// The changes of an entry of the change log: one, or a group.
package struct ChangeGroup: Sequence {
    /// The flag of the operation.
    static let flag: UInt8 = 64
    /// The largest value of a group: eight entries fill a page of 4,096 bytes.
    static let longest = 478

    private let first: ChangeEntry
    /// The lengths and keys of the other changes.
    private let others: Bytes
    package let count: Int

    /// Decodes an entry; nil if it is malformed.
    package init?(_ key: Bytes, _ value: Bytes) {
        guard value.count > 0, value[0] & ChangeGroup.flag != 0 else {
            guard let change = ChangeEntry(key, value) else { return nil }
            (first, others, count) = (change, .empty, 1)
            return
        }
        guard key.count == ChangeEntry.keySize, value.count > 4,
            let operation = ChangeEntry.Operation(rawValue: value[0] & ~ChangeGroup.flag)
        else { return nil }
        var offset = 3, count = 0
        while offset < value.count {
            let end = offset + 1 + Int(value[offset])
            guard value[offset] > 0, end <= value.count else { return nil }
            offset = end
            count += 1
        }
        let (sequence, ordinal) = ChangeEntry.position(of: key)
        guard UInt64(ordinal) + UInt64(count) <= UInt64(UInt32.max) else { return nil }
        let end = 4 + Int(value[3])
        first = ChangeEntry(sequence, ordinal, operation, entity: value.load(1), storageKey: value.slice(4..<end))
        others = value.slice(end..<value.count)
        self.count = count
    }

    package func makeIterator() -> Iterator { Iterator(first, others) }

    package struct Iterator: IteratorProtocol {
        private var upcoming: ChangeEntry?
        private let others: Bytes
        private var offset = 0

        fileprivate init(_ first: ChangeEntry, _ others: Bytes) {
            upcoming = first
            self.others = others
        }

        package mutating func next() -> ChangeEntry? {
            guard let change = upcoming else { return nil }
            guard offset < others.count else {
                upcoming = nil
                return change
            }
            let start = offset + 1
            offset = start + Int(others[offset])
            upcoming = ChangeEntry(
                change.sequence, change.ordinal + 1, change.operation, entity: change.entity,
                storageKey: others.slice(start..<offset))
            return change
        }
    }

    /// Appends the value of a group with one change.
    static func append(
        _ operation: ChangeEntry.Operation, _ entity: UInt16, _ key: Bytes, to writer: inout ByteWriter
    ) {
        writer.append(operation.rawValue | flag)
        writer.appendLittleEndian(entity)
        append(key, to: &writer)
    }

    /// Appends another change to the value of a group.
    static func append(_ key: Bytes, to writer: inout ByteWriter) {
        writer.append(UInt8(key.count))
        writer.append(key)
    }
}
