// Lists that an endpoint had before: of an earlier description, and of records that were deleted.

import TarnStore

extension EndpointScan {
    // MARK: Earlier descriptions

    /// The name of the members that the list had before the description or the credentials changed;
    /// nil if there are none.
    ///
    /// The first complete scan after the change looks for no orphans among them: the list may have
    /// been narrowed. It reports those that are in no list any more.
    func earlierMembers(_ old: Checkpoint?, _ identity: ScanIdentity) -> String? {
        guard let old, endpoint.orphans?.scope == .listed, !endpoint.isTypedRequest else { return nil }
        let earlier = old.earlierMembers ?? old.membersName(of: identity.responses)
        return earlier == identity.members ? nil : earlier
    }

    /// Removes the scan members of earlier descriptions that nothing will report.
    func removeObsoleteMembers(of old: Checkpoint, plan: String, _ identity: ScanIdentity) async throws {
        let kept = [earlierMembers(old, identity), identity.members], step = options.orphanStep
        // A rule for orphans that the description has again finds its members.
        let isLeft = endpoint.orphans == nil && old.plan == plan
        for members in [old.earlierMembers, isLeft ? nil : old.membersName(of: identity.responses)].compactMap(\.self)
        where !kept.contains(members) {
            while try client.store.read({ reader in try reader.access.scans.hasMembers(of: members) }) {
                _ = try await client.store.write(alone: true) { try $0.removeScanMembers(of: members, limit: step) }
            }
        }
    }

    /// Counts the records that the list had before the description or the credentials changed, and
    /// that no list has now. They stay.
    func countUnlisted(after completed: Batch.Completed) async throws {
        let name = completed.checkpointName, step = options.orphanStep
        guard let earlier = try client.store.read({ try $0.checkpoint(name) })?.earlierMembers else { return }
        report.unlisted += try unlisted(earlier, before: completed)
        var isDone = false
        while !isDone {
            isDone = try await client.store.write(alone: true) { writer in
                guard try writer.removeScanMembers(of: earlier, limit: step) else { return false }
                if var list = try writer.access.checkpoints.checkpoint(name), list.earlierMembers == earlier {
                    list.earlierMembers = nil
                    try writer.setCheckpoint(name, list)
                }
                return true
            }
        }
    }

    private func unlisted(_ earlier: String, before completed: Batch.Completed) throws -> Int {
        let own = completed.identity, scan = completed.scan
        return try count(earlier) { record, access in
            try access.scans.member(record, of: own.members)?.lastListed == scan
        } ignoring: { origin in
            // A page of the earlier list.
            own.owns(origin.identity, origin.request) && origin.scan ?? 0 < scan
        }
    }

    /// Counts the members of an identity that are stored and that no list has.
    ///
    /// - Parameters:
    ///   - isListed: whether a record is known to be in a list. It is asked before responses are.
    ///   - isIgnored: whether the list of a response does not count.
    private func count(
        _ members: String, unless isListed: (ListedRecord, StoreAccess) throws -> Bool,
        ignoring isIgnored: (ResponseOrigin) -> Bool
    ) throws -> Int {
        let step = options.orphanStep
        var count = 0, last: ListedRecord?
        while true {
            try Task.checkCancellation()
            let examined = try client.store.read { reader in
                let access = reader.access
                var responses = ListingResponses(wholeLists), examined = 0
                try access.scans.forEach(of: members, after: last) { member in
                    let record = member.record
                    (last, examined) = (record, examined + 1)
                    guard member.lastListed > 0, try !isListed(record, access), try access.record(record) != nil else {
                        return examined < step
                    }
                    let isElsewhere = try access.responses.ids(listing: record).contains { id in
                        guard let origin = try responses.origin(id, access), !isIgnored(origin) else { return false }
                        return try !responses.isLost(origin, access)
                    }
                    if !isElsewhere { count += 1 }
                    return examined < step
                }
                return examined
            }
            if examined < step { return count }
        }
    }

    // MARK: Lists that are no longer requested

    /// A list that the endpoint has requested before, and that nothing requests now.
    private struct FormerList: Sendable {
        let name: String
        let identity: String
        /// The names of the members, those of an earlier description first.
        let members: [String]
        let progress: Checkpoint
    }

    /// The number of former lists that one sync removes.
    private static let mostFormerLists = 10_000

