// Reading the change log, from a token to the end of the snapshot.

internal import LMDB

extension StoreReader {
    /// The token after the last commit of the snapshot.
    ///
    /// A consumer that has read the records of this snapshot continues with the changes since then.
    public var changeToken: ChangeToken {
        get throws { ChangeToken(incarnation: try access.incarnation, sequence: try access.sequence) }
    }

    /// The oldest token that the log still covers.
    ///
    /// If no change was trimmed, it is the position before the store's first commit.
    public var oldestChangeToken: ChangeToken {
        get throws { ChangeToken(incarnation: try access.incarnation, sequence: try access.trimmedSequence) }
    }

    /// Returns the changes after a token.
    ///
    /// - Parameters:
    ///   - token: ``changeToken``, or the token of the previous page.
    ///   - entities: the entities whose changes are wanted, with their descendants; nil for all.
    ///   - limit: the maximum number of changes. A page ends with a whole commit; a commit with
    ///     more changes than the limit is returned in parts.
    /// - Throws: `StoreError`: `.otherIncarnation`, `.changesTrimmed`, `.changesAhead`,
    ///   `.unknownEntity`, `.damagedChange`.
    public func changes(since token: ChangeToken, of entities: [String]? = nil, limit: Int = 1000) throws -> ChangePage
    {
        precondition(limit > 0, "the limit must be at least 1")
        var page: [Change] = [], hasMore = false
        // The number of changes up to the end of the last whole commit.
        var wholeCount = 0, last = token
        try access.forEachChange(since: token, of: entities) { entry, change in
            if !page.isEmpty, entry.sequence != last.sequence {
                wholeCount = page.count
            }
            guard page.count < limit else {
                hasMore = true
                return false
            }
            page.append(try change())
            last = ChangeToken(incarnation: token.incarnation, sequence: entry.sequence, ordinal: entry.ordinal)
            return true
        }
        guard hasMore else { return ChangePage(changes: page, token: try changeToken, hasMore: false) }
        if wholeCount > 0 {
            page.removeLast(page.count - wholeCount)
            last = ChangeToken(incarnation: token.incarnation, sequence: page[wholeCount - 1].sequence)
        }
        return ChangePage(changes: page, token: last, hasMore: true)
    }

    /// Calls the closure with every change after a token, until it returns false.
    ///
    /// Only the current change is held in memory.
    ///
    /// - Returns: the token after the last change that the closure got, or after the snapshot if it
    ///   got all.
    /// - Throws: errors of the closure, and as ``changes(since:of:limit:)``.
    @discardableResult
    public func forEachChange(
        since token: ChangeToken, of entities: [String]? = nil, _ body: (Change) throws -> Bool
    ) throws -> ChangeToken {
        var last: ChangeToken?
        try access.forEachChange(since: token, of: entities) { entry, change in
            guard try body(change()) else {
                last = ChangeToken(incarnation: token.incarnation, sequence: entry.sequence, ordinal: entry.ordinal)
                return false
            }
            return true
        }
        return try last ?? changeToken
    }

    /// Returns the net changes after a token: each record once, with its last change, in order.
    ///
    /// A record that exists before and after is `updated`, even if it was deleted in between. A
    /// record that was created and deleted is left out. Net changes have no values: the records
    /// have them.
    ///
    /// One page has all net changes. Memory grows with the number of records.
    ///
    /// - Throws: as ``changes(since:of:limit:)``.
    public func netChanges(since token: ChangeToken, of entities: [String]? = nil) throws -> ChangePage {
        struct Net {
            var wasThere: Bool
            var last: Change
        }
        var records: [RecordPlace: Net] = [:]
        try access.forEachChange(since: token, of: entities, withValues: false) { entry, change in
            let change = try change(), place = RecordPlace(root: change.source.root, key: Array(entry.storageKey))
            records[place] = Net(wasThere: records[place]?.wasThere ?? (change.operation != .created), last: change)
            return true
        }
        var changes: [Change] = []
        for net in records.values {
            var change = net.last
            let isThere = change.operation != .deleted
            guard net.wasThere || isThere else { continue }
            if isThere { change.operation = net.wasThere ? .updated : .created }
            changes.append(change)
        }
        changes.sort { ($0.sequence, $0.ordinal) < ($1.sequence, $1.ordinal) }
        return ChangePage(changes: changes, token: try changeToken, hasMore: false)
    }
}

