// The decision about one record that a complete scan did not list, made within the transaction.

import TarnImport
import TarnStore

struct OrphanDecision: Sendable {
    let endpoint: Endpoint
    let rules: Orphans
    let identity: ScanIdentity
    let parent: RecordKey?
    let scan: UInt64
    /// The maximum number of records that one step deletes.
    let limit: Int
    /// The record whose deletion has exceeded a step, and now has what is left of it: the records
    /// of its cascade that stay, too, because operations are queued for them. Nil for none.
    let reduced: ListedRecord?
    let isDryRun: Bool
    let mayDelete: (@Sendable (Record) -> Bool)?
    /// A decision that reads the record as a struct.
    let decides: (@Sendable (Record, StoreReader) throws -> Bool)?
    /// Changes an orphan instead of deleting it; nil to delete it.
    let mark: (@Sendable (RecordKey, inout StoreWriter) throws -> Void)?
    /// Endpoints that request each record of the entity: a record's own detail does not list it.
    let details: [Endpoint]
    /// The name of the scan's checkpoint, which has the time of its beginning.
    let checkpointName: String
    /// Whether only requests for records decide: what the lists miss does not count.
    let isOnlyAnswered: Bool
    /// The time when the earliest scan of the endpoint's lists began; nil for that of this one.
    let began: Timestamp?
    /// The last commit before that; nil for the one before the beginning of this scan.
    let begunAfter: UInt64?
    /// The present time.
    let now: Timestamp
    /// The knowledge about moves to other endpoints; nil if no other one lists such records.
    let moves: Moves?
    /// Lists that are no longer requested; nil if they are unknown.
    let unused: UnusedLists?
    /// The endpoints that the description does not have, and that have requested changes only.
    let former: Set<String>
    /// The siblings of the list of a typed request; nil for a list of a description.
    let siblings: SiblingLists?
    /// The lists of which a scan has reached all pages.
    let wholeLists: WholeLists
    /// Entities whose records are kept if they were changed locally.
    let keepsLocal: Set<String>

    /// The knowledge from scans of the other endpoints of an entity: records may have moved there.
    struct Moves: Sendable {
        /// The last scan whose missing records are known not to have moved to another endpoint.
        var settled: UInt64
        /// The last scan that has gone on where an earlier run had ended; 0 if there was none.
        var resumed: UInt64 = 0
        /// The names of endpoints that were not scanned as a whole although there was time for it.
        var missing: [String] = []
    }

    /// Decides about candidates and removes those that are due, up to the limit of a step.
    ///
    /// - Returns: the number of processed candidates, and the next one if its deletion exceeds a
    ///   step.
    func run(
        _ candidates: [(record: ListedRecord, answer: OrphanPass.Answer)], _ writer: inout StoreWriter,
        _ report: inout OrphanReport,
        _ imported: inout ImportReport
    ) throws -> (done: Int, record: (entity: String, key: RecordKey)?) {
        var references = DeletedReferences(), former: Set<String> = []
        let result = try decide(candidates, &references, &former, &writer, &report, &imported)
        try writer.letGo(&references)
        // If the description has the endpoint again, its lists have to tell the records anew.
        for name in former { try writer.forgetLists(of: name) }
        return result
    }

