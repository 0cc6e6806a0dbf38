/// Entries of a table in key order, from a key on.
///
/// If pages are read directly, the entries are read page by page. Otherwise, and in a write
/// transaction, they are read with a cursor.
package struct ForwardScan: ~Copyable {
    private var pages: PageCursor?
    private let cursor: RawCursor?
    /// Whether the entries are read page by page.
    var isAlongPages: Bool { cursor == nil }
    private var next: RawCursor.Entry?

    /// - Parameter name: the table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        if let tree = try PageTree.of(table, name(), transaction) {
            pages = PageCursor(tree)
            cursor = nil
        } else {
            pages = nil
            cursor = try transaction.cursor(table)
        }
    }

    deinit { cursor?.close() }

    /// Moves to the first entry whose key is not less; an empty key moves to the first entry.
    package mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        guard let cursor else {
            try pages?.seek(key)
            return
        }
        next = try key.isEmpty ? cursor.first() : cursor.seek(key)
    }

    /// Fills a batch with the next entries, which are borrowed.
    ///
    /// - Returns: The number of entries; 0 at the end of the table.
    package mutating func fill(_ batch: UnsafeMutableBufferPointer<RawCursor.Entry>) throws(LMDBError) -> Int {
        guard let cursor else { return try pages?.fill(batch) ?? 0 }
        var count = 0
        while count < batch.count, let entry = next {
            batch.initializeElement(at: count, to: entry)
            count += 1
            next = try cursor.next()
        }
        return count
    }
}
