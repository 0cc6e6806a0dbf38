// The entries of a table that a commit fills anew, in key order.

internal import LMDB

/// The entries of a table beside which many more come: they leave the table, and are written again
/// in key order together with the new ones.
///
/// New entries between known ones split pages, each of which stays half full (mdb.c,
/// `mdb_page_split`). Entries that are appended fill their pages. A first import writes few entries
/// before its dictionary is trained and nearly all of them afterwards, in one commit.
struct RefilledTable: ~Copyable {
    private var keys = ByteWriter()
    private var ends: [Int] = []
    private var next = 0

    /// The least number of changes beside which a table is filled anew. Fewer fit some pages.
    private static let leastChanges = 4096
    /// The number of changes for each known entry.
    private static let changesOfEntry = 2

    /// Takes the entries out of a table if there are few beside the changes; otherwise none.
    ///
    /// - Parameter changes: The number of changes that follow, in key order.
    init(_ raw: RawTransaction, _ table: Table, changes: Int) throws(LMDBError) {
        guard changes >= RefilledTable.leastChanges else { return }
        let known = try raw.statistics(table).entries
        guard known > 0, known <= changes / RefilledTable.changesOfEntry else { return }
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        ends.reserveCapacity(known)
        var entry = try cursor.first()
        while let (key, value) = entry {
            // An index has no values. Another table stays as it is.
            guard value.isEmpty else {
                ends.removeAll()
                return
            }
            keys.append(key)
            ends.append(keys.count)
            entry = try cursor.next()
        }
        try raw.removeAll(table)
    }

    /// Writes the entries before a key. An entry with the key itself is left to the caller.
    mutating func write(before key: Bytes, _ cursor: RawCursor) throws(LMDBError) {
        while next < ends.count {
            let order = Bytes.compare(self.key(next), key)
            guard order < 0 else {
                if order == 0 { next += 1 }
                return
            }
            try writeNext(cursor)
        }
    }

    /// Writes the entries that are left.
    mutating func writeRest(_ cursor: RawCursor) throws(LMDBError) {
        while next < ends.count { try writeNext(cursor) }
    }

    private func key(_ place: Int) -> Bytes {
        keys.bytes.uncheckedSlice((place == 0 ? 0 : ends[place - 1])..<ends[place])
    }

    private mutating func writeNext(_ cursor: RawCursor) throws(LMDBError) {
        try cursor.put(key(next), .empty, append: true)
        next += 1
    }
}
