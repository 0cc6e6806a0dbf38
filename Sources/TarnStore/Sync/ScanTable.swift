// The table of scan members.

internal import LMDB

/// The table of scan members in a transaction.
package struct ScanTable {
    private let raw: RawTransaction
    private let state: StoreState

    init(_ raw: RawTransaction, _ state: StoreState) {
        self.raw = raw
        self.state = state
    }

    /// Calls the closure with members in the order of their records, until it returns false.
    ///
    /// - Parameter last: the record after which to begin; nil for the first.
    package func forEach(
        of identity: String, after last: ListedRecord? = nil, _ body: (ScanMember) throws -> Bool
    ) throws {
        guard let table = state.scans else { return }
        let prefix = ScanMember.prefix(identity)
        var start = ByteWriter()
        start.append(prefix)
        if let last {
            ScanMember.key(prefix, last, into: &start)
            start.append(0)
        }
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.seek(start.bytes)
        while let (key, value) = entry, key.starts(with: prefix) {
            guard let member = ScanMember(key, value) else { throw table.damage(key) }
            if try !body(member) { return }
            entry = try cursor.next()
        }
    }

    /// Whether there are members of an identity.
    package func hasMembers(of identity: String) throws -> Bool {
        var isThere = false
        try forEach(of: identity) { _ in
            isThere = true
            return false
        }
        return isThere
    }

    /// The highest number of a scan in the members of an identity; 0 if there are none.
    package func lastScan(of identity: String) throws -> UInt64 {
        var last: UInt64 = 0
        try forEach(of: identity) { member in
            last = max(last, member.lastListed, member.decided)
            return true
        }
        return last
    }

    /// The number of members of all identities.
    package var count: Int {
        get throws { try state.scans.map { try raw.statistics($0).entries } ?? 0 }
    }

    /// The member of a record; nil if no scan has listed it.
    package func member(_ record: ListedRecord, of identity: String) throws -> ScanMember? {
        guard let table = state.scans else { return nil }
        var key = ByteWriter()
        ScanMember.key(ScanMember.prefix(identity), record, into: &key)
        return try raw.get(table, key.bytes).flatMap { ScanMember(key.bytes, $0) }
    }

    /// Notes that a scan has listed records.
    func note(_ records: [ListedRecord], of identity: String, scan: UInt64) throws {
        let table = try state.scanTable(), prefix = ScanMember.prefix(identity)
        var key = ByteWriter(), value = ByteWriter()
        try raw.willAdd()
        for record in records.sorted(by: ListedRecord.precedes) {
            ScanMember.key(prefix, record, into: &key)
            // A scan in another process may be ahead.
            if let known = try raw.get(table, key.bytes), known.count == 24, known.load(0, UInt64.self) >= scan {
                continue
            }
            ScanMember(record, lastListed: scan).appendValue(to: &value)
            try raw.put(table, key.bytes, value.bytes)
        }
    }

    /// Stores a member after a decision.
    func put(_ member: ScanMember, of identity: String) throws {
        var key = ByteWriter(), value = ByteWriter()
        ScanMember.key(ScanMember.prefix(identity), member.record, into: &key)
        member.appendValue(to: &value)
        try raw.willAdd()
        try raw.put(state.scanTable(), key.bytes, value.bytes)
    }

    /// Removes a member.
    func remove(_ record: ListedRecord, of identity: String) throws {
        var key = ByteWriter()
        ScanMember.key(ScanMember.prefix(identity), record, into: &key)
        _ = try raw.delete(state.scanTable(), key.bytes)
    }

    /// Removes members of an identity, at most `limit` of them.
    ///
    /// - Returns: whether none is left.
    func removeAll(of identity: String, limit: Int) throws -> Bool {
        let prefix = ScanMember.prefix(identity), cursor = try raw.cursor(state.scanTable().table)
        defer { cursor.close() }
        var entry = try cursor.seek(prefix)
        for _ in 0..<limit {
            guard let (key, _) = entry, key.starts(with: prefix) else { return true }
            try cursor.delete()
            entry = try cursor.seek(prefix)
        }
        return false
    }

    /// Removes the members of the records of a root entity, whatever their identity.
    ///
    /// - Parameter count: the largest number of members of all entities that are read.
    /// - Returns: the key before which the next step begins; nil at the end.
    func removeAll(ofRoot root: UInt16, from start: [UInt8], atMost count: Int) throws -> [UInt8]? {
        guard let table = state.scans else { return nil }
        let cursor = try raw.cursor(table.table)
        defer { cursor.close() }
        var entry = try cursor.seek(start)
        for _ in 0..<count {
            guard let (key, _) = entry else { return nil }
            if ScanMember.root(inKey: key) == root { try cursor.delete() }
            entry = try cursor.next()
        }
        return entry.map { Array($0.key) }
    }

    /// Moves members of an identity to another one, at most `limit` of them.
    ///
    /// - Parameter numbersScans: whether both number their scans alike: of a member of both, the
    ///   one of the later scan stays. Otherwise the other identity keeps what it knows, and what is
    ///   new to it becomes a member that the first scan has listed.
    /// - Returns: whether none is left.
    func moveAll(
        of identity: String, to other: String, limit: Int, numberedAlike numbersScans: Bool = false
    ) throws -> Bool {
        var members: [ScanMember] = []
        try forEach(of: identity) { member in
            members.append(member)
            return members.count < limit
        }
        for member in members {
            let known = try self.member(member.record, of: other)
            // Processes of different versions may have scanned in turn.
            if known.map({ numbersScans && $0.precedes(member) }) ?? true {
                try put(numbersScans ? member : ScanMember(member.record, lastListed: 1), of: other)
            }
            try remove(member.record, of: identity)
        }
        return members.count < limit
    }
}