    /// - Parameters:
    ///   - references: takes the references to deleted records.
    ///   - former: takes the names of endpoints that the description does not have, and that have
    ///     listed records which were deleted, or have lost references.
    private func decide(
        _ candidates: [(record: ListedRecord, answer: OrphanPass.Answer)], _ references: inout DeletedReferences,
        _ former: inout Set<String>,
        _ writer: inout StoreWriter, _ report: inout OrphanReport, _ imported: inout ImportReport
    ) throws -> (done: Int, record: (entity: String, key: RecordKey)?) {
        report.isDryRun = isDryRun
        // All conditions are checked before the first deletion: they may depend on other
        // candidates.
        let kept = try kept(candidates.map(\.record), &writer)
        // Pages that were requested before a change reached the server do not list a new record,
        // which may belong to a list that was scanned before this one.
        let begun = try beginning(writer.access)
        let settled = try begun.time.map { try writer.access.outbox.settledRecords(since: $0) } ?? []
        let scans = scans(since: begun.time, writer.access)
        var deleted = 0, responses = ListingResponses(wholeLists)
        for (index, candidate) in candidates.enumerated() {
            // Cascades of earlier candidates count, too.
            if deleted >= limit { return (index, nil) }
            guard var member = try open(candidate.record, &writer) else { continue }
            // A decision sees no references to records that are deleted already.
            if decides != nil || references.has(candidate.record) { try writer.letGo(&references) }
            let access = writer.access
            guard let record = try access.record(candidate.record) else {
                try writer.removeScanMember(candidate.record, of: identity.members)
                continue
            }
            member.decided = scan
            // A list that has lost the record long ago counts from when no other one lists it.
            var listing: Set<String> = []
            let isElsewhere =
                try candidate.answer != .exists
                && isListedElsewhere(member.record, record.key, &responses, &listing, access)
            if candidate.answer == .exists || isElsewhere {
                member.misses = 0
            } else if !isOnlyAnswered {
                member.misses &+= 1
            }
            var outcome = OrphanReport()
            outcome.candidates = 1
            let isDue = try isDue(
                member, candidate.answer, record, isKept: kept.contains(candidate.record),
                isSettled: settled.contains(candidate.record), isElsewhere: isElsewhere,
                scans: isLater(record, member, than: begun.commit) ? max(2, scans) : scans, &writer, &outcome)
            if isDue, !isDryRun {
                try noteAffected(by: candidate.record, &responses, &former, &writer)
                switch try remove(record, candidate.record, &references, &writer, &outcome, &imported) {
                case .done(let count):
                    deleted += count
                    if outcome.deleted > 0 { former.formUnion(listing) }
                case .stays: try writer.putScanMember(member, of: identity.members)
                case .tooLarge: return (index, (record.entity, record.key))
                }
            } else {
                if isDue { outcome.due = 1 }
                try writer.putScanMember(member, of: identity.members)
            }
            if outcome.due + outcome.deleted + outcome.unlinked + outcome.marked > 0 {
                outcome.records = ["\(record.entity) \(record.key)"]
            }
            outcome.noteOutcome(of: candidate.record.hashValue)
            report.add(outcome)
        }
        return (candidates.count, nil)
    }

    /// The time when the earliest scan of the lists began, and the last commit before it.
    private func beginning(_ access: StoreAccess) throws -> (time: Timestamp?, commit: UInt64?) {
        let own = try access.checkpoints.checkpoint(checkpointName)
        return (
            [own?.startedAt, began].compactMap(\.self).min(), [own?.begunAfter, begunAfter].compactMap(\.self).min()
        )
    }

    /// Whether something else has stored a record since the scan began: its page may have been read
    /// before. A scan that begins later has to miss it, too.
    private func isLater(_ record: Record, _ member: ScanMember, than commit: UInt64?) -> Bool {
        member.lastListed == 0 && commit.map { record.version > $0 } ?? false
    }

    /// The number of scans in a row that have to miss a record.
    ///
    /// Of a long scan, what has reached the server at its beginning may be forgotten: a scan that
    /// begins later has to miss the record, too.
    private func scans(since began: Timestamp?, _ access: StoreAccess) -> UInt64 {
        let isLong = began.map { access.outbox.forgetsSettledRecords(since: $0, at: now) } ?? false
        return UInt64(isLong ? max(2, rules.scans) : rules.scans)
    }

    /// The scan member of a candidate; nil if it was listed or decided about since it was found.
    private func open(_ record: ListedRecord, _ writer: inout StoreWriter) throws -> ScanMember? {
        let member = try writer.access.scans.member(record, of: identity.members) ?? ScanMember(record, lastListed: 0)
        return member.lastListed < scan && member.decided < scan ? member : nil
    }

    private func kept(_ records: [ListedRecord], _ writer: inout StoreWriter) throws -> Set<ListedRecord> {
        guard let keep = rules.keep else { return [] }
        try writer.applyIndexChanges()
        let access = writer.access, check = try RecordCheck(access, Query(endpoint.entity, where: keep))
        return try Set(records.filter { try check.admits($0) })
    }

