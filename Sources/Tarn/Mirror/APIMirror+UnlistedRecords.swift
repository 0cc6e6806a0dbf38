// The records of lists that an edited description no longer requests, found by its first sync.

import TarnHTTP
import TarnStore

extension APIMirror {
    /// The number of records after which a transaction that notes or examines them ends.
    private static let unlistedStep = 5_000

    /// Compares the lists of the description with those of the sync before, and notes the records
    /// of those that are others now, before their responses are replaced.
    ///
    /// Nothing is read but a note, unless the description was edited.
    func noteFormerLists(_ names: Set<String>?) async throws {
        guard !options.isDryRun else { return }
        let lists = RequestedLists(client), now = client.now
        let note = try store.read { try $0.requestedLists }, old = lists.lines(of: note)
        let lines = lists.lines(after: old, names, now: now)
        // The end of a first sync notes its lists.
        guard !old.isEmpty, lines != old else { return }
        let changed = lines.filter { $0.value.changedAt == now && $0.value != old[$0.key] }.map(\.key)
        let former = try store.read { reader in
            Set(
                try changed.filter { name in
                    try old[name] != nil && RequestedLists.relationship(name) == nil && !notesMembers(name, reader)
                })
        }
        var next = former.isEmpty ? nil : 0 as UInt64?
        while let id = next {
            try Task.checkCancellation()
            let step = try store.read { reader in
                try reader.recordsListed(by: former, from: id, atLeast: APIMirror.unlistedStep)
            }
            next = step.next
            guard !step.records.isEmpty else { continue }
            try await store.write(alone: true) { writer in
                var times = ListingTimes()
                for record in step.records where try !UnlistedRecords.isKnown(record, writer.access, &times) {
                    try writer.putScanMember(
                        UnlistedRecords.candidate(record, isNested: false), of: UnlistedRecords.members)
                }
            }
        }
        for (entity, relationship) in changed.compactMap(RequestedLists.relationship) {
            try await noteNested(in: relationship, of: entity)
        }
        // The last: an interrupted sync leaves the candidates to the next one.
        try await write(lines, over: old, lists)
    }

    /// Notes the records that a relationship leads to and that no response lists.
    private func noteNested(in name: String, of entity: String) async throws {
        let catalog = store.catalog
        guard let owner = catalog.entity(entity),
            let relationship = catalog.relationships(of: owner).first(where: { $0.name == name && $0.join == nil })
        else { return }
        var next: [UInt8]? = []
        while let start = next {
            try Task.checkCancellation()
            let step = try store.read { reader in
                try reader.targets(of: relationship, owner, from: start, atLeast: APIMirror.unlistedStep)
            }
            next = step.next
            guard !step.records.isEmpty else { continue }
            try await store.write(alone: true) { writer in
                for record in step.records {
                    guard try writer.access.kind(of: record) != nil, try !wasMadeLocally(record, writer.access),
                        try writer.access.responses.ids(listing: record).isEmpty,
                        try writer.access.scans.member(record, of: UnlistedRecords.members) == nil
                    else { continue }
                    try writer.putScanMember(
                        UnlistedRecords.candidate(record, isNested: true), of: UnlistedRecords.members)
                }
            }
        }
    }

    /// Whether a record was created locally: no response has brought it.
    private func wasMadeLocally(_ record: ListedRecord, _ access: StoreAccess) throws -> Bool {
        try record.storageKey.withUnsafeBytes { key in
            try access.localChanges.mark(record.entity, key)?.operation == .create
                || access.outbox.hasOperations(record.entity, key)
        }
    }

