// The progress of scans: checkpoints, members and lists, written within this transaction.

extension StoreWriter {
    /// Saves a checkpoint under a name, within this transaction.
    package mutating func setCheckpoint(_ name: String, _ checkpoint: Checkpoint) throws {
        try access.checkpoints.put(checkpoint, name, sequence: sequence)
    }

    /// Replaces checkpoints whose names begin with a text, within this transaction.
    ///
    /// - Parameter replacement: returns the new checkpoint, or nil to keep it. It gets the rest of
    ///   the name; of a name of more than 205 bytes, the part of the rest before that.
    package mutating func replaceCheckpoints(
        withPrefix prefix: String, _ replacement: (Substring, Checkpoint) -> Checkpoint?
    ) throws {
        var replaced: [(key: [UInt8], checkpoint: Checkpoint)] = []
        try access.checkpoints.forEachKey(withPrefix: prefix) { key, checkpoint in
            // Behind the code of a text. A digest follows the beginning, else a NUL.
            let end = StorageKey.isDigest(key) ? StorageKey.longest : key.count - 1
            let rest = String(decoding: key[(1 + prefix.utf8.count)..<end], as: UTF8.self)
            if let other = replacement(rest[...], checkpoint) { replaced.append((Array(key), other)) }
        }
        for (key, checkpoint) in replaced { try access.checkpoints.put(checkpoint, key: key, sequence: sequence) }
    }

    /// Removes a checkpoint, within this transaction.
    package mutating func removeCheckpoint(_ name: String) throws { try access.checkpoints.remove(name) }

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

    /// Moves members of an identity to another one, at most `limit` of them.
    ///
    /// - Returns: whether none is left.
    package mutating func moveScanMembers(
        of identity: String, to other: String, limit: Int, numberedAlike numbersScans: Bool = false
    ) throws -> Bool {
        try access.scans.moveAll(of: identity, to: other, limit: limit, numberedAlike: numbersScans)
    }

    /// Replaces ``StoreReader/requestedLists``. Observers are not notified.
    package mutating func note(requestedLists text: String) throws { try access.settings.setRequestedLists(text) }
}
