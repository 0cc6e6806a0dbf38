// Scan members: for scans with orphan rules, the scan that has listed each record last.

internal import LMDB

/// The knowledge about one record from the scans of one endpoint.
///
/// The members of all scans are stored in one table, each with the number of the scan that listed
/// it last. Members of the current scan have its number. Members of earlier scans keep theirs until
/// the scan is complete and they are decided about.
package struct ScanMember: Sendable, Hashable {
    package var record: ListedRecord
    /// The scan that listed the record last; 0 if none did.
    package var lastListed: UInt64
    /// The complete scan that has last decided about the record as unlisted; 0 if none has.
    package var judged: UInt64
    /// The number of complete scans in a row that did not list it.
    package var misses: UInt64

    package init(_ record: ListedRecord, lastListed: UInt64, judged: UInt64 = 0, misses: UInt64 = 0) {
        self.record = record
        self.lastListed = lastListed
        self.judged = judged
        self.misses = misses
    }

    /// Decodes an entry of the table; nil if it is none.
    package init?(_ key: Bytes, _ value: Bytes) {
        guard key.count > ScanMember.walkSize + 2, value.count == 24 else { return nil }
        let entity = UInt16(bigEndian: key.loadUnaligned(fromByteOffset: ScanMember.walkSize, as: UInt16.self))
        record = ListedRecord(entity: entity, storageKey: Array(key[(ScanMember.walkSize + 2)...]))
        lastListed = value.load(0)
        judged = value.load(8)
        misses = value.load(16)
    }

    /// The size of the identity's digest in the keys of the table, in bytes.
    static let walkSize = 16

    static func prefix(_ walk: String) -> [UInt8] {
        var walk = walk
        return Array(walk.withUTF8 { SHA256.digest(Bytes($0)) }.prefix(walkSize))
    }

    fileprivate static func key(_ prefix: [UInt8], _ record: ListedRecord, into writer: inout ByteWriter) {
        writer.removeAll()
        writer.append(prefix)
        writer.appendBigEndian(record.entity)
        writer.append(record.storageKey)
    }

    fileprivate func appendValue(to writer: inout ByteWriter) {
        writer.removeAll()
        writer.appendLittleEndian(lastListed)
        writer.appendLittleEndian(judged)
        writer.appendLittleEndian(misses)
    }
}

extension StoreAccess {
    /// Calls the closure with members in the order of their records, until it returns false.
    ///
    /// - Parameter last: the record after which to begin; nil for the first.
    package func forEachScanMember(
        of walk: String, after last: ListedRecord? = nil, _ body: (ScanMember) throws -> Bool
    ) throws {
        guard let table = state.scans else { return }
        let prefix = ScanMember.prefix(walk)
        var start = ByteWriter()
        start.append(prefix)
        if let last {
            ScanMember.key(prefix, last, into: &start)
            start.append(0)
        }
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.seek(start.bytes)
        while let (key, value) = entry, prefix.withUnsafeBytes({ key.hasPrefix($0) }) {
            guard let member = ScanMember(key, value) else { throw table.damage(key) }
            if try !body(member) { return }
            entry = try cursor.next()
        }
    }

    /// Whether there are members of an identity.
    package func hasScanMembers(of walk: String) throws -> Bool {
        var isThere = false
        try forEachScanMember(of: walk) { _ in
            isThere = true
            return false
        }
        return isThere
    }

    /// The number of members of all identities.
    package var scanMemberCount: Int {
        get throws { try state.scans.map { try raw.statistics($0).entries } ?? 0 }
    }

    /// The member of a record; nil if no scan has listed it.
    package func scanMember(_ record: ListedRecord, of walk: String) throws -> ScanMember? {
        guard let table = state.scans else { return nil }
        var key = ByteWriter()
        ScanMember.key(ScanMember.prefix(walk), record, into: &key)
        return try raw.get(table, key.bytes).flatMap { ScanMember(key.bytes, $0) }
    }

    /// A copy of a listed record; nil if it is no longer stored.
    package func record(_ listed: ListedRecord) throws -> Record? {
        guard let entity = catalog.entity(id: listed.entity) else { return nil }
        return try listed.storageKey.withUnsafeBytes { key in
            try lending { try row(entity, key).map { try record(entity, key, $0) } }
        }
    }

    /// Whether a listed record has local changes that have not reached the server.
    package func isChangedLocally(_ listed: ListedRecord) throws -> Bool {
        try listed.storageKey.withUnsafeBytes { try localMark(listed.entity, $0) != nil }
    }

    /// Whether a response lists a record, except for the caller's own responses.
    ///
    /// - Parameter isOwn: whether a response belongs to the caller.
    package func isListed(_ record: ListedRecord, exceptBy isOwn: (_ walk: String?, _ request: RequestKey) -> Bool)
        throws -> Bool
    {
        var isListed = false
        try record.storageKey.withUnsafeBytes { key in
            try forEachResponse(listing: record.entity, key) { id in
                try withUnsafeBytes(of: id.bigEndian) { key in
                    guard let row = try systemRow(of: key, in: state.responses, "responses"),
                        let (walk, request) = ResponseEntry.origin(row)
                    else { return }
                    isListed = !isOwn(walk, request)
                }
                return !isListed
            }
        }
        return isListed
    }
}

extension StoreWriter {
    /// Notes that a scan has listed records.
    package mutating func noteListed(_ records: [ListedRecord], walk: String, scan: UInt64) throws {
        let table = try access.state.scanTable(), prefix = ScanMember.prefix(walk)
        var key = ByteWriter(), value = ByteWriter()
        try access.raw.willAdd()
        for record in records.sorted(by: ListedRecord.precedes) {
            ScanMember.key(prefix, record, into: &key)
            // A scan in another process may be ahead.
            if let known = try access.raw.get(table, key.bytes), known.count == 24, known.load(0, UInt64.self) >= scan {
                continue
            }
            ScanMember(record, lastListed: scan).appendValue(to: &value)
            try access.raw.put(table, key.bytes, value.bytes)
        }
    }

    /// Stores a member after a decision.
    package mutating func putScanMember(_ member: ScanMember, of walk: String) throws {
        var key = ByteWriter(), value = ByteWriter()
        ScanMember.key(ScanMember.prefix(walk), member.record, into: &key)
        member.appendValue(to: &value)
        try access.raw.willAdd()
        try access.raw.put(access.state.scanTable(), key.bytes, value.bytes)
    }

    /// Removes a member.
    package mutating func removeScanMember(_ record: ListedRecord, of walk: String) throws {
        var key = ByteWriter()
        ScanMember.key(ScanMember.prefix(walk), record, into: &key)
        _ = try access.raw.delete(access.state.scanTable(), key.bytes)
    }

    /// Removes members of an identity, at most `limit` of them.
    ///
    /// - Returns: whether none is left.
    package mutating func removeScanMembers(of walk: String, limit: Int) throws -> Bool {
        let prefix = ScanMember.prefix(walk), cursor = try access.raw.cursor(access.state.scanTable().table)
        defer { cursor.close() }
        var entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        for _ in 0..<limit {
            guard let (key, _) = entry, prefix.withUnsafeBytes({ key.hasPrefix($0) }) else { return true }
            try cursor.delete()
            entry = try prefix.withUnsafeBytes { try cursor.seek($0) }
        }
        return false
    }
}
