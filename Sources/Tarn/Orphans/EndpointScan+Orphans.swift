// The end of a scan over an endpoint that declares how orphans are treated.

import TarnImport
import TarnStore

extension EndpointScan {
    /// Whether a complete scan may be followed by an orphan pass; a refusal is added to the report.
    mutating func mayHaveOrphans(_ rules: Orphans, _ checkpoint: Checkpoint) -> Bool {
        var refusal: String?
        if checkpoint.members == nil {
            refusal = "the walk began before it was asked for, or with other credentials: the next one looks"
        } else if isCutOff {
            refusal = "the walk ended at the limit of its endpoint: what comes after it is not known"
        } else if checkpoint.skipped > 0 {
            refusal = "\(checkpoint.skipped) records of the walk could not be read: what is missing is not known"
        } else if checkpoint.records == 0, !rules.allowsEmpty {
            refusal = "the walk lists nothing at all; say allow_empty: true if that may be"
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
    mutating func finishOrphans(
        _ old: Checkpoint?, _ identity: WalkIdentity, _ name: String, _ plan: String, parent: RecordKey?
    ) async throws {
        guard let old else { return }
        if old.plan != plan {
            let members = WalkIdentity.members(identity.responses, plan: old.plan), step = mirror.options.orphanStep
            while try mirror.store.read({ reader in try reader.access.scans.hasMembers(of: members) }) {
                _ = try await mirror.store.write(alone: true) { try $0.removeScanMembers(of: members, limit: step) }
            }
        } else if old.hasOrphans, endpoint.orphans != nil {
            try await lookForOrphans(
                Batch.Completed(walk: identity, parent: parent, checkpointName: name, scan: old.scan))
        }
    }

    mutating func lookForOrphans(_ completed: Batch.Completed) async throws {
        guard let rules = endpoint.orphans else { return }
        var pass = OrphanPass(mirror, endpoint, rules, completed.walk, parent: completed.parent, scan: completed.scan)
        defer {
            report.add(pass.report)
            report.report.add(pass.imported)
        }
        try await pass.run()
        try await mirror.store.write(alone: true) { writer in
            guard var checkpoint = try writer.access.checkpoints.checkpoint(completed.checkpointName),
                checkpoint.scan == completed.scan
            else { return }
            checkpoint.hasOrphans = false
            try writer.setCheckpoint(completed.checkpointName, checkpoint)
        }
    }
}
