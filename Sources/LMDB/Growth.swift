// The bounds for the growth of the file in a write transaction: a limit below the map, and a
// reserve above the limit for transactions that free pages.
//
// At MDB_MAP_FULL even a delete fails, since a page is copied before it is changed. Therefore Tarn
// has a limit of its own: additions stop at the limit, and pure deletions may use the reserve.

import CLMDB

/// The bounds of one write transaction, top-level or child, in pages of the file.
package struct Growth {
    /// The maximum size of the file after a transaction that adds.
    package var limit = Int.max
    /// The maximum size of the file after a transaction that only frees.
    package var end = Int.max
    /// The size of the file at the beginning of the transaction.
    ///
    /// A transaction without growth is always permitted, even in a file that is too large.
    package var start = 0
    /// Whether the transaction has announced an addition; see ``RawTransaction/willAdd()``.
    var isAdding = false

    init() {}
}

extension RawTransaction {
    /// The number of pages of the file after a commit of this write transaction.
    ///
    /// liblmdb has no call for it. It is the third word of `struct MDB_txn` (mdb.c 0.9: mt_parent,
    /// mt_child, mt_next_pgno, mt_txnid). `knowsLayout` compares it with the results of the public
    /// calls before any code relies on it.
    package var pageCount: Int { word(2) }

    private func word(_ index: Int) -> Int {
        UnsafeRawPointer(pointer).load(fromByteOffset: index * MemoryLayout<Int>.size, as: Int.self)
    }

    /// Returns whether `pageCount` is readable in a new top-level write transaction.
    func knowsLayout(_ env: OpaquePointer) -> Bool {
        var information = MDB_envinfo()
        return mdb_env_info(env, &information) == 0 && word(3) == mdb_txn_id(pointer)
            && word(2) == information.me_last_pgno + 1
    }

    /// Announces that the transaction adds to the file.
    ///
    /// The limit of the transaction is then the quota, not the reserve.
    ///
    /// - Throws: `.fileLimit` if the transaction has already grown the file past its limit.
    package func willAdd() throws(LMDBError) {
        guard let growth else { return }
        growth.pointee.isAdding = true
        try checkGrowth()
    }

    /// Checks the growth of the file against the bound of the transaction.
    ///
    /// - Throws: `.fileLimit` if the transaction has grown the file past its bound.
    func checkGrowth() throws(LMDBError) {
        guard let growth = growth?.pointee, pageCount > growth.start else { return }
        guard pageCount <= (growth.isAdding ? growth.limit : growth.end) else {
            throw LMDBError(.fileLimit, operation: growth.isAdding ? "put" : "delete")
        }
    }
}

extension WriteTransaction {
    /// Bounds the growth of the file in this transaction and in its later children.
    ///
    /// An addition may grow the file to `limit` bytes, and a pure deletion to `reserve` bytes
    /// more. A transaction that does not grow the file is not bounded. A transaction that exceeds
    /// its bound is not committed and throws `.fileLimit`.
    ///
    /// The map is a bound, too: without a limit, additions may use all of the map except the
    /// reserve.
    ///
    /// - Throws: `.unknownLibrary` if there is a limit and this build of liblmdb does not expose
    ///   the size of the file.
    public mutating func limitFile(to limit: Int?, reserve: Int) throws(LMDBError) {
        guard let growth = raw.growth else { return }
        guard raw.knowsLayout(environment.env) else {
            if limit == nil { return }
            throw LMDBError(.unknownLibrary, operation: "limit", path: environment.path)
        }
        var information = MDB_envinfo(), statistics = MDB_stat()
        try check(mdb_env_info(environment.env, &information), "limit")
        try check(mdb_env_stat(environment.env, &statistics), "limit")
        let page = Int(statistics.ms_psize), most = max(0, information.me_mapsize - reserve)
        growth.pointee.limit = min(limit ?? most, most) / page
        growth.pointee.end = growth.pointee.limit + reserve / page
        growth.pointee.start = raw.pageCount
    }

    /// Whether the file has nearly reached its limit.
    package var isNearLimit: Bool {
        guard let growth = raw.growth?.pointee, growth.limit < Int.max else { return false }
        return raw.pageCount + WriteTransaction.nearness >= growth.limit
    }

    /// Whether this transaction is near the limit and has not announced an addition.
    package var isFreeingNearLimit: Bool { isNearLimit && raw.growth?.pointee.isAdding == false }

    /// Whether more than half of the reserve is used.
    package var isDeepInReserve: Bool {
        guard let growth = raw.growth?.pointee else { return false }
        return raw.pageCount >= growth.limit + (growth.end - growth.limit) / 2
    }

    private static let nearness = 256
}
