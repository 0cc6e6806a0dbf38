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
}
