// Reading the change log, from a token to the end of the snapshot.

extension StoreReader {
    /// The token after the last commit of the snapshot.
    ///
    /// A consumer that has read the records of this snapshot continues with the changes since then.
    public var changeToken: ChangeToken {
        get throws { ChangeToken(incarnation: try access.settings.incarnation, sequence: try access.settings.sequence) }
    }

    /// The oldest token that the log still covers.
    ///
    /// If no change was trimmed, it is the position before the store's first commit.
    package var oldestChangeToken: ChangeToken {
        get throws { try access.oldestChangeToken }
    }

    /// Returns the changes after a token.
    ///
    /// - Parameters:
    ///   - token: ``changeToken``, or the token of the previous page.
    ///   - entities: the entities whose changes are wanted, with their descendants; nil for all.
    ///   - limit: the maximum number of changes. A page ends with a whole commit; a commit with
    ///     more changes than the limit is returned in parts.
    /// - Throws: `ChangeLogError`: `.otherIncarnation`, `.changesTrimmed`, `.changesAhead`,
    ///   `.damagedChange`; `StoreError.unknownEntity`.
    public func changes(since token: ChangeToken, of entities: [String]? = nil, limit: Int = 1000) throws -> ChangePage
    {
        try changes(since: token, of: entities, limit: limit, examining: .max)
    }

    /// Returns the changes after a token, of a limited part of the log.
    ///
    /// - Parameter most: the number of entries, also of other entities, after which the page ends
    ///   with the current commit. It may have no changes, and more may follow.
    func changes(
        since token: ChangeToken, of entities: [String]?, limit: Int, examining most: Int
    ) throws -> ChangePage {
        precondition(limit > 0, "the limit must be at least 1")
        var page: [Change] = [], hasMore = false
        // The number of changes up to the end of the last whole commit.
        var wholeCount = 0, last = token
        var examined = 0, commit = token.sequence, end: UInt64?
        try access.forEachChange(since: token, of: entities) { entry in
            if examined >= most, entry.sequence != commit {
                end = commit
                return false
            }
            examined += 1
            commit = entry.sequence
            return true
        } _: { entry, change in
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
        if let end {
            let token = ChangeToken(incarnation: token.incarnation, sequence: end)
            return ChangePage(changes: page, token: token, hasMore: true)
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

    /// The token that ``StoreWriter/setChangePosition(_:_:)`` has saved last; nil if none.
    public func changePosition(_ name: String) throws -> ChangeToken? {
        try access.settings.changePosition(name)
    }
}