    /// Decides about the noted records when the present lists that may have them are complete.
    ///
    /// - Parameter scopes: the credentials of the sync.
    /// - Returns: the numbers of records that no list has any more, and of those that wait for
    ///   lists which are not complete, by entity.
    func findUnlisted(
        _ sync: SyncReport, _ names: Set<String>?, _ scopes: Set<String>
    ) async throws -> UnlistedRecords.Counts {
        guard !options.isPartial else { return UnlistedRecords.Counts() }
        let lists = RequestedLists(client), note = try store.read { try $0.requestedLists }
        let old = lists.lines(of: note)
        if old.isEmpty {
            try await write(lists.lines(after: old, names, now: client.now), over: old, lists)
            return UnlistedRecords.Counts()
        }
        var lines = old
        let open = Set(lines.filter { $0.value.changedAt != nil }.keys)
        let complete = completeLists(of: sync)
        guard !open.isEmpty, !complete.isEmpty else { return UnlistedRecords.Counts() }
        let incomplete = open.filter { name in
            RequestedLists.relationship(name) == nil && lines[name]?.isRemoved == false && !complete.contains(name)
        }
        let waiting = UnlistedRecords.Waiting(
            roots: roots(listedBy: incomplete), isNested: names != nil || sync.mayReadOn(complete))
        let references = DeclaredReferences(
            description.schema, store.catalog, others: lists.relationshipsOfOthers(note))
        let unchanged = Set(sync.endpoints.filter { $0.unchangedParents > 0 }.map(\.name))
        let present = PresentLists(lines, scopes, WholeLists(), unchanged: unchanged)
        var counts = try await decide(present, references, waiting)
        if !sync.maySettle(incomplete, isWhole: names == nil) { counts.waiting = [:] }
        for name in open {
            let isOver = RequestedLists.relationship(name) == nil ? incomplete.isEmpty : !waiting.isNested
            if isOver { lines[name]?.changedAt = nil }
        }
        try await write(lines, over: old, lists)
        return counts
    }

    /// The endpoints whose lists a sync has read to their ends.
    ///
    /// Lists that an interrupted sync has finished may be those of before the edit, and a list that
    /// ends at a limit of the server has further pages. The next sync requests the lists of records
    /// that came during this one.
    private func completeLists(of sync: SyncReport) -> Set<String> {
        Set(
            sync.endpoints.filter {
                $0.failures.isEmpty && !$0.wasStopped && !$0.wasLimited && $0.leftOut == 0 && !$0.wasFinished
                    && $0.finishedParents == 0 && $0.newParents == 0 && $0.doubts.keys.allSatisfy(\.countsIfRepeated)
            }.map(\.name))
    }

    /// The roots of the entities that endpoints list.
    private func roots(listedBy names: Set<String>) -> Set<UInt16> {
        let entities = description.endpoints.filter { names.contains($0.name) }.flatMap { endpoint in
            [endpoint.entity] + endpoint.envelope.map(\.entity)
        }
        return Set(entities.compactMap { store.catalog.entity($0)?.root })
    }

    private func decide(
        _ lists: PresentLists, _ references: DeclaredReferences, _ waiting: UnlistedRecords.Waiting
    ) async throws -> UnlistedRecords.Counts {
        let now = client.now
        var counts = UnlistedRecords.Counts(), last: ListedRecord?
        while true {
            try Task.checkCancellation()
            let after = last
            let step = try await store.write(alone: true) {
                writer -> (counts: UnlistedRecords.Counts, last: ListedRecord?) in
                var members: [ScanMember] = []
                try writer.access.scans.forEach(of: UnlistedRecords.members, after: after) { member in
                    members.append(member)
                    return members.count < APIMirror.unlistedStep
                }
                var present = lists, times = ListingTimes(), counts = UnlistedRecords.Counts()
                for member in members {
                    let record = member.record, isKnown = member.lastListed > 0
                    guard let entity = try writer.access.kind(of: record) else {
                        try writer.removeScanMember(record, of: UnlistedRecords.members)
                        continue
                    }
                    let isWaiting = !isKnown && waiting.includes(member)
                    let isListed =
                        try isKnown ? times.haveListed(member, writer.access) : present.have(record, writer.access)
                    let isReferred =
                        try !isListed && UnlistedRecords.isNested(member)
                        && references.lead(to: record, writer.access)
                    if isListed || isReferred && !isWaiting {
                        try writer.removeScanMember(record, of: UnlistedRecords.members)
                    } else if isWaiting {
                        // A record that refers to it may be read later, and do so no longer.
                        if !isReferred { counts.waiting[entity.name, default: 0] += 1 }
                    } else if !isKnown {
                        try writer.putScanMember(UnlistedRecords.member(member, at: now), of: UnlistedRecords.members)
                        counts.found[entity.name, default: 0] += 1
                    }
                }
                return (counts, members.count < APIMirror.unlistedStep ? nil : members.last?.record)
            }
            counts.add(step.counts)
            guard let next = step.last else { return counts }
            last = next
        }
    }

