internal import LMDB

/// The end of the table that is being written.
/// Records that arrive in key order are appended without being looked up first. Only this
/// transaction changes the table, and its deletions never move the end forward.
struct TableTail: ~Copyable {
    private var root: UInt16?
    private var last = ByteWriter(capacity: 64)
    private var isKnown = false, isEmpty = false
    /// The cursor at the end of the table, while the table is only appended to.
    /// It avoids the search from the root.
    private var cursor: RawCursor?

    /// Returns whether a key is past the end.
    /// The end is looked up when a table is written for the second time in a row.
    mutating func isPast(_ key: Bytes, _ root: UInt16, _ raw: RawTransaction, _ table: Table) throws(LMDBError) -> Bool
    {
        guard self.root == root else {
            self.root = root
            isKnown = false
            return false
        }
        if !isKnown { try lookUp(raw, table) }
        return isEmpty || Bytes.compare(key, last.bytes) > 0
    }

    private mutating func lookUp(_ raw: RawTransaction, _ table: Table) throws(LMDBError) {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        let end = try cursor.last()
        last.removeAll()
        if let end { last.append(end.key) }
        isEmpty = end == nil
        isKnown = true
    }

    /// Announces that many records are appended to a table, until `endAppending`.
    /// No other change of the table is allowed in between.
    mutating func beginAppending(_ root: UInt16, _ raw: RawTransaction, _ table: Table) throws(LMDBError) {
        endAppending()
        if self.root != root || !isKnown {
            self.root = root
            try lookUp(raw, table)
        }
        cursor = try raw.cursor(table)
    }

    /// Whether many records are being appended.
    var isAppending: Bool { cursor != nil }

    mutating func endAppending() {
        cursor?.close()
        cursor = nil
    }

    /// Appends a row, and returns its reserved room.
    mutating func append(
        _ key: Bytes, count: Int, _ root: UInt16, _ raw: RawTransaction, _ table: Table
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        if self.root == root, isKnown {
            last.removeAll()
            last.append(key)
            isEmpty = false
        }
        if let cursor { return try cursor.reserve(key, count: count, append: true) }
        return try raw.reserve(table, key, count: count, append: true)
    }
}
