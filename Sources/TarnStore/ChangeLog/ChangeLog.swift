// The table of the change log.

internal import LMDB

/// The table of the change log in a transaction.
struct ChangeLog {
    private let raw: RawTransaction
    private let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// The last commit whose changes may be missing in the log.
    var trimmedSequence: UInt64 {
        get throws(LMDBError) { try raw.number(state.meta, key: MetaKey.trimmedChanges) }
    }

    /// Checks that the log covers a token.
    ///
    /// - Throws: `.otherIncarnation`, `.changesTrimmed`, `.changesAhead`.
    func check(_ token: ChangeToken) throws {
        let settings = SettingsTable(raw, state), incarnation = try settings.incarnation, newest = try settings.sequence
        guard token.incarnation == incarnation else {
            throw ChangeLogError.otherIncarnation(expected: token.incarnation, found: incarnation)
        }
        guard token.sequence <= newest else {
            throw ChangeLogError.changesAhead(sequence: token.sequence, newest: newest)
        }
        let trimmed = try trimmedSequence
        // If a commit is being trimmed, its remaining entries may not be those that the consumer
        // lacks.
        guard token.sequence > trimmed || (token.isWhole && token.sequence == trimmed) else {
            throw ChangeLogError.changesTrimmed(oldest: ChangeToken(incarnation: incarnation, sequence: trimmed))
        }
    }

    /// Calls the closure with the entries after a position, until it returns false.
    ///
    /// - Throws: `.damagedChange`.
    func forEachEntry(after sequence: UInt64, _ ordinal: UInt32, _ body: (ChangeEntry) throws -> Bool) throws {
        let log = state.changes, cursor = try raw.cursor(log.table)
        defer { cursor.close() }
        var entry = try ChangeEntry.withKey(sequence, ordinal) { try cursor.seek($0) }
        if let key = entry?.key, key.count == ChangeEntry.keySize, ChangeEntry.position(of: key) == (sequence, ordinal)
        {
            entry = try cursor.next()
        }
        while let (key, value) = entry {
            guard let change = log.content(value, key: key).flatMap({ ChangeEntry(key, $0) }) else {
                let position = key.count == ChangeEntry.keySize ? ChangeEntry.position(of: key) : (sequence, ordinal)
                throw ChangeLogError.damagedChange(sequence: position.0, ordinal: position.1)
            }
            guard try body(change) else { return }
            entry = try cursor.next()
        }
    }

    /// Appends entries, each as u32 length of the value, key, value.
    ///
    /// One cursor stays at the end of the table.
    func append(_ entries: Bytes) throws {
        let cursor = try raw.cursor(state.changes)
        defer { cursor.close() }
        var offset = 0
        while offset < entries.count {
            let key = offset + 4, value = key + ChangeEntry.keySize,
                end = value + Int(entries.load(offset, UInt32.self))
            try cursor.put(entries.slice(key..<value), entries.slice(value..<end), append: true)
            offset = end
        }
    }

    /// Removes the entry of a change that was undone.
    func remove(_ sequence: UInt64, _ ordinal: UInt32) throws(LMDBError) {
        var key = ByteWriter()
        key.appendBigEndian(sequence)
        key.appendBigEndian(ordinal)
        _ = try raw.delete(state.changes, key.bytes)
    }
}
