// The records of lists that an edited description no longer requests, found by its first sync.

import TarnHTTP
import TarnStore

extension APIMirror {
    /// The number of records that one transaction notes or examines.
    private static let unlistedStep = 5_000

    /// Compares the lists of the description with those of the sync before, and notes the records of
    /// those that are others now, before their responses are replaced.
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
        let former = try store.read { reader in
            try reader.recordsListed(by: Set(changed.filter { try !notesMembers($0, reader) }))
        }
        var rest = former[...]
        while !rest.isEmpty {
            let step = Array(rest.prefix(APIMirror.unlistedStep))
            rest = rest.dropFirst(step.count)
            try await store.write(alone: true) { writer in
                for record in step where try !UnlistedRecords.isKnown(record, writer.access) {
                    try writer.putScanMember(ScanMember(record, lastListed: 0), of: UnlistedRecords.members)
                }
            }
        }
        // The last: an interrupted sync leaves the candidates to the next one.
        try await write(lines, lists)
    }

    /// Decides about the noted records when the present lists are complete.
    ///
    /// - Returns: the number of records that no list has any more, by entity.
    func findUnlisted(_ sync: SyncReport, _ names: Set<String>?) async throws -> [String: Int] {
        guard !options.isPartial else { return [:] }
        let lists = RequestedLists(client), note = try store.read { try $0.requestedLists }
        var lines = lists.lines(of: note)
        if lines.isEmpty {
            try await write(lists.lines(after: lines, names, now: client.now), lists)
            return [:]
        }
        let open = lines.filter { $0.value.changedAt != nil }
        let complete = Set(
            sync.endpoints.filter { $0.failures.isEmpty && !$0.wasStopped && !$0.wasLimited && $0.leftOut == 0 }
                .map(\.name))
        let isComplete = open.allSatisfy { $0.value.isRemoved || complete.contains($0.key) }
        guard !open.isEmpty, !complete.isEmpty, isComplete else { return [:] }
        let counts = try await decide(lines)
        for name in open.keys { lines[name]?.changedAt = nil }
        try await write(lines, lists)
        return counts
    }

    private func decide(_ lines: [String: RequestedLists.Line]) async throws -> [String: Int] {
        let now = client.now
        var counts: [String: Int] = [:], last: ListedRecord?
        while true {
            try Task.checkCancellation()
            let after = last
            let step = try await store.write(alone: true) { writer -> (counts: [String: Int], last: ListedRecord?) in
                var candidates: [ListedRecord] = [], examined = 0, last: ListedRecord?
                try writer.access.scans.forEach(of: UnlistedRecords.members, after: after) { member in
                    if member.lastListed == 0 { candidates.append(member.record) }
                    (last, examined) = (member.record, examined + 1)
                    return examined < APIMirror.unlistedStep
                }
                var present = PresentLists(lines), counts: [String: Int] = [:]
                for record in candidates {
                    if let entity = try writer.access.kind(of: record), try !present.have(record, writer.access) {
                        try writer.putScanMember(
                            UnlistedRecords.member(record, at: now), of: UnlistedRecords.members)
                        counts[entity.name, default: 0] += 1
                    } else {
                        try writer.removeScanMember(record, of: UnlistedRecords.members)
                    }
                }
                return (counts, examined < APIMirror.unlistedStep ? nil : last)
            }
            counts.merge(step.counts, uniquingKeysWith: +)
            guard let next = step.last else { return counts }
            last = next
        }
    }

    /// Replaces the lines of this server in the note.
    private func write(_ lines: [String: RequestedLists.Line], _ lists: RequestedLists) async throws {
        try await store.write(alone: true) { writer in
            try writer.note(requestedLists: lists.note(lines, after: try writer.access.settings.requestedLists))
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
    fileprivate func recordsListed(by endpoints: Set<String>) throws -> [ListedRecord] {
        guard !endpoints.isEmpty else { return [] }
        var found: Set<ListedRecord> = []
        try access.responses.forEach { view in
            guard view.isMirrors, endpoints.contains(String(RequestKey.name(ofEndpoint: view.endpoint))) else {
                return true
            }
            view.forEachListed {
                found.insert(ListedRecord(entity: $0, storageKey: Array($1)))
                return true
            }
            return true
        }
        return found.sorted(by: ListedRecord.precedes)
    }
}
