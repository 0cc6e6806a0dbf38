// Records that former lists had, and that no list of the description has: they stay in the store.

import TarnStore

/// The records that lists had before the description was edited, and that no list has now.
///
/// They are kept as members of a scan that no endpoint has. A member that no scan has listed is a
/// candidate: its list has changed, and the present lists are not complete yet. Those that are
/// known to be in no list have the number 1, and the time of that decision.
package enum UnlistedRecords {
    /// The name of the members; no list has such an identity.
    static let members = "unlisted"

    /// Counts the records that are stored and that no response lists which was received or
    /// confirmed since they were found to be in no list, by entity.
    ///
    /// - Complexity: linear in the number of these records.
    package static func count(_ reader: borrowing StoreReader) throws -> [String: Int] {
        let access = reader.access
        var counts: [String: Int] = [:], times = ListingTimes()
        try access.scans.forEach(of: members) { member in
            guard member.lastListed > 0, let entity = try access.kind(of: member.record) else { return true }
            if try !times.haveListed(member, access) { counts[entity.name, default: 0] += 1 }
            return true
        }
        return counts
    }

    /// The records that are in no list.
    static func all(_ access: StoreAccess) throws -> Set<ListedRecord> {
        var found: Set<ListedRecord> = [], times = ListingTimes()
        try access.scans.forEach(of: members) { member in
            if member.lastListed > 0, try !times.haveListed(member, access) { found.insert(member.record) }
            return true
        }
        return found
    }

    /// The consequence for the records, as the rest of a sentence about them.
    package static let consequence =
        "of former lists, and in no list of this description, stay; to remove them: tarn cache collect STORE --roots "
        + "ENTITY,… --dry-run, with the entities that have to stay, or tarn delete ENTITY --where … --as-server"

    /// Returns whether a record is known to be in no list, and was not listed again since.
    static func isKnown(_ record: ListedRecord, _ access: StoreAccess, _ times: inout ListingTimes) throws -> Bool {
        guard let member = try access.scans.member(record, of: members), member.lastListed > 0 else { return false }
        return try !times.haveListed(member, access)
    }

    /// The member of a record that is in no list, since a time.
    static func member(_ record: ListedRecord, at time: Timestamp) -> ScanMember {
        ScanMember(record, lastListed: 1, decided: UInt64(bitPattern: time.microseconds))
    }
}

/// The times at which responses were received or confirmed, each read once within a transaction.
///
/// One response may list all records: reading it for each of them would be quadratic.
struct ListingTimes {
    private var times: [UInt64: Timestamp?] = [:]

    /// Whether a response lists the record of a member that was received or confirmed later than it
    /// was decided about.
    mutating func haveListed(_ member: ScanMember, _ access: StoreAccess) throws -> Bool {
        let decided = Timestamp(microseconds: Int64(bitPattern: member.decided))
        for id in try access.responses.ids(listing: member.record) {
            if let time = try time(of: id, access), time > decided { return true }
        }
        return false
    }

    private mutating func time(of id: UInt64, _ access: StoreAccess) throws -> Timestamp? {
        if let known = times[id] { return known }
        let time = try access.responses.origin(id: id)?.validatedAt
        times[id] = .some(time)
        return time
    }
}

/// The decision whether a response is one of the present lists of a description.
struct PresentLists {
    private let lines: [String: RequestedLists.Line]
    private let scopes: Set<String>
    private let lists: WholeLists
    private var responses: ListingResponses

    /// - Parameters:
    ///   - scopes: the credentials of the sync.
    ///   - lists: the complete lists, which are found once for all transactions.
    init(_ lines: [String: RequestedLists.Line], _ scopes: Set<String>, _ lists: WholeLists) {
        (self.lines, self.scopes, self.lists) = (lines, scopes, lists)
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
        // The lists of another account are compared with nothing: it may not have requested them
        // since.
        if origin.validatedAt >= changedAt || !scopes.contains(origin.request.authScope) { return true }
        // The other pages of a list of changes are not requested again, nor those that an
        // interrupted scan has read.
        guard let identity = origin.identity, let list = try lists.checkpoint(of: identity, access),
            list.isIncremental || list.scan == origin.scan,
            max(list.startedAt, list.completedAt ?? list.startedAt) >= changedAt
        else { return false }
        return try !responses.isLost(origin, access)
    }
}
