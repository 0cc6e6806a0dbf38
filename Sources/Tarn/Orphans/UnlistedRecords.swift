// Records that former lists had, and that no list of the description has: they stay in the store.

import TarnStore

/// The records that lists had before the description was edited, and that no list has now.
///
/// They are kept as members of a scan that no endpoint has. A member that no scan has listed is a
/// candidate: its list has changed, and the present lists are not complete yet. Those that are known
/// to be in no list have the number 1, and the time of that decision.
package enum UnlistedRecords {
    /// The name of the members; no list has such an identity.
    static let members = "unlisted"

    /// Counts the records that are stored and that no response lists which was received or
    /// confirmed since they were found to be in no list, by entity.
    ///
    /// - Complexity: linear in the number of these records.
    package static func count(_ reader: borrowing StoreReader) throws -> [String: Int] {
        let access = reader.access
        var counts: [String: Int] = [:]
        try access.scans.forEach(of: members) { member in
            guard member.lastListed > 0, let entity = try access.kind(of: member.record) else { return true }
            if try !isListed(member, access) { counts[entity.name, default: 0] += 1 }
            return true
        }
        return counts
    }

    /// The records that are in no list.
    static func all(_ access: StoreAccess) throws -> Set<ListedRecord> {
        var found: Set<ListedRecord> = []
        try access.scans.forEach(of: members) { member in
            if member.lastListed > 0, try !isListed(member, access) { found.insert(member.record) }
            return true
        }
        return found
    }

    /// The consequence for the records, as the rest of a sentence about them.
    package static let consequence =
        "of former lists, and in no list of this description, stay; to remove them: tarn cache collect STORE --roots "
        + "ENTITY,… --dry-run, with the entities that have to stay, or tarn delete ENTITY --where … --as-server"

    /// Whether a response lists the record of a member that was received or confirmed later.
    private static func isListed(_ member: ScanMember, _ access: StoreAccess) throws -> Bool {
        let time = Timestamp(microseconds: Int64(bitPattern: member.decided))
        return try access.responses.ids(listing: member.record).contains { id in
            try access.responses.origin(id: id).map { $0.validatedAt > time } ?? false
        }
    }

    /// Returns whether a record is known to be in no list, and was not listed again since.
    static func isKnown(_ record: ListedRecord, _ access: StoreAccess) throws -> Bool {
        guard let member = try access.scans.member(record, of: members), member.lastListed > 0 else { return false }
        return try !isListed(member, access)
    }

    /// The member of a record that is in no list, since a time.
    static func member(_ record: ListedRecord, at time: Timestamp) -> ScanMember {
        ScanMember(record, lastListed: 1, decided: UInt64(bitPattern: time.microseconds))
    }
}

/// The decision whether a response is one of the present lists of a description.
struct PresentLists {
    private let lines: [String: RequestedLists.Line]
    private let lists: WholeLists
    private var responses: ListingResponses

    init(_ lines: [String: RequestedLists.Line]) {
        self.lines = lines
        lists = WholeLists()
        responses = ListingResponses(lists)
    }

    /// Whether a response lists the record that is one of a cache, of another account or mirror, or
    /// of a present list: for a list that is another one than before, one that was received or
    /// confirmed since.
    mutating func have(_ record: ListedRecord, _ access: StoreAccess) throws -> Bool {
        for id in try access.responses.ids(listing: record) {
            guard let origin = try responses.origin(id, access) else { continue }
            if try isPresent(origin, access) { return true }
        }
        return false
    }

    private mutating func isPresent(_ origin: ResponseOrigin, _ access: StoreAccess) throws -> Bool {
        let name = String(RequestKey.name(ofEndpoint: origin.request.endpoint))
        guard origin.scan != nil, let line = lines[name] else { return true }
        if line.isRemoved { return false }
        guard let changedAt = line.changedAt else { return try !responses.isLost(origin, access) }
        if origin.validatedAt >= changedAt { return true }
        // The other pages of a list of changes are not requested again.
        guard let identity = origin.identity, let list = try lists.checkpoint(of: identity, access), list.isIncremental,
            max(list.startedAt, list.completedAt ?? list.startedAt) >= changedAt
        else { return false }
        return try !responses.isLost(origin, access)
    }
}
