// The end of a scan over an endpoint that declares how orphans are treated.

import TarnImport
import TarnStore

extension EndpointScan {
    /// Whether a complete scan may be followed by an orphan pass; a refusal is added to the report.
    func mayHaveOrphans(
        _ rules: Orphans, _ checkpoint: Checkpoint, since: String?, isCutOff: Bool
    ) -> Bool {
        var refusal: String?
        if checkpoint.members == nil {
            refusal =
                "the scan began before orphans were requested, or with other credentials: the next scan looks for them"
        } else if since != nil {
            refusal = "the scan has listed only what has changed: a sync with --full looks for orphans"
        } else if isCutOff {
            refusal = "the scan ended at the limit of its endpoint: later records are unknown"
        } else if checkpoint.skipped > 0 {
            refusal = "unreadable records in the scan: \(checkpoint.skipped); the missing records are unknown"
        } else if checkpoint.records == 0, !rules.allowsEmpty {
            // Of a for_each, any number of lists may be empty: they have one note.
            let list = endpoint.hasSeveralLists ? "one of the lists has" : "the scan lists"
            refusal = "\(list) no records; set allow_empty: true if that is possible"
        }
        guard let refusal else { return true }
        var orphans = OrphanReport()
        orphans.refusals = [refusal]
        report.add(orphans)
        return false
    }

    /// Continues the unfinished orphan pass of an earlier sync.
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
            try await lookForOrphans(
                Batch.Completed(
                    identity: identity, parent: request.parent?.key, checkpointName: name, scan: old.scan))
        }
    }

    func lookForOrphans(_ completed: Batch.Completed) async throws {
        guard let rules = endpoint.orphans else { return }
        var pass = OrphanPass(request, options, rules, completed)
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