    /// Whether a record is to be removed; otherwise the reason is counted.
    ///
    /// - Parameter scans: the number of scans in a row that have to miss it.
    private func isDue(
        _ member: ScanMember, _ answer: OrphanPass.Answer, _ record: Record, isKept: Bool, isSettled: Bool,
        isElsewhere: Bool, scans: UInt64, _ writer: inout StoreWriter, _ outcome: inout OrphanReport
    ) throws -> Bool {
        let access = writer.access
        if answer == .exists {
            outcome.existing = 1
        } else if isElsewhere {
            outcome.listedElsewhere = 1
        } else if answer != .gone, member.misses < scans {
            outcome.waiting = 1
        } else if answer != .gone, let moves, decidingMiss(member, moves) > moves.settled {
            outcome.waiting = 1
            if !moves.missing.isEmpty { outcome.refusals = [OrphanDecision.hint(moves.missing)] }
        } else if isKept {
            outcome.kept = 1
        } else if isSettled, answer != .gone {
            outcome.changedLocally = 1
        } else if try access.localChanges.contains(member.record),
            try keepsLocal.contains(record.entity) || hasOperations(member.record, access)
        {
            outcome.changedLocally = 1
        } else if let mayDelete, !mayDelete(record) {
            outcome.vetoed = 1
        } else if let decides, try !decides(record, writer.reader()) {
            outcome.vetoed = 1
        } else {
            return true
        }
        return false
    }

    /// The first of the scans in a row that have missed a record, or a later one of them.
    ///
    /// Between them may be scans that have decided nothing.
    private func firstMiss(_ member: ScanMember) -> UInt64 {
        scan - min(scan, max(1, member.misses) - 1)
    }

    /// The scan whose miss has to be settled: the first one in a row, or the second one if records
    /// may have moved past scans that were continued.
    ///
    /// The first miss may be one of those. What has moved past a scan is still in the list, and may
    /// leave it before the next scan.
    private func decidingMiss(_ member: ScanMember, _ moves: Moves) -> UInt64 {
        let first = firstMiss(member)
        return moves.resumed < first ? first : first + 1
    }

    private static func hint(_ endpoints: [String]) -> String {
        let names = endpoints.count > 3 ? endpoints.prefix(3) + ["others"] : endpoints
        return "no complete scan of \(names.joined(separator: ", ")) has begun since the list misses records: "
            + "they may have moved there"
    }

    /// Whether operations wait that change the record: the server may not have it yet.
    private func hasOperations(_ record: ListedRecord, _ access: StoreAccess) throws -> Bool {
        try record.storageKey.withUnsafeBytes { try access.outbox.hasOperations(record.entity, $0) }
    }

    /// Whether a response of another scan lists the record.
    ///
    /// The detail that was requested for the record itself only says what it was like. A page that
    /// the last scan of its list did not reach says nothing any more, nor does a list that is no
    /// longer requested.
    ///
    /// - Parameters:
    ///   - responses: what this transaction has read of responses that list candidates.
    ///   - former: takes the names of endpoints that the description does not have, and that have
    ///     listed the record.
    private func isListedElsewhere(
        _ listed: ListedRecord, _ key: RecordKey, _ responses: inout ListingResponses, _ former: inout Set<String>,
        _ access: StoreAccess
    ) throws -> Bool {
        // The details may be requested with other credentials: of another API, or of before.
        var known: [String: Set<String>] = [:]
        func own(_ scope: String) -> Set<String> {
            if let lists = known[scope] { return lists }
            let lists = Set(
                details.flatMap { detail in
                    detail.combinations.map { partition in
                        let name = detail.name + EndpointRequest.suffix(of: partition)
                        return ScanIdentity.responses(
                            of: EndpointRequest.checkpointName(name, of: key), detail, authScope: scope)
                    }
                })
            known[scope] = lists
            return lists
        }
        func isOwn(_ origin: ResponseOrigin, _ id: UInt64) -> Bool {
            if let siblings {
                if siblings.own(origin) || siblings.isRetired(origin, id: id) { return true }
            } else if identity.owns(origin.identity, origin.request) {
                return true
            }
            return origin.identity.map { own(origin.request.authScope).contains($0) } ?? false
        }
        return try access.responses.ids(listing: listed).contains { id in
            guard let origin = try responses.origin(id, access), !isOwn(origin, id) else { return false }
            if try responses.isLost(origin, access) { return false }
            guard let unused, unused.contain(origin) else { return true }
            if let name = unused.formerEndpoint(of: origin) { former.insert(name) }
            return false
        }
    }

