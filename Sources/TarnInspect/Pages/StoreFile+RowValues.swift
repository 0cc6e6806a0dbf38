// Rows as a source of records.

import TarnStore

extension StoreFile {
    func removedFields(of entity: UInt16) -> Set<UInt16> { rules[entity]?.removed ?? [] }

    func wholeKey(_ entity: Catalog.Entity, ofDigest digest: Bytes) -> RecordKey? {
        guard let bytes = value(digest, in: TableName.records(entity.root)) else { return nil }
        let whole = bytes.withUnsafeBytes { bytes -> RecordKey? in
            guard EncodedRow.hasValidChecksum(bytes, table: UInt32(entity.root), key: digest) else { return nil }
            return decoder.lending { (try? decoder.view(bytes)).flatMap { key(entity, digest, $0) } }
        }
        // The digest alone would pass for that of a missing record.
        if whole == nil {
            note(.rowForm, "\(entity.name) \(describe(digest))", "unreadable, or the checksum is wrong")
        }
        return whole
    }

    @discardableResult
    func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool {
        guard let list = EdgeList(value) else {
            guard value.tag == ValueTag.references else { return value.tag != ValueTag.edges }
            var isGoingOn = true
            return try value.forEachReference { if isGoingOn { isGoingOn = try body($0) } }
        }
        var key = ByteWriter()
        for position in 0..<list.count {
            key.removeAll()
            key.appendBigEndian(list.id)
            key.appendBigEndian(position)
            guard let target = self.value(key.bytes, in: TableName.edges) else { return false }
            guard try target.withUnsafeBytes({ try body($0) }) else { return true }
        }
        return true
    }

    /// Returns the entity of a row; nil if the table cannot contain such a row.
    func entity(of row: EncodedRow, root: UInt16) -> Catalog.Entity? {
        catalog.entity(id: row.entity).flatMap { $0.root == root ? $0 : nil }
    }
}
