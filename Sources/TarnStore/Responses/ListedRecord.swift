/// A record that a response lists.
public struct ListedRecord: Sendable, Hashable {
    /// The id of the root entity.
    package var entity: UInt16
    /// The storage key of the record.
    package var storageKey: [UInt8]

    /// Creates a reference to a listed record.
    package init(entity: UInt16, storageKey: [UInt8]) {
        self.entity = entity
        self.storageKey = storageKey
    }
}

extension ListedRecord {
    /// The order of the table of members.
    package static func precedes(_ a: ListedRecord, _ b: ListedRecord) -> Bool {
        guard a.entity == b.entity else { return a.entity < b.entity }
        return a.storageKey.withUnsafeBytes { x in b.storageKey.withUnsafeBytes { Bytes.compare(x, $0) < 0 } }
    }
}

extension ListedRecord {
    /// The key in the table of members for a response that lists the record.
    func memberKey(_ id: UInt64, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.appendBigEndian(entity)
        writer.append(storageKey)
        writer.appendBigEndian(id)
    }
}
