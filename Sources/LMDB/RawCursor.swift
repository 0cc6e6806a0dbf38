import CLMDB
import LMDBPages

/// A cursor of liblmdb. The code that opened it must close it before the transaction ends.
package struct RawCursor {
    let pointer: OpaquePointer
    /// Whether pages that the cursor sees may be read in the map.
    let readsPages: Bool

    package typealias Entry = (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    package func close() { mdb_cursor_close(pointer) }

    package func first() throws(LMDBError) -> Entry? { try move(MDB_FIRST) }
    package func last() throws(LMDBError) -> Entry? { try move(MDB_LAST) }
    package func next() throws(LMDBError) -> Entry? { try move(MDB_NEXT) }
    package func previous() throws(LMDBError) -> Entry? { try move(MDB_PREV) }

    /// Moves to the first entry whose key is not less.
    package func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? { try move(MDB_SET_RANGE, key) }

    /// Moves to the entry with this key.
    package func find(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Entry? { try move(MDB_SET_KEY, key) }

    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, append: Bool = false)
        throws(LMDBError)
    {
        var k = MDB_val(key), v = MDB_val(value)
        try check(mdb_cursor_put(pointer, &k, &v, append ? UInt32(MDB_APPEND) : 0), "put")
    }

    /// Reserves space for a value, which the caller fills completely before the next change.
    package func reserve(
        _ key: UnsafeRawBufferPointer, count: Int, append: Bool = false
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        var k = MDB_val(key), v = MDB_val(mv_size: count, mv_data: nil)
        try check(mdb_cursor_put(pointer, &k, &v, UInt32(MDB_RESERVE) | (append ? UInt32(MDB_APPEND) : 0)), "put")
        return UnsafeMutableRawBufferPointer(start: v.mv_data, count: v.mv_size)
    }

    /// Removes the current entry; `next` then moves to the entry behind it.
    package func delete() throws(LMDBError) { try check(mdb_cursor_del(pointer, 0), "delete") }

    /// Counts the entries from one key up to another or to the end, at most `bound`.
    ///
    /// An empty `lower` is the beginning. The entry at `upper` is looked up first and recognised by
    /// its address, since pages do not move without a change. Therefore no keys are compared on the
    /// way.
    package func count(
        from lower: UnsafeRawBufferPointer, to upper: UnsafeRawBufferPointer?, upTo bound: Int = .max
    ) throws(LMDBError) -> Int {
        var end: UnsafeRawPointer?
        if let upper {
            guard lower.lexicographicallyPrecedes(upper) else { return 0 }
            end = try seek(upper)?.key.baseAddress
        }
        guard bound > 0, let start = try lower.isEmpty ? first() : seek(lower), start.key.baseAddress != end else {
            return 0
        }
        var count = 1, k = MDB_val()
        let pageSize = DirectReads.pageSize(of: self)
        var page = leaf(holding: start.key.baseAddress, pageSize)
        while count < bound {
            if let found = page {
                // The rest of the page is counted from its header; then the cursor moves to its
                // last entry.
                let here = k.mv_data.map { UnsafeRawPointer($0) } ?? start.key.baseAddress
                if let (left, last) = found.entries(behind: here, upTo: end) {
                    count += left
                    guard count < bound, let last else { return min(count, bound) }
                    guard try seek(last) != nil else { return count }
                }
            }
            // The value is not requested (as in mdb_dump.c).
            let code = mdb_cursor_get(pointer, &k, nil, MDB_NEXT)
            if code == MDB_NOTFOUND { break }
            try check(code, "cursor")
            if UnsafeRawPointer(k.mv_data) == end { break }
            count += 1
            if page != nil { page = leaf(holding: k.mv_data, pageSize) }
        }
        return count
    }

    private func leaf(holding key: UnsafeRawPointer?, _ size: Int?) -> PageView? {
        guard let size, let page = PageView(holding: key, size: size), page.isLeaf, page.count > 0 else { return nil }
        return page
    }

    private func move(
        _ operation: MDB_cursor_op, _ key: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) throws(LMDBError) -> Entry? {
        var k = MDB_val(key), v = MDB_val()
        let code = mdb_cursor_get(pointer, &k, &v, operation)
        if code == 0 { return (UnsafeRawBufferPointer(k), UnsafeRawBufferPointer(v)) }
        // An empty key, and a key beyond the limit, are in no table.
        guard code == MDB_NOTFOUND else { throw LMDBError(code: code, operation: "cursor") }
        return nil
    }
}
