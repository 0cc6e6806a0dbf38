// Taking old changes out of the log, a few with every commit.
//
// Entries have no time: a list in `meta` says when commits were made, here and there. An entry of it (s, t) means: commit s was
// made at t, and whoever comes a 64th of the age later makes the next entry. So commits between two entries were made before
// t + age / 64 of the first, and the list has about 64 entries, whatever is written.

internal import LMDB

/// The trimming of the log in a write transaction.
struct ChangeTrimming {
    /// A file is taken to be as large when the part of the log is computed: what a small store can afford.
    static let smallestFile = 80 << 20

    private let raw: RawTransaction
    private let state: StoreState
    private let now: Int64
    /// The first commit of this transaction: its own entries, and those behind, stay.
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

    /// Notes the time of the commit, if that is due.
    func note() throws(LMDBError) {
        guard let age = retention.microseconds, state.changeOptions.keepsChanges else { return }
        let known = try raw.get(state.meta, key: MetaKey.changeTimes)
        guard CommitTimes.isDue(known, age: age, now: now) else { return }
        var times = CommitTimes(known)
        times.add(first, now, trimmed: try raw.number(state.meta, key: MetaKey.trimmedChanges))
        let encoded = times.encoded
        try raw.put(state.meta, Bytes(MetaKey.changeTimes), encoded.bytes)
    }

    /// Takes entries out from the front.
    ///
    /// - Returns: how many.
    func step(atMost count: Int) throws(LMDBError) -> Int {
        // Of the commits of this transaction there are no entries then.
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

    /// The newest commit whose entries may go.
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
        // Most commits find that nothing has expired, by the first time alone.
        guard let times, times.count >= 16,
            Int64(bigEndian: times.loadUnaligned(fromByteOffset: 8, as: Int64.self)) <= now - age - age / CommitTimes.parts
        else { return 0 }
        return CommitTimes(times).expired(age: age, now: now, before: first)
    }
}

extension Store {
    /// Called once in every transaction that has made changes, before it commits.
    ///
    /// - Parameters:
    ///   - count: how many changes.
    ///   - commits: how many writes made them, each with a sequence of its own.
    func settleChanges(_ count: Int, commits: Int, in transaction: inout WriteTransaction, _ state: StoreState) throws {
        guard count > 0 else { return }
        let now = changeClock.withLock { $0.now }()
        // What goes is bounded by what came, so that no commit waits for it.
        func settle(_ raw: RawTransaction) throws(LMDBError) {
            let newest = try raw.number(state.meta, key: MetaKey.sequence)
            let trimming = ChangeTrimming(raw, state, now: now, first: newest + 1 - UInt64(commits), newest: newest)
            try trimming.note()
            _ = try trimming.step(atMost: 2 * count + 64)
        }
        guard transaction.isNearLimit else { return try mappingErrors { try settle(transaction.raw) } }
        // Where there may be no room for it, it is undone alone.
        let isAdding = !transaction.isFreeingNearLimit
        _ = try? transaction.child { child in
            if isAdding { try child.raw.willAdd() }
            try settle(child.raw)
        }
    }
}
