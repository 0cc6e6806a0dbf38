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
        let changed = lines.filter { old[$0.key] != nil && $0.value.changedAt == now }.map(\.key)
        let former = try store.read { reader in Set(try changed.filter { try !notesMembers($0, reader) }) }
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
                    try writer.putScanMember(ScanMember(record, lastListed: 0), of: UnlistedRecords.members)
                }
            }
        }
        // The last: an interrupted sync leaves the candidates to the next one.
        try await write(lines, over: old, lists)
    }

    /// Decides about the noted records when the present lists are complete.
    ///
    /// - Parameter scopes: the credentials of the sync.
    /// - Returns: the number of records that no list has any more, by entity.
    func findUnlisted(
        _ sync: SyncReport, _ names: Set<String>?, _ scopes: Set<String>
    ) async throws -> [String: Int] {
        guard !options.isPartial else { return [:] }
        let lists = RequestedLists(client), note = try store.read { try $0.requestedLists }
        let old = lists.lines(of: note)
        if old.isEmpty {
            try await write(lists.lines(after: old, names, now: client.now), over: old, lists)
            return [:]
        }
        var lines = old
        let open = lines.filter { $0.value.changedAt != nil }
        // Lists that an interrupted sync has finished may be those of before the edit, and a list
        // that ends at a limit of the server has further pages.
        let complete = Set(
            sync.endpoints.filter {
                $0.failures.isEmpty && !$0.wasStopped && !$0.wasLimited && $0.leftOut == 0 && !$0.wasFinished
                    && $0.finishedParents == 0 && $0.doubts.keys.allSatisfy(\.countsIfRepeated)
            }.map(\.name))
        let isComplete = open.allSatisfy { $0.value.isRemoved || complete.contains($0.key) }
        guard !open.isEmpty, !complete.isEmpty, isComplete else { return [:] }
        let counts = try await decide(lines, scopes)
        for name in open.keys { lines[name]?.changedAt = nil }
        try await write(lines, over: old, lists)
        return counts
    }

    private func decide(
        _ lines: [String: RequestedLists.Line], _ scopes: Set<String>
    ) async throws -> [String: Int] {
        let now = client.now, wholeLists = WholeLists()
        var counts: [String: Int] = [:], last: ListedRecord?
        while true {
            try Task.checkCancellation()
            let after = last
            let step = try await store.write(alone: true) { writer -> (counts: [String: Int], last: ListedRecord?) in
                var members: [ScanMember] = []
                try writer.access.scans.forEach(of: UnlistedRecords.members, after: after) { member in
                    members.append(member)
                    return members.count < APIMirror.unlistedStep
                }
                var present = PresentLists(lines, scopes, wholeLists), times = ListingTimes()
                var counts: [String: Int] = [:]
                for member in members {
                    let record = member.record, isKnown = member.lastListed > 0
                    let isListed =
                        try isKnown ? times.haveListed(member, writer.access) : present.have(record, writer.access)
                    guard let entity = try writer.access.kind(of: record), !isListed else {
                        try writer.removeScanMember(record, of: UnlistedRecords.members)
                        continue
                    }
                    if isKnown { continue }
                    try writer.putScanMember(UnlistedRecords.member(record, at: now), of: UnlistedRecords.members)
                    counts[entity.name, default: 0] += 1
                }
                return (counts, members.count < APIMirror.unlistedStep ? nil : members.last?.record)
            }
            counts.merge(step.counts, uniquingKeysWith: +)
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
}
