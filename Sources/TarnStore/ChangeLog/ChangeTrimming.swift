// Taking old changes out of the log, a few with every commit.
//
// Entries have no time: a list in `meta` says when commits were made, here and there. An entry of it (s, t) means: commit s was
// made at t, and whoever comes a 64th of the age later makes the next entry. So commits between two entries were made before
// t + age / 64 of the first, and the list has about 64 entries, whatever is written.

internal import LMDB

/// What tells the time of commits.
struct CommitClock: Sendable {
    // In a struct of its own: a closure that is the value of a generic type gets another wrapping whenever it is lent, and
    // the wrappings add up.
    var now: @Sendable () -> Timestamp = { Timestamp.systemTime }
}

/// When commits were made.
struct CommitTimes {
    struct Mark: Equatable {
        var sequence: UInt64
        var time: Int64
    }

    private static let most = 256
    /// Which part of the age lies between two marks.
    static let parts: Int64 = 64

    var marks: [Mark] = []

    init(_ bytes: Bytes?) {
        guard let bytes else { return }
        for offset in stride(from: 0, to: bytes.count - 15, by: 16) {
            marks.append(
                Mark(
                    sequence: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
                    time: Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int64.self))))
        }
    }

    /// Whether a commit at this time has to be noted; asked of the bytes, before anything is copied.
    static func isDue(_ bytes: Bytes?, age: Int64, now: Int64) -> Bool {
        guard let bytes, bytes.count >= 16 else { return true }
        let last = Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: Int64.self))
        return Timestamp(microseconds: now).elapsed(since: Timestamp(microseconds: last)) >= age / parts
    }

    /// Notes a commit, and forgets what no longer helps.
    mutating func add(_ sequence: UInt64, _ now: Int64, trimmed: UInt64) {
        while marks.count > 1, marks[1].sequence <= (trimmed == .max ? trimmed : trimmed + 1) { marks.removeFirst() }
        // What was between the first two is then taken to be as young as what comes behind.
        if marks.count >= CommitTimes.most { marks.removeFirst() }
        marks.append(Mark(sequence: sequence, time: now))
    }

    /// The newest commit, before a certain one, that is older than the age.
    func expired(age: Int64, now: Int64, before first: UInt64) -> UInt64 {
        var result: UInt64 = 0
        for (index, mark) in marks.enumerated() {
            let next = index + 1 < marks.count ? marks[index + 1].sequence : first
            guard mark.time <= now - age - age / CommitTimes.parts else { break }
            // A sequence of 0, which no commit has, is a damaged one.
            result = max(result, max(min(next, first), 1) - 1)
        }
        return result
    }

    var encoded: ByteWriter {
        var writer = ByteWriter(capacity: marks.count * 16)
        for mark in marks {
            writer.appendBigEndian(mark.sequence)
            writer.appendBigEndian(mark.time)
        }
        return writer
    }
}

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
