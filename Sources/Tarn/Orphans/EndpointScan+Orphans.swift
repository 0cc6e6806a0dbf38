// The end of a scan over an endpoint that declares how orphans are treated.

import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Notes in its checkpoint whether an orphan pass may follow a complete scan; a refusal is
    /// added to the report.
    ///
    /// Records may have moved to a list that is refused: the orphans of the whole endpoint wait.
    func lookForRefusal(
        _ rules: Orphans, _ checkpoint: inout Checkpoint, _ target: ScanTarget, isCutOff: Bool, doubt: EndDoubt?
    ) {
        var refusal: String?, isKnown = false
        let initial = endpoint.incremental?.initial, since = target.request.since, isInitial = since == initial
        if checkpoint.members == nil {
            refusal = "the scan began before orphans were requested: the next scan looks for them"
        } else if since != nil, !isInitial {
            refusal = "the scan has listed only what has changed: a sync with --full looks for orphans"
        } else if since != nil, rules.scope != .listed {
            // Of what earlier scans have listed, nothing lies before the initial value.
            refusal = "since has an initial value, and older records are unknown: only scope: listed is possible"
        } else if since == nil, initial != nil {
            refusal = "the scan has listed everything, and not only what is behind the initial value of since"
        } else if isCutOff {
            refusal = "the scan ended at the limit of its endpoint: later records are unknown"
        } else if let doubt {
            isKnown = doubt.isKnown(after: target.beginning)
            refusal = "\(doubt.finding): other pages may be missing; \(doubt.wayOut)"
        } else if checkpoint.isOfTwoShapes {
            refusal =
                "an answer is a single object, where others are lists of records: it may report an error; "
                + "if it is the list, run tarn sync --full"
        } else if checkpoint.skipped > 0 {
            // None has become unreadable since.
            isKnown = checkpoint.skipped <= target.skippedBefore
            refusal = "unreadable records in the scan: \(checkpoint.skipped); the missing records are unknown"
        } else if checkpoint.records == 0, !rules.allowsEmpty {
            // Of a for_each, any number of lists may be empty: they have one note.
            isKnown = target.wasEmpty
            let list = endpoint.hasSeveralLists ? "one of the lists has" : "the scan lists"
            refusal = "\(list) no records; set allow_empty: true if that is possible"
        }
        checkpoint.hasOrphans = refusal == nil
        checkpoint.holdsOthers = refusal != nil && !isKnown
        hasUnknownList = hasUnknownList || checkpoint.holdsOthers
        if let refusal { refuseOrphans(refusal) }
    }

    /// Notes when a scan began whose end tells what the list has: records of other lists that it
    /// has not listed have not moved to it before.
    ///
    /// The list of an endpoint with a limit ends there. A scan from a later value than the stored
    /// one has left changes out.
    ///
    /// - Parameter isInDoubt: whether the scan may have missed the end. If it finds an empty page
    ///   again, it has not.
    func noteKnown(_ target: ScanTarget, _ checkpoint: inout Checkpoint, isInDoubt: Bool) {
        let isSuddenlyEmpty =
            checkpoint.records == 0 && target.request.since == nil && !target.wasEmpty
            && endpoint.orphans?.allowsEmpty != true
        guard !isInDoubt, !checkpoint.isOfTwoShapes,
            checkpoint.skipped <= target.skippedBefore, !isSuddenlyEmpty,
            requestsAll(since: checkpoint.since, target.request)
        else { return }
        checkpoint.knownSince = checkpoint.startedAt
    }

    /// The kind of a failure that is none: the parent of the list has lost a value for the path.
    private static let lacking = "lacking"

    /// Whether a list was last passed over because its parent had no value for the path.
    func isLacking(_ list: Checkpoint) -> Bool { list.failure?.kind == EndpointScan.lacking }

    /// Notes lists that cannot be requested, because their parents have lost a value for the path.
    ///
    /// A record that another list misses may have moved there: a further scan has to miss it. As
    /// with a list that keeps failing, that is so only for the sync that finds the loss.
    func noteLacking(_ parents: [RecordKey]) async throws {
        guard !parents.isEmpty, endpoint.orphans != nil, syncRun != nil, variant == nil, givenParents == nil,
            !options.isDryRun
        else { return }
        let id = syncID
        let lost = try client.store.read { reader in
            try request.listNames(of: parents).filter { name in
                guard let list = try reader.checkpoint(name) else { return false }
                // An interrupted part of this sync has found the loss.
                if isLacking(list), list.sync == id { hasLostParents = true }
                return !isLacking(list)
            }
        }
        guard !lost.isEmpty else { return }
        hasLostParents = true
        try await client.store.write(alone: true) { writer in
            for name in lost {
                guard var list = try writer.access.checkpoints.checkpoint(name) else { continue }
                list.failure = Checkpoint.Failure(kind: EndpointScan.lacking, text: "")
                list.sync = id
                try writer.setCheckpoint(name, list)
            }
        }
    }

    private func refuseOrphans(_ refusal: String) {
        var orphans = OrphanReport()
        orphans.refusals = [refusal]
        report.add(orphans)
    }

    /// Looks for the orphans of all lists of the endpoint, after the last one is complete.
    ///
    /// A record that one list misses may have moved to any other one. A list that keeps failing
    /// does not count: the others would never have orphans.
    ///
    /// It may also have moved to a list that an interrupted part of the sync has scanned. Then a
    /// further scan has to miss it: all lists are scanned between the two.
    func lookForHeldOrphans() async {
        let held = heldOrphans
        heldOrphans = []
        guard !held.isEmpty else { return }
        let isOpen = hasNewFailure || hasUnknownList
        let isPart =
            !report.failures.isEmpty || report.leftOut > 0 || leavesNewParents || report.wasLimited
        if isOpen || isPart {
            let hint = endpoint.orphans?.check == nil ? "; with check, a request for each record decides" : ""
            refuseOrphans("a list of the endpoint is not complete: it may have what the others miss\(hint)")
        }
        // A request for the record itself decides all the same.
        guard !isPart, !isOpen || endpoint.orphans?.check != nil else { return }
        var done: [Batch.Completed] = [], failure: (any Error)?
        do {
            for scan in held {
                // A list that was repeated has a later scan.
                let last = try client.store.read { try $0.checkpoint(scan.checkpointName)?.scan }
                guard last == scan.scan else { continue }
                if !isOpen { try await countUnlisted(after: scan) }
                try await removeOrphans(scan, onlyAnswered: isOpen)
                if !isOpen { done.append(scan) }
            }
        } catch {
            failure = error
        }
        do {
            try await noteNoOrphans(done)
        } catch {
            failure = failure ?? error
        }
        if let failure { report.failures.append(MirrorError(failure, url: shownURL, place: request.place)) }
    }

    /// Continues the unfinished orphan pass of an earlier sync.
    ///
    /// Of several lists, their new scans decide, when all of them are complete.
    ///
    /// After a change of the credentials, or of which records the description lists, the members of
    /// the scans before it are removed, but for those that a complete scan has to report.
    ///
    /// - Returns: the progress of the list, with the present name of its members.
    func finishOrphans(
        _ old: Checkpoint?, _ request: EndpointRequest, _ identity: ScanIdentity, _ name: String, _ plan: String
    ) async throws -> Checkpoint? {
        guard let known = old,
            let old = try await identity.renamingMembers(of: known, in: client.store, step: options.orphanStep)
        else { return nil }
        try await removeObsoleteMembers(of: old, plan: plan, identity)
        if old.plan == plan, old.hasOrphans, endpoint.orphans != nil, !endpoint.hasSeveralLists {
            try await lookForOrphans(
                Batch.Completed(
                    identity: identity, parent: request.parent?.key, checkpointName: name, scan: old.scan))
        }
        return old
    }

    func lookForOrphans(_ completed: Batch.Completed) async throws {
        try await countUnlisted(after: completed)
        try await removeOrphans(completed)
        try await noteNoOrphans([completed])
    }

    /// - Parameter isOnlyAnswered: whether only a request for the record itself makes it an orphan.
    private func removeOrphans(_ completed: Batch.Completed, onlyAnswered isOnlyAnswered: Bool = false) async throws {
        guard var rules = endpoint.orphans else { return }
        if isOnlyAnswered {
            rules.scans = .max
        } else if endpoint.hasSeveralLists && (hasEarlierPages || hasLostParents) {
            rules.scans = max(rules.scans, rules.scans &+ 1)
        } else if try mayHavePassed(completed) {
            rules.scans = max(2, rules.scans)
        }
        var pass = OrphanPass(request, options, rules, completed, lists: scannedLists, others: otherLists)
        pass.isOnlyAnswered = isOnlyAnswered
        pass.began = began
        pass.begunAfter = begunAfter
        pass.otherScans = otherScans
        pass.wholeLists = wholeLists
        pass.former = formerEndpoints
        defer {
            formerEndpoints = pass.former
            report.add(pass.report)
            report.report.add(pass.imported)
            client.log(orphansOf: endpoint, pass.report, pass.imported)
        }
        try await pass.run()
    }

    /// Whether a scan was continued where an earlier run had ended, in a list whose pages are
    /// counted: if a record before that place was deleted meanwhile, another one has moved past the
    /// scan.
    ///
    /// A style that is chosen automatically is not known any more in a later sync.
    private func mayHavePassed(_ completed: Batch.Completed) throws -> Bool {
        let isChosen = endpoint.pagination == .automatic
        guard endpoint.pagination.isCounted || isChosen && countsPages ?? true else { return false }
        let progress = try client.store.read { try $0.checkpoint(completed.checkpointName) }
        return progress?.resumedScan == completed.scan
    }

    /// The scans of other endpoints of the API that list records of the entity: an orphan may have
    /// moved there.
    ///
    /// Endpoints that request each record itself do not count. A request of a program decides by
    /// itself.
    func scansOfOthers() -> OtherScans? {
        guard syncRun != nil else { return nil }
        let others = client.description.endpoints.filter { mayMove(from: endpoint, to: $0) }
        return others.isEmpty ? nil : OtherScans(request, others)
    }

    /// Whether a record that an endpoint lists may move to a list of another one.
    private func mayMove(from own: Endpoint, to other: Endpoint) -> Bool {
        guard other.name != own.name, other.api == own.api else { return false }
        // The feed of the list is no other list.
        if other.incremental?.start?.list == own.name { return false }
        let catalog = client.store.catalog
        func roots(_ endpoint: Endpoint) -> Set<UInt16> {
            let entities = endpoint.envelope.isEmpty ? [endpoint.entity] : endpoint.envelope.map(\.entity)
            return Set(entities.compactMap { catalog.entity($0)?.root })
        }
        // The list of a record's children, as in a tree, is no request of the record itself.
        let isOfChildren = other.forEach?.parent != nil
        let parent = isOfChildren ? nil : other.forEach.flatMap { catalog.entity($0.entity)?.root }, listed = roots(own)
        guard roots(other).contains(where: { listed.contains($0) && $0 != parent }) else { return false }
        // A list that is left to its feed is not scanned: the feed counts in its place.
        return !followedLists.contains(other.name)
    }

    /// Notes when the last two passes over the lists of all parents began, for the orphans of other
    /// endpoints.
    ///
    /// Each sync may find a new parent, whose list was never scanned when the others are asked for.
    /// A record that was missed before both passes has moved to the list of no parent that was
    /// known between them.
    func notePass(over parents: [ParentRecord?]) async throws {
        guard endpoint.forEach != nil, syncRun != nil, variant == nil, givenParents == nil, !options.isDryRun,
            client.description.endpoints.contains(where: { $0.orphans != nil && mayMove(from: $0, to: endpoint) })
        else { return }
        let names = request.listNames(of: parents.map { $0?.key }), name = endpoint.outcomeName
        let now = client.now
        let (began, known) = try client.store.read { reader in
            (try OtherScans.began(names, at: now, reader), try reader.checkpoint(name))
        }
        guard let began, known?.awaitedSince.map({ $0 < began || $0 > now }) ?? true else { return }
        try await client.store.write(alone: true) { writer in
            var checkpoint =
                try writer.access.checkpoints.checkpoint(name)
                ?? Checkpoint(state: .underWay, plan: "", scan: 0, startedAt: now)
            (checkpoint.knownSince, checkpoint.awaitedSince) = (checkpoint.awaitedSince, began)
            try writer.setCheckpoint(name, checkpoint)
        }
    }

    /// Notes that scans have no orphans left: an interrupted sync does not look for them again.
    private func noteNoOrphans(_ scans: [Batch.Completed]) async throws {
        // In steps: a `for_each` may have very many lists, and other writers wait meanwhile.
        for start in stride(from: 0, to: scans.count, by: options.orphanStep) {
            let step = Array(scans[start..<min(start + options.orphanStep, scans.count)])
            try await client.store.write(alone: true) { writer in
                for scan in step {
                    guard var checkpoint = try writer.access.checkpoints.checkpoint(scan.checkpointName),
                        checkpoint.scan == scan.scan
                    else { continue }
                    checkpoint.hasOrphans = false
                    try writer.setCheckpoint(scan.checkpointName, checkpoint)
                }
            }
        }
    }
}

extension EndDoubt {
    /// Whether the end counts after the scan before: that has ended at an empty page, too.
    func isKnown(after before: Checkpoint) -> Bool { countsIfRepeated && before.wasInDoubt && !before.mayEndAtLimit }
}
