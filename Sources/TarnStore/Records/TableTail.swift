internal import LMDB

/// Knows where the table that is being written ends: records that come one by one in the order of their keys are appended, and
/// are not looked for first. Only this transaction changes the table, and what it deletes makes the end no greater.
struct TableTail: ~Copyable {
    private var root: UInt16?
    private var last = ByteWriter(capacity: 64)
    private var isKnown = false, isEmpty = false
    /// Stands at the end of the table, while nothing but appending changes it: there it need not search from the root.
    private var cursor: RawCursor?

    /// Whether a key lies past the end. The end is looked up when a table is written for the second time in a row.
    mutating func isPast(_ key: Bytes, _ root: UInt16, _ raw: RawTransaction, _ table: Table) throws(LMDBError) -> Bool {
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

    /// Says that many records of a table are going to be appended one after the other, until `endAppending`, and that nothing
    /// else changes the table meanwhile.
    mutating func beginAppending(_ root: UInt16, _ raw: RawTransaction, _ table: Table) throws(LMDBError) {
        endAppending()
        if self.root != root || !isKnown {
            self.root = root
            try lookUp(raw, table)
        }
        cursor = try raw.cursor(table)
    }

    mutating func endAppending() {
        cursor?.close()
        cursor = nil
    }

    /// Reserves room for a row behind the end.
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