    /// Adds the former endpoints that have listed other records which the deletion of a record
    /// deletes or changes.
    private func noteAffected(
        by record: ListedRecord, _ responses: inout ListingResponses, _ names: inout Set<String>,
        _ writer: inout StoreWriter
    ) throws {
        guard mark == nil, rules.action == .delete, !former.isSubset(of: names) else { return }
        let access = writer.access
        do {
            try writer.forEachAffected(byDeleting: record) { affected in
                for id in try access.responses.ids(listing: affected) {
                    guard let origin = try responses.origin(id, access) else { continue }
                    let name = String(RequestKey.name(ofEndpoint: origin.request.endpoint))
                    if former.contains(name) { names.insert(name) }
                }
                return !former.isSubset(of: names)
            }
        } catch let error as StoreWriteError {
            // The record stays, with all others.
            guard case .deleteDenied = error else { throw error }
        }
    }

    private enum Removal {
        case done(Int), stays, tooLarge
    }

    private func remove(
        _ record: Record, _ listed: ListedRecord, _ references: inout DeletedReferences, _ writer: inout StoreWriter,
        _ outcome: inout OrphanReport, _ imported: inout ImportReport
    ) throws -> Removal {
        var counts = ImportReport.Counts()
        if let mark {
            try mark(record.key, &writer)
            // A record of a scope is a candidate after every list, and may have its mark already.
            if try writer.access.record(listed)?.fields != record.fields {
                counts.updated = 1
                outcome.marked = 1
                merge(counts, record, .updated, into: &imported)
            }
            try writer.removeScanMember(listed, of: identity.members)
            return .done(1)
        }
        switch rules.action {
        case .unlink:
            guard let relationship = endpoint.forEach?.parent else { return .stays }
            if let parent, record[relationship] == .reference(parent),
                try unlink(record.entity, listed, relationship, &writer)
            {
                counts.updated = 1
                outcome.unlinked = 1
                merge(counts, record, .updated, into: &imported)
            }
            try writer.removeScanMember(listed, of: identity.members)
            return .done(1)
        case .delete:
            guard let entity = writer.catalog.entity(record.entity) else { return .stays }
            do {
                let most = listed == reduced ? .max : limit
                guard let count = try writer.delete(entity, listed, upTo: most, &references) else { return .tooLarge }
                try writer.removeScanMember(listed, of: identity.members)
                counts.deleted = 1
                outcome.deleted = 1
                merge(counts, record, .deleted, into: &imported)
                return .done(count)
            } catch let error as StoreWriteError {
                guard case .deleteDenied = error else { throw error }
                outcome.denied = 1
                imported.add(
                    Diagnostic(
                        code: .deleteDenied, path: "$", entity: record.entity, key: record.key.description, field: nil,
                        message: "no longer listed by the server, but kept in the store: \(error)"))
                return .stays
            }
        }
    }

    /// Clears a relationship. A partial record stays partial, a complete one complete.
    ///
    /// The pages that list the record are requested without a condition the next time: if the list
    /// has one of them again, its import has to set the relationship again.
    private func unlink(
        _ entity: String, _ listed: ListedRecord, _ relationship: String, _ writer: inout StoreWriter
    ) throws -> Bool {
        guard let entity = writer.catalog.entity(entity), let field = entity.field(relationship) else { return false }
        guard try writer.clear(field.id, of: listed, entity) == .updated else { return false }
        try writer.responses.removeValidators(ofResponsesListing: listed)
        return true
    }

    private func merge(
        _ counts: ImportReport.Counts, _ record: Record, _ outcome: ImportReport.Outcome,
        into imported: inout ImportReport
    ) {
        var other = ImportReport(keyLimit: 0)
        other.entities = [record.entity: counts]
        imported.add(other)
        imported.note(record.key.storageKey, of: record.entity, outcome, whole: record.key)
    }
}