    /// Removes the progress and the responses of lists of records that were deleted, and of lists
    /// from before the endpoint had one, or several ones.
    ///
    /// Nothing counts what they list, and nothing would ever replace them. They stay until a
    /// complete scan has begun after them: another description may use the store in turn. The
    /// checkpoint is removed last, so that the next sync goes on after an interruption.
    ///
    /// - Parameter parents: the records whose lists are in use; nil for the list without one.
    func removeFormerLists(of parents: [RecordKey?]) async {
        guard syncRun != nil, isOfDescription, variant == nil, givenParents == nil, !options.isPartial,
            report.failures.isEmpty, !report.wasStopped, !report.wasLimited, report.leftOut == 0,
            !Task.isCancelled, let time = report.previous
        else { return }
        do {
            let former = try formerLists(but: Set(request.listNames(of: parents).map { ExactText($0) }), before: time)
            guard !former.isEmpty else { return }
            let identities = Set(former.map(\.identity))
            // The present list finds records that it has had as orphans.
            let own =
                endpoint.hasSeveralLists ? nil : try client.store.read { try $0.checkpoint(endpoint.name) }?.members
            for list in former where endpoint.orphans?.scope == .listed {
                for (index, members) in list.members.enumerated() {
                    // A record of several counts once.
                    let others = list.members.dropFirst(index + 1) + [own].compactMap(\.self)
                    report.ofFormerLists += try count(members) { record, access in
                        try others.contains { try access.scans.member(record, of: $0) != nil }
                    } ignoring: { origin in
                        origin.identity.map(identities.contains) ?? false
                    }
                }
            }
            try await client.store.removeResponses(try responses(of: identities, before: time))
            try await remove(former)
        } catch {
            client.options.logger?.warning(
                "lists that are no longer requested were not removed",
                metadata: ["name": "\(endpoint.name)", "error": "\(error)"])
        }
    }

    /// Removes the progress and the members of lists, some in each of several transactions, unless
    /// another process has requested them since.
    private func remove(_ lists: [FormerList]) async throws {
        let step = options.orphanStep
        var rest = lists[...]
        while !rest.isEmpty {
            let next = Array(rest.prefix(20))
            let done = try await client.store.write(alone: true) { writer in
                for (index, list) in next.enumerated()
                where try writer.access.checkpoints.checkpoint(list.name) == list.progress {
                    for members in list.members {
                        guard try writer.removeScanMembers(of: members, limit: step) else { return index }
                    }
                    try writer.removeCheckpoint(list.name)
                }
                return next.count
            }
            rest = rest.dropFirst(done)
        }
    }

    private func formerLists(but used: Set<ExactText>, before time: Timestamp) throws -> [FormerList] {
        let own = "\(endpoint.name) ", now = client.now
        let others = client.description.endpoints.map(\.name).filter { $0.hasPrefix(own) }
        var former: [FormerList] = []
        func add(_ name: String, _ list: Checkpoint) {
            let last = [list.startedAt, list.continuedAt, list.completedAt].compactMap(\.self).max() ?? now
            guard !used.contains(ExactText(name)), UnusedLists.isEarlier(last, than: time, now: now),
                former.count < EndpointScan.mostFormerLists
            else { return }
            let identity = ScanIdentity.responses(of: name, endpoint, authScope: request.authScope)
            let members = [list.earlierMembers, list.membersName(of: identity)].compactMap(\.self)
            former.append(FormerList(name: name, identity: identity, members: members, progress: list))
        }
        try client.store.read { reader in
            try reader.forEachCheckpoint(withPrefix: own) { name, list in
                guard !EndpointScan.isVariant(name.dropFirst(own.count)),
                    !others.contains(where: { name == $0 || name.hasPrefix("\($0) ") })
                else { return }
                add(name, list)
            }
            if let list = try reader.checkpoint(endpoint.name) { add(endpoint.name, list) }
        }
        return former
    }

    private func responses(of identities: Set<String>, before time: Timestamp) throws -> [UnusedResponse] {
        let now = client.now
        return try client.store.read { reader in
            var found: [UnusedResponse] = []
            try reader.access.responses.forEach { view in
                if view.isMirrors, UnusedLists.isEarlier(view.validatedAt, than: time, now: now),
                    view.identity.map(identities.contains) ?? false
                {
                    found.append(UnusedResponse(view))
                }
                return true
            }
            return found
        }
    }
}
