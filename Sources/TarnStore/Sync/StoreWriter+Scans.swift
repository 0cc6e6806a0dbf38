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

    /// Moves members of an identity to another one, at most `limit` of them, as members that its
    /// first scan has listed. Those that the other one has keep what it knows about them.
    ///
    /// - Returns: whether none is left.
    package mutating func moveScanMembers(of identity: String, to other: String, limit: Int) throws -> Bool {
        let scans = access.scans
        var members: [ScanMember] = []
        try scans.forEach(of: identity) { member in
            members.append(member)
            return members.count < limit
        }
        for member in members {
            if try scans.member(member.record, of: other) == nil {
                try scans.put(ScanMember(member.record, lastListed: 1), of: other)
            }
            try scans.remove(member.record, of: identity)
        }
        return members.count < limit
    }
}
