internal import LMDB

/// A cursor over a table with checksums. It returns contents, and throws at a damaged value.
struct ChecksummedCursor {
    private let table: ChecksummedTable
    /// The cursor over the stored values.
    let stored: RawCursor

    init(_ table: ChecksummedTable, _ stored: RawCursor) {
        self.table = table
        self.stored = stored
    }

    func close() { stored.close() }
    func first() throws(LMDBError) -> RawCursor.Entry? { try content(stored.first()) }
    func next() throws(LMDBError) -> RawCursor.Entry? { try content(stored.next()) }
    func seek(_ key: Bytes) throws(LMDBError) -> RawCursor.Entry? { try content(stored.seek(key)) }
    func find(_ key: Bytes) throws(LMDBError) -> RawCursor.Entry? { try content(stored.find(key)) }

    func put(_ key: Bytes, _ content: Bytes, append: Bool = false) throws(LMDBError) {
        guard table.hasChecksums else { return try stored.put(key, content, append: append) }
        table.fill(try stored.reserve(key, count: content.count + ValueChecksum.size, append: append), key, content)
    }

    private func content(_ entry: RawCursor.Entry?) throws(LMDBError) -> RawCursor.Entry? {
        guard table.hasChecksums, let entry else { return entry }
        return (entry.key, try table.checkedContent(entry.value, key: entry.key))
    }
}
