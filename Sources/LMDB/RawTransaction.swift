// The unsafe layer for the store's hot paths: pointers into the map, valid until the next change or
// the end of the transaction. Only for this package; public API uses spans.

import CLMDB

/// A transaction of liblmdb, which must not be used after its closure has returned.
package struct RawTransaction {
    let pointer: OpaquePointer
    /// The bounds of a write transaction; nil for a snapshot.
    let growth: UnsafeMutablePointer<Growth>?
    /// The cached page trees of a snapshot; nil if its pages must not be read directly.
    let trees: UnsafeMutablePointer<KnownTrees>?

    init(
        _ pointer: OpaquePointer, growth: UnsafeMutablePointer<Growth>? = nil,
        trees: UnsafeMutablePointer<KnownTrees>? = nil
    ) {
        self.pointer = pointer
        self.growth = growth
        self.trees = trees
    }

    /// A smaller form of the transaction, for callers that store it beside every row.
    package var bare: BareTransaction { BareTransaction(pointer: pointer, growth: growth) }

    /// Whether the transaction shows one constant state, in which nothing moves.
    package var isSnapshot: Bool { growth == nil }

    /// The id of the transaction.
    ///
    /// For a snapshot, it is the commit that it shows: equal ids in one environment mean equal
    /// snapshots.
    package var id: Int { mdb_txn_id(pointer) }

    package func get(_ table: Table, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var k = MDB_val(key), v = MDB_val()
        let code = mdb_get(pointer, table.handle, &k, &v)
        if code == 0 { return UnsafeRawBufferPointer(v) }
        guard code == MDB_NOTFOUND else { throw LMDBError(code: code, operation: "get") }
        return nil
    }

    /// Returns a value as ``get(_:_:)`` does, for single look-ups of which a snapshot may make many
    /// in the same table: it then finds them along the pages.
    ///
    /// - Parameter name: The table's name.
    package func get(
        _ table: Table, _ key: UnsafeRawBufferPointer, name: @autoclosure () -> String
    ) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard let trees else { return try get(table, key) }
        var known = trees.pointee[table]
        if known == nil, trees.pointee.countSingle() {
            known = try PageTree.of(table, name(), self)
            if known == nil { trees.pointee.giveUp() }
        }
        guard let known else { return try get(table, key) }
        return try known.value(of: SoughtKey(key))
    }

    package func put(
        _ table: Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, append: Bool = false
    ) throws(LMDBError) {
        var k = MDB_val(key), v = MDB_val(value)
        try check(mdb_put(pointer, table.handle, &k, &v, append ? UInt32(MDB_APPEND) : 0), "put")
    }

    /// Reserves room for a value; the caller fills all of it before the next change.
    package func reserve(
        _ table: Table, _ key: UnsafeRawBufferPointer, count: Int, append: Bool = false
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        var k = MDB_val(key), v = MDB_val(mv_size: count, mv_data: nil)
        try check(
            mdb_put(pointer, table.handle, &k, &v, UInt32(MDB_RESERVE) | (append ? UInt32(MDB_APPEND) : 0)), "put")
        return UnsafeMutableRawBufferPointer(start: v.mv_data, count: v.mv_size)
    }

    package func delete(_ table: Table, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        var k = MDB_val(key)
        let code = mdb_del(pointer, table.handle, &k, nil)
        if code == MDB_NOTFOUND { return false }
        try check(code, "delete")
        return true
    }

    /// Removes all entries of a table.
    package func removeAll(_ table: Table) throws(LMDBError) {
        try check(mdb_drop(pointer, table.handle, 0), "empty")
    }

    package func cursor(_ table: Table) throws(LMDBError) -> RawCursor {
        var cursor: OpaquePointer?
        try check(mdb_cursor_open(pointer, table.handle, &cursor), "cursor")
        guard let cursor else { throw LMDBError(.other, operation: "cursor") }
        return RawCursor(pointer: cursor, readsPages: trees != nil)
    }

    package func statistics(_ table: Table) throws(LMDBError) -> TableStatistics {
        var s = MDB_stat()
        try check(mdb_stat(pointer, table.handle, &s), "statistics")
        return TableStatistics(
            pageSize: Int(s.ms_psize), depth: Int(s.ms_depth), branchPages: s.ms_branch_pages,
            leafPages: s.ms_leaf_pages,
            overflowPages: s.ms_overflow_pages, entries: s.ms_entries)
    }
}

extension MDB_val {
    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}
