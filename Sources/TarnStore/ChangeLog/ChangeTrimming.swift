// Trimming of the change log, a few entries with every commit.
//
// Entries have no time: a list in `meta` contains the times of some commits. An item (s, t) of it
// means that commit s was made at t. The first commit at least a 64th of the age later adds the
// next item. So commits between two items were made before t + age / 64 of the first one, and the
// list has about 64 items, however many commits there are.

internal import LMDB

/// The trimming of the log within a write transaction.
struct ChangeTrimming {
    /// The minimum file size that a share of the log is computed with: small stores can afford it.
    static let smallestFile = 80 << 20

    private let raw: RawTransaction
    private let state: StoreState
    private let now: Int64
    /// The first commit of this transaction: its entries and later ones stay.
    private let first: UInt64
    private let newest: UInt64

    init(_ raw: RawTransaction, _ state: StoreState, now: Timestamp, first: UInt64, newest: UInt64) {
        self.raw = raw
        self.state = state
        self.now = now.microseconds
        self.first = first
        self.newest = newest
    }

    private var retention: ChangeRetention { state.changeOptions.retention }

    /// Stores the time of the commit, if a mark is due.
    func note() throws(LMDBError) {
        guard let age = retention.microseconds, state.changeOptions.keepsChanges else { return }
        let known = try raw.get(state.meta, key: MetaKey.changeTimes)
        guard CommitTimes.isDue(known, age: age, now: now) else { return }
        var times = CommitTimes(known)
        times.add(first, now, trimmed: try raw.number(state.meta, key: MetaKey.trimmedChanges))
        let encoded = times.encoded
        try raw.put(state.meta, Bytes(MetaKey.changeTimes), encoded.bytes)
    }

    /// Removes the oldest entries that may be trimmed.
    ///
    /// - Returns: the number of removed entries.
    func step(atMost count: Int) throws(LMDBError) -> Int {
        // The commits of this transaction have no entries then.
        if !state.changeOptions.keepsChanges { try setTrimmed(newest) }
        let last = try target()
        guard last > 0 else { return 0 }
        let cursor = try raw.cursor(state.changes.table)
        defer { cursor.close() }
        var entry = try cursor.first(), deleted = 0, trimmed: UInt64 = 0
        while deleted < count, let key = entry?.key, key.count == ChangeEntry.keySize {
            let sequence = ChangeEntry.position(of: key).sequence
            guard sequence <= last else { break }
            try cursor.delete()
            deleted += 1
            trimmed = sequence
            entry = try cursor.next()
        }
        if deleted > 0 { try setTrimmed(trimmed) }
        return deleted
    }

    private func setTrimmed(_ sequence: UInt64) throws(LMDBError) {
        guard try raw.number(state.meta, key: MetaKey.trimmedChanges) < sequence else { return }
        try raw.put(state.meta, key: MetaKey.trimmedChanges, number: sequence)
    }

    /// The newest commit whose entries may be removed.
    private func target() throws(LMDBError) -> UInt64 {
        guard first > 1 else { return 0 }
        guard state.changeOptions.keepsChanges else { return first - 1 }
        if let share = retention.share {
            let log = try raw.statistics(state.changes)
            let size = (log.branchPages + log.leafPages + log.overflowPages) * log.pageSize
            let quota = try raw.quota(state.meta)
            let file = max(raw.pageCount * log.pageSize, min(ChangeTrimming.smallestFile, quota ?? .max))
            if Double(size) > Double(file) * share { return first - 1 }
        }
        guard let age = retention.microseconds else { return 0 }
        let times = try raw.get(state.meta, key: MetaKey.changeTimes)
        // For most commits the first time shows that nothing has expired.
        guard let times, times.count >= 16 else { return 0 }
        let start = times.loadBigEndian(8, Int64.self)
        guard start <= now - age - age / CommitTimes.parts || start > now else { return 0 }
        return CommitTimes(times).expired(age: age, now: now, before: first)
    }
}

extension Store {
    /// Trims the log once in every transaction with changes, before it commits.
    ///
    /// - Parameters:
    ///   - count: the number of changes.
    ///   - commits: the number of writes that have made them, each with a sequence of its own.
    func settleChanges(_ count: Int, commits: Int, in transaction: inout WriteTransaction, _ state: StoreState) throws {
        guard count > 0 else { return }
        let now = changeClock.withLock { $0.now }()
        // The number of removed entries is bounded by the number of new ones, so that no commit
        // waits.
        func settle(_ raw: RawTransaction) throws(LMDBError) {
            let newest = try raw.number(state.meta, key: MetaKey.sequence)
            let trimming = ChangeTrimming(raw, state, now: now, first: newest + 1 - UInt64(commits), newest: newest)
            try trimming.note()
            _ = try trimming.step(atMost: 2 * count + 64)
        }
        guard transaction.isNearLimit else { return try mappingErrors { try settle(transaction.raw) } }
        // If there may be no space for it, it is rolled back alone.
        let isAdding = !transaction.isFreeingNearLimit
        _ = try? transaction.child { child in
            if isAdding { try child.raw.willAdd() }
            try settle(child.raw)
        }
    }
}
