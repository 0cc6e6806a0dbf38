// How large the store's file may get.
//
// The quota is the store's own and stands in it, so that it is the same for every process. It lies below the map, with a
// reserve in between: at the end of the map even a delete fails.

internal import LMDB

enum Quota {
    static let smallest = 1 << 20
    /// What a store without a quota needs at least.
    static let smallestMap = 1 << 30

    /// What deletes may use above the quota: pages are copied before they are freed.
    static func reserve(of quota: Int?) -> Int {
        guard let quota else { return 64 << 20 }
        return min(max(1 << 20, quota / 16), 256 << 20)
    }

    /// The largest quota that leaves room for its reserve in a map.
    static func largest(ofMap map: Int) -> Int { map - reserve(of: map) }

    static func check(_ quota: Int, most: Int) throws(StoreError) {
        guard quota >= smallest, quota <= most else {
            throw .quotaOutOfRange(quota: quota, smallest: smallest, largest: most)
        }
    }
}

extension Store {
    /// How large the store's file may get, in bytes. Nil if only the disk and the map (1 TiB, or what the system grants)
    /// bound it.
    ///
    /// What would bring the file past it is `StoreError.storeFull`, and nothing of that write is kept. Reads go on, and so do
    /// writes that find room in pages that were freed. A write that only deletes may use a reserve above the quota (a
    /// sixteenth, 1 MiB at least and 256 MiB at most): delete in small steps, since a page is copied before it is freed; and
    /// end long reads, since what they see is not reused. The file never shrinks by itself.
    public var quota: Int? {
        get throws {
            let meta = state.meta
            return try environment.read { transaction in try transaction.raw.quota(meta) }
        }
    }

    /// Changes the quota, for every process that has the store open. A quota below the present size is allowed: nothing is
    /// deleted, and the file does not grow further.
    ///
    /// - Parameter quota: bytes, 1 MiB at least; nil for no quota.
    /// - Throws: `StoreError.quotaOutOfRange` if it is smaller than that, or with its reserve larger than the map of this
    ///   process; and what a `write` throws.
    public func setQuota(_ quota: Int?) throws {
        if let quota {
            let map = try mappingErrors { try environment.information().mapSize }
            try Quota.check(quota, most: Quota.largest(ofMap: map))
        }
        try write(alone: true) { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: MetaKey.quota, number: UInt64(quota ?? 0))
            try raw.put(meta, key: MetaKey.quotaBase, number: UInt64(try raw.fileSize(meta)))
        }
    }

    /// Makes pages that were freed near the quota usable for the next write: they are so only for the second transaction
    /// after the one that freed them (mdb.c, `mdb_find_oldest`), and a write that fails for want of room is none.
    ///
    /// - Parameter always: also when there is room left, since a write has just failed for want of more.
    func settleFreedPages(always: Bool) {
        // A reader that was killed may hold the pages that would have been room.
        if always { environment.freeSlotsOfDeadReaders() }
        // What fails here will fail again, with an error, in the next write.
        try? inWriteTransaction { transaction, state in
            guard always || transaction.isNearLimit, !transaction.isDeepInReserve else { return }
            let sequence = try transaction.raw.number(state.meta, key: MetaKey.sequence)
            try transaction.raw.put(state.meta, key: MetaKey.sequence, number: sequence)
        }
    }
}

extension WriteTransaction {
    /// Bounds this transaction by the quota. Deletes have their reserve above the quota, or above the size that the file had
    /// when a smaller quota was set.
    mutating func limitFile(byQuotaIn meta: ChecksummedTable) throws(LMDBError) {
        let quota = try raw.quota(meta)
        var reserve = Quota.reserve(of: quota)
        if let quota { reserve += max(0, Int(clamping: try raw.number(meta, key: MetaKey.quotaBase)) - quota) }
        try limitFile(to: quota, reserve: reserve)
    }
}

extension RawTransaction {
    /// The size of the file as this write transaction would leave it, in bytes.
    fileprivate func fileSize(_ table: ChecksummedTable) throws(LMDBError) -> Int { pageCount * (try statistics(table).pageSize) }

    /// The quota as this transaction sees it.
    func quota(_ meta: ChecksummedTable) throws(LMDBError) -> Int? {
        let quota = try number(meta, key: MetaKey.quota)
        return quota == 0 ? nil : Int(clamping: quota)
    }
}
