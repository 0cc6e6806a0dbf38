// How far a write transaction may grow the file: a limit below the map, and a reserve above the limit for what frees pages.
//
// At MDB_MAP_FULL even a delete fails, since a page is copied before it is changed. So there is a limit of our own: what
// adds stops there, what only frees may go on into the reserve.

import CLMDB

/// The bounds of one write transaction, top-level or child, in pages of the file.
package struct Growth {
    /// What adds may not bring the file past this.
    package var limit = Int.max
    /// What only frees may not bring it past this.
    package var end = Int.max
    /// The pages of the file when the transaction began: no growth needs no permission, even in a file that is too large.
    package var start = 0
    /// Whether the transaction has said that it adds.
    package var isAdding = false

    package init() {}
}

extension RawTransaction {
    /// The number of pages of the file as this write transaction would leave it.
    ///
    /// liblmdb has no call for it. It is the third word of `struct MDB_txn` (mdb.c 0.9: mt_parent, mt_child, mt_next_pgno,
    /// mt_txnid); `knowsLayout` compares it with what the public calls say before anything relies on it.
    package var pageCount: Int { word(2) }

    private func word(_ index: Int) -> Int {
        UnsafeRawPointer(pointer).load(fromByteOffset: index * MemoryLayout<Int>.size, as: Int.self)
    }

    /// Whether `pageCount` can be read, asked of a top-level write transaction that has just begun.
    func knowsLayout(_ env: OpaquePointer) -> Bool {
        var information = MDB_envinfo()
        return mdb_env_info(env, &information) == 0 && word(3) == mdb_txn_id(pointer)
            && word(2) == information.me_last_pgno + 1
    }

    /// Says that the transaction is about to add to the file: its limit is then the quota, not the reserve.
    ///
    /// - Throws: `.fileLimit` if the transaction has already grown the file past its limit.
    package func willAdd() throws(LMDBError) {
        guard let growth else { return }
        growth.pointee.isAdding = true
        try checkGrowth()
    }

    /// - Throws: `.fileLimit` if the transaction has grown the file further than it may.
    func checkGrowth() throws(LMDBError) {
        guard let growth = growth?.pointee, pageCount > growth.start else { return }
        guard pageCount <= (growth.isAdding ? growth.limit : growth.end) else {
            throw LMDBError(.fileLimit, operation: growth.isAdding ? "put" : "delete")
        }
    }
}

extension WriteTransaction {
    /// Bounds how far this transaction, and the children it has from now on, may grow the file: up to `limit` bytes what
    /// adds, up to `reserve` bytes more what only frees. A transaction that does not make the file larger is not bounded,
    /// and one that went too far is not committed: it ends with `.fileLimit`.
    ///
    /// The map bounds it as well: without a limit, what adds may use all of the map but the reserve.
    ///
    /// - Throws: `.unknownLibrary` if there is a limit and this build of liblmdb does not show the size of the file.
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

    /// Whether the file is about as large as its limit allows.
    package var isNearLimit: Bool {
        guard let growth = raw.growth?.pointee, growth.limit < Int.max else { return false }
        return raw.pageCount + WriteTransaction.nearness >= growth.limit
    }

    /// Whether this transaction has not said that it adds, near the limit.
    package var isFreeingNearLimit: Bool { isNearLimit && raw.growth?.pointee.isAdding == false }

    /// Whether more than half of the reserve is used.
    package var isDeepInReserve: Bool {
        guard let growth = raw.growth?.pointee else { return false }
        return raw.pageCount >= growth.limit + (growth.end - growth.limit) / 2
    }

    private static let nearness = 256
}
