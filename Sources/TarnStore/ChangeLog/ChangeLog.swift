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

    /// Calls the closure with the changes after a position, until it returns false.
    ///
    /// - Throws: `.damagedChange`.
    func forEachEntry(after sequence: UInt64, _ ordinal: UInt32, _ body: (ChangeEntry) throws -> Bool) throws {
        let log = state.changes, cursor = try raw.cursor(log.table)
        defer { cursor.close() }
        var entry = try ChangeLog.seek(cursor, sequence, ordinal)
        while let (key, value) = entry {
            guard let group = log.content(value, key: key).flatMap({ ChangeGroup(key, $0) }) else {
                let position = key.count == ChangeEntry.keySize ? ChangeEntry.position(of: key) : (sequence, ordinal)
                throw ChangeLogError.damagedChange(sequence: position.0, ordinal: position.1)
            }
            for change in group where (change.sequence, change.ordinal) > (sequence, ordinal) {
                guard try body(change) else { return }
            }
            entry = try cursor.next()
        }
    }

    /// Moves a cursor to the entry that contains a position, or to the first one after it.
    private static func seek(_ cursor: RawCursor, _ sequence: UInt64, _ ordinal: UInt32) throws -> RawCursor.Entry? {
        func isBefore(_ entry: RawCursor.Entry?) -> Bool {
            guard let key = entry?.key, key.count == ChangeEntry.keySize else { return false }
            let position = ChangeEntry.position(of: key)
            return position.sequence == sequence && position.ordinal <= ordinal
        }
        let next = try ChangeEntry.withKey(sequence, ordinal) { try cursor.seek($0) }
        // The end of a commit, or the first change of an entry.
        if ordinal == .max || isBefore(next) { return next }
        let previous = next == nil ? try cursor.last() : try cursor.previous()
        if isBefore(previous) { return previous }
        return previous == nil ? try cursor.first() : try cursor.next()
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

    /// Removes a change that was undone.
    func remove(_ sequence: UInt64, _ ordinal: UInt32) throws {
        var first: UInt32?, before = ByteWriter(), after = ByteWriter()
        do {
            let cursor = try raw.cursor(state.changes.table)
            defer { cursor.close() }
            guard let (key, value) = try ChangeLog.seek(cursor, sequence, ordinal),
                let group = state.changes.content(value, key: key).flatMap({ ChangeGroup(key, $0) }),
                group.contains(where: { ($0.sequence, $0.ordinal) == (sequence, ordinal) })
            else { return }
            for change in group {
                if first == nil { first = change.ordinal }
                if change.ordinal < ordinal { change.append(to: &before) }
                if change.ordinal > ordinal { change.append(to: &after) }
            }
        }
        guard let first else { return }
        try ChangeEntry.withKey(sequence, first) { key in
            if before.count > 0 {
                try raw.put(state.changes, key, before.bytes)
            } else {
                _ = try raw.delete(state.changes, key)
            }
        }
        guard after.count > 0 else { return }
        try ChangeEntry.withKey(sequence, ordinal + 1) { try raw.put(state.changes, $0, after.bytes) }
    }
}

extension ChangeEntry {
    /// Appends the change to the value of a group, which it begins if the value is empty.
    fileprivate func append(to group: inout ByteWriter) {
        if group.count == 0 {
            ChangeGroup.append(operation, entity, storageKey, to: &group)
        } else {
            ChangeGroup.append(storageKey, to: &group)
        }
    }
}
