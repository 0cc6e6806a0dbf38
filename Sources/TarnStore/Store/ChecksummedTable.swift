// Tables whose values end with a checksum (format 3).
//
//   value   content, u32 little-endian CRC-32C over: the table's name, the key, the content
//
// Rows have a checksum in their header, and index entries follow from rows. All other data that
// determines the result of a read is in these tables: `meta`, `requests`, `changes`, `edges`,
// `scans`, `bodies`. In formats 1 and 2 they have no checksums.

package import LMDB

/// A table whose values end with a checksum. In a store of format 1 or 2 they have none.
package struct ChecksummedTable: Sendable {
    package let table: Table
    let name: StaticString
    let hasChecksums: Bool

    package static let firstFormat = 3

    init(_ table: Table, _ name: StaticString, format: Int) {
        self.table = table
        self.name = name
        hasChecksums = format >= ChecksummedTable.firstFormat
    }

    /// Returns the content of a stored value. Nil if it is damaged.
    package func content(_ stored: Bytes, key: Bytes) -> Bytes? {
        hasChecksums ? ValueChecksum.content(stored, table: name, key: key) : stored
    }

    func checkedContent(_ stored: Bytes, key: Bytes) throws(LMDBError) -> Bytes {
        guard let content = content(stored, key: key) else { throw damage(key) }
        return content
    }

    /// Creates the error for a damaged value.
    func damage(_ key: Bytes) -> LMDBError {
        let isText = key.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        let shown =
            isText
            ? "`\(String(decoding: key, as: UTF8.self))`"
            : key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return LMDBError(.corrupted, operation: "read \(shown) in the table \(name): the value is damaged")
    }

    /// Writes content and checksum into the reserved room of a value.
    func fill(_ room: UnsafeMutableRawBufferPointer, _ key: Bytes, _ content: Bytes) {
        precondition(room.count == content.count + ValueChecksum.size, "liblmdb reserves the room that was asked for")
        room.copyMemory(from: content)
        let checksum = ValueChecksum.of(content, table: name, key: key)
        room.storeBytes(of: checksum.littleEndian, toByteOffset: content.count, as: UInt32.self)
    }
}

extension RawTransaction {
    /// Reads the content of a value. Nil if there is none.
    ///
    /// - Throws: `LMDBError.corrupted` if its checksum is wrong.
    func get(_ table: ChecksummedTable, _ key: Bytes) throws(LMDBError) -> Bytes? {
        guard let stored = try get(table.table, key) else { return nil }
        return table.hasChecksums ? try table.checkedContent(stored, key: key) : stored
    }

    /// Stores content. Its bytes must not be located in a page of the store.
    func put(_ table: ChecksummedTable, _ key: Bytes, _ content: Bytes) throws(LMDBError) {
        guard table.hasChecksums else { return try put(table.table, key, content) }
        table.fill(try reserve(table.table, key, count: content.count + ValueChecksum.size), key, content)
    }

    func delete(_ table: ChecksummedTable, _ key: Bytes) throws(LMDBError) -> Bool { try delete(table.table, key) }
    func removeAll(_ table: ChecksummedTable) throws(LMDBError) { try removeAll(table.table) }
    func statistics(_ table: ChecksummedTable) throws(LMDBError) -> TableStatistics { try statistics(table.table) }

    func cursor(_ table: ChecksummedTable) throws(LMDBError) -> ChecksummedCursor {
        ChecksummedCursor(table, try cursor(table.table))
    }
}
