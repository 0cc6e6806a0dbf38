// Writing scan members, within a write transaction.

internal import LMDB

extension StoreWriter {
    /// Notes that a scan has listed records.
    package mutating func noteListed(_ records: [ListedRecord], walk: String, scan: UInt64) throws {
        try access.scans.note(records, walk: walk, scan: scan)
    }

    /// Stores a member after a decision.
    package mutating func putScanMember(_ member: ScanMember, of walk: String) throws {
        try access.scans.put(member, of: walk)
    }

    /// Removes a member.
    package mutating func removeScanMember(_ record: ListedRecord, of walk: String) throws {
        try access.scans.remove(record, of: walk)
    }

    /// Removes members of an identity, at most `limit` of them.
    ///
    /// - Returns: whether none is left.
    package mutating func removeScanMembers(of walk: String, limit: Int) throws -> Bool {
        try access.scans.removeAll(of: walk, limit: limit)
    }
}