extension StoreAccess {
    /// The last commit whose changes may be missing in the log.
    var trimmedSequence: UInt64 {
        get throws(LMDBError) { try raw.number(state.meta, key: MetaKey.trimmedChanges) }
    }

    /// Checks that the log covers a token.
    ///
    /// - Throws: `.otherIncarnation`, `.changesTrimmed`, `.changesAhead`.
    func check(_ token: ChangeToken) throws {
        let incarnation = try incarnation, newest = try sequence
        guard token.incarnation == incarnation else {
            throw StoreError.otherIncarnation(expected: token.incarnation, found: incarnation)
        }
        guard token.sequence <= newest else { throw StoreError.changesAhead(sequence: token.sequence, newest: newest) }
        let trimmed = try trimmedSequence
        // If a commit is being trimmed, its remaining entries may not be those that the consumer
        // lacks.
        guard token.sequence > trimmed || (token.isWhole && token.sequence == trimmed) else {
            throw StoreError.changesTrimmed(oldest: ChangeToken(incarnation: incarnation, sequence: trimmed))
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
                throw StoreError.damagedChange(sequence: position.0, ordinal: position.1)
            }
            guard try body(change) else { return }
            entry = try cursor.next()
        }
    }

    /// Calls the closure with the entries after a token; its second argument copies the change.
    func forEachChange(
        since token: ChangeToken, of names: [String]?, withValues: Bool = true,
        _ body: (ChangeEntry, () throws -> Change) throws -> Bool
    ) throws {
        try check(token)
        let wanted: Set<UInt16>? = try names.map { names in
            let ids = try names.map { try state.entity($0).id }
            return Set(
                catalog.entities.filter { entity in ids.contains { catalog.isKind(entity.id, of: $0) } }.map(\.id))
        }
        let entities = Dictionary(catalog.entities.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        try forEachEntry(after: token.sequence, token.ordinal) { entry in
            if let wanted, !wanted.contains(entry.entity) { return true }
            return try body(entry) {
                guard let entity = entities[entry.entity] else { throw StoreError.damagedChange(entry) }
                return try lending { try change(entry, entity, withValues: withValues) }
            }
        }
    }

    private func change(_ entry: ChangeEntry, _ entity: Catalog.Entity, withValues: Bool) throws -> Change {
        var key = entry.wholeKey.flatMap { RecordKey(tuple: $0) } ?? RecordKey(storageKey: entry.storageKey)
        // Logs of older versions lack the whole key: the row has it, as long as there is one.
        if key == nil, let row = try row(entity, entry.storageKey) { key = row.body.key(of: entity) }
        guard let key else { throw StoreError.damagedChange(entry) }
        var change = Change(
            sequence: entry.sequence, ordinal: entry.ordinal, operation: Change.Operation(entry.operation), key: key,
            source: entity)
        guard withValues, let body = entry.values else { return change }
        guard body.isWellFormed else { throw StoreError.damagedChange(entry) }
        change.values = Change.EncodedFields(bytes: Array(body.bytes), isWide: body.isWide)
        change.isPartial = entry.isPartial
        guard let fields = try fields(entity, body) else { throw StoreError.damagedChange(entry) }
        change.fields = fields
        return change
    }
}

extension StoreError {
    fileprivate static func damagedChange(_ entry: ChangeEntry) -> StoreError {
        .damagedChange(sequence: entry.sequence, ordinal: entry.ordinal)
    }
}
