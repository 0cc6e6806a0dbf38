// The changes of indexes in a transaction: collected first, then written in key order.

internal import LMDB

/// Collects changes of indexes and applies them in key order, table by table.
struct IndexChanges: ~Copyable {
    private struct Change {
        /// The first bytes of the key. Most comparisons need no more.
        var prefix: UInt64
        var offset: Int
        var length: Int
        var isInsertion: Bool
        /// The length of the values that must be unique, in bytes of the key. 0 if there are none.
        var unique: Int
    }

    private var keys = ByteWriter(capacity: 1 << 14)
    private var changes: [UInt32: [Change]] = [:]

    mutating func add(_ key: Bytes, to index: UInt32, insertion: Bool, unique: Int = 0) {
        changes[index, default: []].append(
            Change(prefix: key.prefix64, offset: keys.count, length: key.count, isInsertion: insertion, unique: unique))
        keys.append(key)
    }

    /// Applies all changes. If a key has several changes, the last one counts.
    ///
    /// - Parameter isDouble: Called with an index and unique values that several entries have for
    ///   now.
    mutating func apply(
        _ raw: RawTransaction, table: (UInt32) throws -> Table, ifDouble isDouble: (UInt32, Bytes) -> Void
    ) throws {
        for (index, var list) in changes {
            let all = keys.bytes
            // The changes are places in `keys`, which has not shrunk since they were added.
            func key(_ change: Change) -> Bytes { all.uncheckedSlice(change.offset..<change.offset + change.length) }
            list.sort {
                if $0.prefix != $1.prefix { return $0.prefix < $1.prefix }
                let order = Bytes.compare(key($0), key($1))
                return order != 0 ? order < 0 : $0.offset < $1.offset
            }
            let table = try table(index)
            var known = try RefilledTable(raw, table, changes: list.count)
            var appender = try Appender(raw, table)
            // Keys in order are adjacent in the tree, so a cursor need not search from the root.
            let cursor = try raw.cursor(table)
            defer { cursor.close() }
            for position in list.indices {
                let change = list[position]
                if position + 1 < list.count, Bytes.equal(key(change), key(list[position + 1])) { continue }
                try known.write(before: key(change), cursor)
                if change.isInsertion {
                    try cursor.put(key(change), .empty, append: appender.isPastTheEnd(key(change)))
                } else {
                    _ = try raw.delete(table, key(change))
                }
            }
            try known.writeRest(cursor)
            for change in list where change.isInsertion && change.unique > 0 {
                let values = key(change).slice(0..<change.unique)
                var holders = 0, entry = try cursor.seek(values)
                while holders < 2, let found = entry?.key, found.hasPrefix(values) {
                    if IndexEntry.begins(found, with: values) { holders += 1 }
                    entry = try cursor.next()
                }
                if holders > 1 { isDouble(index, values) }
            }
        }
        changes.removeAll(keepingCapacity: true)
        keys.removeAll()
    }
}
