// Records that former lists had and no list of the description has, and those that came nested
// where the description no longer looks for any: they stay in the store.

import TarnStore

/// The records that lists had before the description was edited, and that no list has now.
///
/// They are kept as members of a scan that no endpoint has. A member that no scan has listed is a
/// candidate: its list has changed, and the present lists are not complete yet. Those that are
/// known to be in no list have the number 1, and the time of that decision.
///
/// Records that came nested in others, and that no list has had, are members with a miss: they are
/// such records as long as no list has them, and no relationship of the description leads to them.
package enum UnlistedRecords {
    /// The numbers of records, by entity.
    package struct Counts: Sendable, Hashable {
        /// Those that are in no list.
        package var found: [String: Int] = [:]
        /// Those that may be in lists that are not complete yet.
        package var waiting: [String: Int] = [:]

        mutating func add(_ other: Counts) {
            found.merge(other.found, uniquingKeysWith: +)
            waiting.merge(other.waiting, uniquingKeysWith: +)
        }
    }

    /// The candidates about which nothing is known before further lists are complete.
    struct Waiting: Sendable {
        /// The roots of the entities of which such lists may have records.
        let roots: Set<UInt16>
        /// Whether records that came nested in others wait.
        let isNested: Bool

        func includes(_ member: ScanMember) -> Bool {
            UnlistedRecords.isNested(member) ? isNested : roots.contains(member.record.entity)
        }
    }

    /// The name of the members; no list has such an identity.
    static let members = "unlisted"

    /// Counts the records that are stored and that no response lists which was received or
    /// confirmed since they were found to be in no list, by entity.
    ///
    /// - Parameter schema: the schema of the description, whose relationships keep nested records.
    /// - Complexity: linear in the number of these records.
    package static func count(_ reader: borrowing StoreReader, _ schema: Schema) throws -> [String: Int] {
        let access = reader.access, references = DeclaredReferences(schema, reader.catalog)
        var counts: [String: Int] = [:], times = ListingTimes()
        try access.scans.forEach(of: members) { member in
            guard member.lastListed > 0, let entity = try access.kind(of: member.record) else { return true }
            let isKept = try isNested(member) && references.lead(to: member.record, access)
            if try !isKept && !times.haveListed(member, access) {
                counts[entity.name, default: 0] += 1
            }
            return true
        }
        return counts
    }

    /// Whether a member has come nested in other records only.
    static func isNested(_ member: ScanMember) -> Bool { member.misses > 0 }

    /// A candidate.
    ///
    /// - Parameter isNested: whether it has come nested in other records only.
    static func candidate(_ record: ListedRecord, isNested: Bool) -> ScanMember {
        ScanMember(record, lastListed: 0, misses: isNested ? 1 : 0)
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

    /// The member of a candidate that is in no list, since a time.
    static func member(_ candidate: ScanMember, at time: Timestamp) -> ScanMember {
        ScanMember(
            candidate.record, lastListed: 1, decided: UInt64(bitPattern: time.microseconds), misses: candidate.misses)
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
    private let unchanged: Set<String>
    private var responses: ListingResponses

    /// - Parameters:
    ///   - scopes: the credentials of the sync.
    ///   - lists: the complete lists, which are found once for all transactions.
    ///   - unchanged: the endpoints of which the sync has not requested the lists of unchanged
    ///     records (`only: changed`): it requests them as before.
    init(
        _ lines: [String: RequestedLists.Line], _ scopes: Set<String>, _ lists: WholeLists, unchanged: Set<String>
    ) {
        (self.lines, self.scopes, self.lists, self.unchanged) = (lines, scopes, lists, unchanged)
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
        // The edit has changed nothing that makes other requests, or other records of them.
        if unchanged.contains(name) { return try !responses.isLost(origin, access) }
        // The other pages of a list of changes are not requested again, nor those that an
        // interrupted scan has read.
        guard let identity = origin.identity, let list = try lists.checkpoint(of: identity, access),
            list.isIncremental || list.scan == origin.scan,
            // A list that has begun anew has none of its former pages.
            list.wholeSince.map({ $0 < changedAt }) ?? true,
            max(list.startedAt, list.completedAt ?? list.startedAt) >= changedAt
        else { return false }
        return try !responses.isLost(origin, access)
    }
}
