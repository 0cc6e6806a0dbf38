// The lists of records that were deleted: a mirror of ever-changing records would keep them for
// ever.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// The time without a request after which the list of a deleted record is forgotten, in
    /// microseconds.
    private static let goneListLifetime: Int64 = 30 * 86_400 * 1_000_000
    /// The number of checkpoints that one transaction removes.
    private static let goneListStep = 1000

    /// Forgets the lists of records that were deleted long ago: their responses, their scan members
    /// and their progress.
    ///
    /// Such a list keeps no record from being an orphan (``UnusedLists``), and nothing requests it.
    /// If its record comes back, the list is a new one. Names of more than 207 bytes are stored
    /// without their end, and stay.
    func removeGoneLists() async {
        guard endpoint.forEach != nil, syncRun != nil, variant == nil, givenParents == nil, !options.isPartial,
            report.failures.isEmpty, !report.wasStopped, !Task.isCancelled,
            let previous = report.previous ?? syncRun?.previous
        else { return }
        do {
            let gone = try goneLists(before: previous)
            guard !gone.isEmpty else { return }
            try await client.store.removeResponses(try responses(of: gone, before: previous))
            for (name, checkpoint) in gone {
                try await removeMembers(
                    checkpoint.members ?? ScanIdentity.members(identity(ofList: name), plan: checkpoint.plan))
            }
            try await removeCheckpoints(gone)
        } catch {
            // The scan is stored. The next one removes what is left.
            client.options.logger?.warning(
                "lists of deleted records were not removed",
                metadata: ["name": "\(endpoint.name)", "error": "\(error)"])
        }
    }

    private func identity(ofList name: String) -> String {
        ScanIdentity.responses(of: name, endpoint, authScope: request.authScope)
    }

    /// The checkpoints of lists that were last requested long ago, and before a complete scan, and
    /// whose records are not stored.
    private func goneLists(before previous: Timestamp) throws -> [String: Checkpoint] {
        guard let entity = endpoint.forEach?.entity else { return [:] }
        let own = "\(endpoint.name) ", now = client.now
        return try client.store.read { reader in
            var found: [String: Checkpoint] = [:]
            try reader.forEachCheckpoint(withPrefix: own) { name, checkpoint in
                let times = [checkpoint.startedAt, checkpoint.completedAt, checkpoint.continuedAt].compactMap(\.self)
                guard let last = times.max(), last < previous,
                    now.elapsed(since: last) > EndpointScan.goneListLifetime,
                    !EndpointScan.isVariant(name.dropFirst(own.count))
                else { return }
                found[name] = checkpoint
            }
            guard !found.isEmpty else { return found }
            try reader.forEach(entity) { record in
                for name in request.listNames(of: [record.key]) { found[name] = nil }
                return !found.isEmpty
            }
            return found
        }
    }

    private func responses(of gone: [String: Checkpoint], before previous: Timestamp) throws -> [UnusedResponse] {
        var identities: Set<String> = []
        for (name, checkpoint) in gone {
            identities.insert(identity(ofList: name))
            identities.formUnion([checkpoint.scanned, checkpoint.whole?.identity].compactMap(\.self))
        }
        return try client.store.read { reader in
            var found: [UnusedResponse] = []
            try reader.access.responses.forEach { view in
                if view.isMirrors, view.validatedAt < previous, view.identity.map(identities.contains) ?? false {
                    found.append(UnusedResponse(view))
                }
                return true
            }
            return found
        }
    }

    private func removeMembers(_ members: String) async throws {
        let step = options.orphanStep
        while try client.store.read({ reader in try reader.access.scans.hasMembers(of: members) }) {
            _ = try await client.store.write(alone: true) { try $0.removeScanMembers(of: members, limit: step) }
        }
    }

    /// Removes checkpoints, unless another process has begun their lists anew.
    private func removeCheckpoints(_ gone: [String: Checkpoint]) async throws {
        var rest = Array(gone)[...]
        while !rest.isEmpty {
            let step = Array(rest.prefix(EndpointScan.goneListStep))
            rest = rest.dropFirst(step.count)
            try await client.store.write(alone: true) { writer in
                for (name, known) in step where try writer.access.checkpoints.checkpoint(name) == known {
                    try writer.removeCheckpoint(name)
                }
            }
        }
    }
}
