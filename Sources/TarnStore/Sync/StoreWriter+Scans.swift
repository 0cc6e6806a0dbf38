// Writing scan members, within a write transaction.

internal import LMDB

extension StoreWriter {
    /// Notes that a scan has listed records.
    package mutating func noteListed(_ records: [ListedRecord], of identity: String, scan: UInt64) throws {
        try access.scans.note(records, of: identity, scan: scan)
    }

    /// Stores a member after a decision.
    package mutating func putScanMember(_ member: ScanMember, of identity: String) throws {
        try access.scans.put(member, of: identity)
    }

    /// Removes a member.
    package mutating func removeScanMember(_ record: ListedRecord, of identity: String) throws {
        try access.scans.remove(record, of: identity)
    }

    /// Removes members of an identity, at most `limit` of them.
    ///
    /// - Returns: whether none is left.
    package mutating func removeScanMembers(of identity: String, limit: Int) throws -> Bool {
        try access.scans.removeAll(of: identity, limit: limit)
    }

    /// Removes the members of the records of a root entity, whatever their identity.
    ///
    /// - Parameter count: the largest number of members of all entities that are read.
    /// - Returns: the key before which the next step begins; nil at the end.
    mutating func removeScanMembers(ofRoot root: UInt16, from start: [UInt8], atMost count: Int) throws -> [UInt8]? {
        guard let table = access.state.scans else { return nil }
        let cursor = try access.raw.cursor(table.table)
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
    package mutating func moveScanMembers(
        of identity: String, to other: String, limit: Int, numberedAlike numbersScans: Bool = false
    ) throws -> Bool {
        let scans = access.scans
        var members: [ScanMember] = []
        try scans.forEach(of: identity) { member in
            members.append(member)
            return members.count < limit
        }
        for member in members {
            let known = try scans.member(member.record, of: other)
            // Processes of different versions may have scanned in turn.
            if known.map({ numbersScans && $0.precedes(member) }) ?? true {
                try scans.put(numbersScans ? member : ScanMember(member.record, lastListed: 1), of: other)
            }
            try scans.remove(member.record, of: identity)
        }
        return members.count < limit
    }
}
