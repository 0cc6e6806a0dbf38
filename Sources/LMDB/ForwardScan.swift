/// Entries of a table in the order of their keys, from a key on. In a snapshot they come page by page, otherwise from a cursor.
package struct ForwardScan: ~Copyable {
    private var pages: PageWalk?
    private let cursor: RawCursor?
    /// Whether entries come page by page.
    var isAlongPages: Bool { cursor == nil }
    private var next: RawCursor.Entry?

    /// - Parameter name: the table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: @autoclosure () -> String) throws(LMDBError) {
        if let tree = try PageTree.of(table, name(), transaction) {
            pages = PageWalk(tree)
            cursor = nil
        } else {
            pages = nil
            cursor = try transaction.cursor(table)
        }
    }

    deinit { cursor?.close() }

    /// Goes to the first entry whose key is not less. Of an empty one: to the first.
    package mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        guard let cursor else {
            try pages?.seek(key)
            return
        }
        next = try key.isEmpty ? cursor.first() : cursor.seek(key)
    }

    /// Lends the next entries, as many as fit.
    ///
    /// - Returns: how many; none at the end of the table.
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
