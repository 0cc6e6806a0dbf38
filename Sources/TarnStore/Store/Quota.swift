// The quota: the limit of the size of a store's file.
//
// The quota is stored in the store, so that it is the same for every process. It is smaller than
// the map, with a reserve in between: at the end of the map even a delete fails.

internal import LMDB

/// The limits of quotas and of their reserves, in bytes.
enum Quota {
    static let smallest = 1 << 20
    /// The bound of the numbers that a store has: together with a reserve they are no overflow.
    static let most = 1 << 62
    /// The smallest map for a store without a quota.
    static let smallestMap = 1 << 30

    /// Returns the room above the quota for deletes: LMDB copies a page before it frees it.
    static func reserve(of quota: Int?) -> Int {
        guard let quota else { return 64 << 20 }
        return min(max(1 << 20, quota / 16), 256 << 20)
    }

    /// Returns the largest quota that leaves room for its reserve in a map.
    static func largest(ofMap map: Int) -> Int { map - reserve(of: map) }

    static func check(_ quota: Int, most: Int) throws(StoreOpenError) {
        guard quota >= smallest, quota <= most else {
            throw .quotaOutOfRange(quota: quota, smallest: smallest, largest: most)
        }
    }
}

extension Store {
    /// The limit of the file's size, in bytes. Nil if the store has no quota.
    ///
    /// Without a quota, the disk and the map (1 TiB, or what the system grants) limit the file.
    ///
    /// A write that would exceed the quota fails with `StoreWriteError.storeFull`, and nothing of
    /// it is kept. Reads continue to work, and so do writes that fit into freed pages.
    ///
    /// A write that only deletes may use a reserve above the quota: a sixteenth of it, at least 1
    /// MiB, at most 256 MiB. Delete in small steps, since a page is copied before it is freed. End
    /// long reads, since pages that they see are not reused. The file never shrinks by itself.
    public var quota: Int? {
        get throws {
            let meta = state.meta
            return try environment.read { transaction in try transaction.raw.quota(meta) }
        }
    }

    /// Changes the quota for every process that has the store open.
    ///
    /// A quota below the present size is allowed: nothing is deleted, and the file stops growing.
    ///
    /// - Parameter quota: The limit in bytes, at least 1 MiB; nil for no quota.
    /// - Throws: `StoreOpenError.quotaOutOfRange` if the quota is below 1 MiB, or if it exceeds the
    ///   map of this process together with its reserve. Also the errors of `write`.
    public func setQuota(_ quota: Int?) throws {
        if let quota {
            let map = try mappingErrors { try environment.mapSize }
            try Quota.check(quota, most: Quota.largest(ofMap: map))
        }
        try write(alone: true) { writer in
            let raw = writer.access.raw, meta = writer.access.state.meta
            try raw.put(meta, key: MetaKey.quota, number: UInt64(quota ?? 0))
            try raw.put(meta, key: MetaKey.quotaBase, number: UInt64(try raw.fileSize(meta)))
        }
    }

    /// Commits a write without changes, so that freed pages become usable for the next write.
    /// A page is usable only from the second transaction after the one that freed it (mdb.c,
    /// `mdb_find_oldest`), and a write that fails for lack of room does not count as one.
    ///
    /// - Parameter always: Commits even if there is room left, because a write has just failed for
    ///   lack of more.
    func settleFreedPages(always: Bool) {
        // A killed reader may hold the needed pages.
        if always { environment.freeSlotsOfDeadReaders() }
        // An error here recurs in the next write, which reports it.
        try? inWriteTransaction { transaction, state in
            guard always || transaction.isNearLimit, !transaction.isDeepInReserve else { return }
            let sequence = try transaction.raw.number(state.meta, key: MetaKey.sequence)
            try transaction.raw.put(state.meta, key: MetaKey.sequence, number: sequence)
        }
    }
}

extension WriteTransaction {
    /// Limits this transaction by the quota.
    /// The reserve for deletes starts at the quota. If the file was larger than that when the quota
    /// was set, it starts at that size.
    mutating func limitFile(byQuotaIn meta: ChecksummedTable) throws(LMDBError) {
        let quota = try raw.quota(meta)
        var reserve = Quota.reserve(of: quota)
        if let quota {
            let base = min(Int(clamping: try raw.number(meta, key: MetaKey.quotaBase)), Quota.most)
            reserve += max(0, base - quota)
        }
        try limitFile(to: quota, reserve: reserve)
    }
}

extension RawTransaction {
    /// The size in bytes that the file has if this write transaction commits.
    func fileSize(_ table: ChecksummedTable) throws(LMDBError) -> Int {
        pageCount * (try statistics(table).pageSize)
    }

    /// Returns the quota in this transaction's snapshot.
    func quota(_ meta: ChecksummedTable) throws(LMDBError) -> Int? {
        let quota = try number(meta, key: MetaKey.quota)
        return quota == 0 ? nil : min(Int(clamping: quota), Quota.most)
    }
}