    /// Replaces the lines of this description in the note that differ from old ones: syncs of other
    /// endpoints may have replaced theirs meanwhile.
    private func write(
        _ lines: [String: RequestedLists.Line], over old: [String: RequestedLists.Line], _ lists: RequestedLists
    ) async throws {
        let changed = lines.filter { old[$0.key] != $0.value }
        guard !changed.isEmpty else { return }
        try await store.write(alone: true) { writer in
            let note = try writer.access.settings.requestedLists
            let present = lists.lines(of: note).merging(changed) { $1 }
            try writer.note(requestedLists: lists.note(present, after: note))
        }
    }

    /// Whether the lists of an endpoint have members: its rule for orphans compares them.
    private func notesMembers(_ name: String, _ reader: borrowing StoreReader) throws -> Bool {
        guard description.endpoints.contains(where: { $0.name == name && $0.orphans?.scope == .listed }) else {
            return false
        }
        var isNoted = try reader.checkpoint(name)?.members != nil
        try reader.forEachCheckpoint(withPrefix: "\(name) ") { _, list in isNoted = isNoted || list.members != nil }
        return isNoted
    }
}

extension StoreReader {
    /// The records that the responses to mirrors' endpoints list, each once, in order.
    ///
    /// - Parameters:
    ///   - first: the id of the first response that is looked at.
    ///   - count: the number of records behind which no further response is looked at.
    /// - Returns: the records, and the id of the next response; nil if there is none.
    fileprivate func recordsListed(
        by endpoints: Set<String>, from first: UInt64, atLeast count: Int
    ) throws -> (records: [ListedRecord], next: UInt64?) {
        var found: Set<ListedRecord> = [], next: UInt64?
        try access.responses.forEach(from: first) { view in
            guard found.count < count else {
                next = view.id
                return false
            }
            guard view.isMirrors, endpoints.contains(String(RequestKey.name(ofEndpoint: view.endpoint))) else {
                return true
            }
            view.forEachListed {
                found.insert(ListedRecord(entity: $0, storageKey: Array($1)))
                return true
            }
            return true
        }
        return (found.sorted(by: ListedRecord.precedes), next)
    }

    /// The records that a relationship leads to, each once, in order.
    ///
    /// - Parameters:
    ///   - owner: the entity that has the relationship.
    ///   - start: the key of the first record that is looked at.
    ///   - count: the number of targets behind which no further record is looked at.
    /// - Returns: the targets, and the key of the next record; nil if there is none.
    fileprivate func targets(
        of relationship: Catalog.Relationship, _ owner: Catalog.Entity, from start: [UInt8], atLeast count: Int
    ) throws -> (records: [ListedRecord], next: [UInt8]?) {
        guard let root = catalog.entity(id: relationship.destination)?.root else { return ([], nil) }
        var found: Set<ListedRecord> = [], next: [UInt8]?
        try access.records.scan(owner, from: start) { key, _ in
            guard found.count < count else {
                next = Array(key)
                return false
            }
            try access.targets(of: key, relationship) { target in
                found.insert(ListedRecord(entity: root, storageKey: Array(target)))
                return true
            }
            return true
        }
        return (found.sorted(by: ListedRecord.precedes), next)
    }
}

extension SyncReport {
    /// Whether the next sync reads on in a list: records in it may refer to others. That of an
    /// endpoint that fails for good may never come, and a limit of the server is met again.
    fileprivate func mayReadOn(_ complete: Set<String>) -> Bool {
        endpoints.contains { !complete.contains($0.name) && $0.mayReadOn }
    }

    /// Whether the next sync, or an end of failures, may settle what the records that wait are. If
    /// not, each sync would repeat their number for good.
    ///
    /// - Parameters:
    ///   - incomplete: the endpoints whose lists they wait for.
    ///   - isWhole: whether all endpoints were requested.
    fileprivate func maySettle(_ incomplete: Set<String>, isWhole: Bool) -> Bool {
        endpoints.contains { endpoint in
            endpoint.mayReadOn && isWhole
                || incomplete.contains(endpoint.name) && (endpoint.mayReadOn || !endpoint.failures.isEmpty)
        }
    }
}

extension SyncReport.Endpoint {
    /// Whether the next sync reads on in a list.
    fileprivate var mayReadOn: Bool {
        wasStopped || wasLimited || leftOut > 0 || wasFinished || finishedParents > 0 || newParents > 0
            || failures.contains(where: \.isInterruption)
    }
}
