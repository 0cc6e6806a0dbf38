// The end of a scan over an endpoint that declares how orphans are treated.

import TarnImport
import TarnStore

extension EndpointScan {
    /// Whether a complete scan may be followed by an orphan pass; a refusal is added to the report.
    func mayHaveOrphans(
        _ rules: Orphans, _ checkpoint: Checkpoint, since: String?, isCutOff: Bool, isInDoubt: Bool
    ) -> Bool {
        var refusal: String?
        let isInitial = since == endpoint.incremental?.initial
        if checkpoint.members == nil {
            refusal = "the scan began before orphans were requested: the next scan looks for them"
        } else if since != nil, !isInitial {
            refusal = "the scan has listed only what has changed: a sync with --full looks for orphans"
        } else if since != nil, rules.scope != .listed {
            // Of what earlier scans have listed, nothing lies before the initial value.
            refusal = "since has an initial value, and older records are unknown: only scope: listed is possible"
        } else if isCutOff {
            refusal = "the scan ended at the limit of its endpoint: later records are unknown"
        } else if isInDoubt {
            refusal =
                "the last page has no records, although the page before names it: other pages may be missing; "
                + "if that is usual, write more: ignore"
        } else if checkpoint.skipped > 0 {
            refusal = "unreadable records in the scan: \(checkpoint.skipped); the missing records are unknown"
        } else if checkpoint.records == 0, !rules.allowsEmpty {
            // Of a for_each, any number of lists may be empty: they have one note.
            let list = endpoint.hasSeveralLists ? "one of the lists has" : "the scan lists"
            refusal = "\(list) no records; set allow_empty: true if that is possible"
        }
        guard let refusal else { return true }
        refuseOrphans(refusal)
        return false
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
    func lookForHeldOrphans() async {
        let held = heldOrphans
        heldOrphans = []
        guard !held.isEmpty else { return }
        guard report.failures.isEmpty, !hasNewFailure, report.leftOut == 0, !report.wasLimited else {
            return refuseOrphans("a list of the endpoint is not complete: it may have what the others miss")
        }
        do {
            for scan in held {
                // A list that was repeated has a later scan.
                let last = try client.store.read { try $0.checkpoint(scan.checkpointName)?.scan }
                if last == scan.scan { try await lookForOrphans(scan) }
            }
        } catch {
            report.failures.append(MirrorError(error, url: shownURL, place: request.place))
        }
    }

    /// Continues the unfinished orphan pass of an earlier sync.
    ///
    /// That of one of several lists is continued only if this sync has scanned the list: otherwise
    /// its new scan decides, when the other lists are complete, too.
    ///
    /// If the description has changed, the scan members of the old one are removed.
    func finishOrphans(
        _ old: Checkpoint?, _ request: EndpointRequest, _ identity: ScanIdentity, _ name: String, _ plan: String
    ) async throws {
        guard let old else { return }
        if old.plan != plan {
            let members = ScanIdentity.members(identity.responses, plan: old.plan), step = options.orphanStep
            while try client.store.read({ reader in try reader.access.scans.hasMembers(of: members) }) {
                _ = try await client.store.write(alone: true) { try $0.removeScanMembers(of: members, limit: step) }
            }
        } else if old.hasOrphans, endpoint.orphans != nil {
            let completed = Batch.Completed(
                identity: identity, parent: request.parent?.key, checkpointName: name, scan: old.scan)
            if !endpoint.hasSeveralLists {
                try await lookForOrphans(completed)
            } else if let run = syncRun, run.hasFinished(old, plan: plan) {
                heldOrphans.append(completed)
            }
        }
    }

    func lookForOrphans(_ completed: Batch.Completed) async throws {
        guard let rules = endpoint.orphans else { return }
        var pass = OrphanPass(request, options, rules, completed, lists: scannedLists)
        defer {
            report.add(pass.report)
            report.report.add(pass.imported)
            client.log(orphansOf: endpoint, pass.report, pass.imported)
        }
        try await pass.run()
        try await client.store.write(alone: true) { writer in
            guard var checkpoint = try writer.access.checkpoints.checkpoint(completed.checkpointName),
                checkpoint.scan == completed.scan
            else { return }
            checkpoint.hasOrphans = false
            try writer.setCheckpoint(completed.checkpointName, checkpoint)
        }
    }
}
