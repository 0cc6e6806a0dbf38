// Scans of a group: requested concurrently, and committed together if the group is atomic.

import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Prefetches the first page, before the scan's turn. `run()` reports an invalid request.
    mutating func askFirst() {
        guard endpoint.forEach == nil, let first = try? firstRequest(nil),
            let pages = try? PageSequence(endpoint.pagination, first, bounds)
        else {
            return
        }
        ahead = try? ask(pages.request)
    }

    /// Stops a scan that has not begun, since another one has failed for all.
    mutating func giveUp() {
        ahead?.task.cancel()
        ahead = nil
        report.failures.append(
            .endpoint(place: place, message: "not requested, because another request of the group failed"))
    }

    /// Commits the held batches of scans that share one importer, as one change.
    ///
    /// - Returns: false if nothing was committed because of a void 304: the group has to be
    ///   requested again.
    static func commitHeld(_ walks: inout [EndpointScan]) async -> Bool {
        guard let first = walks.indices.first else { return true }
        let held = walks.map(\.batch)
        for index in walks.indices.dropFirst() {
            walks[first].batch.append(walks[index].batch)
            walks[index].batch = Batch()
        }
        walks[first].holdsCommits = false
        let pipeline = walks[first].pipeline, hooks = mergeHooks(of: walks)
        pipeline.configure { $0.hooks = hooks }
        defer { pipeline.configure { $0.hooks = ImportHooks() } }
        let before = walks[first].report
        await walks[first].end()
        guard walks[first].overtaken.isEmpty else { return false }
        guard walks[first].report.failures.isEmpty else { return true }
        // Each scan counts its own pages.
        (walks[first].report.pages, walks[first].report.listed, walks[first].report.notModified) = (
            before.pages, before.listed, before.notModified
        )
        for (index, batch) in zip(walks.indices, held) {
            for page in batch.pages { walks[index].count(page.entry, isImported: page.isImported) }
        }
        return true
    }

    /// The hooks for the common merge of all scans: those of each endpoint once.
    private static func mergeHooks(of walks: [EndpointScan]) -> ImportHooks {
        var names: Set<String> = [], all = ImportHooks()
        for walk in walks where names.insert(walk.endpoint.name).inserted {
            if let own = walk.hooks.afterDraft {
                let before = all.afterDraft
                all.afterDraft = { draft in (before?(&draft) ?? true) && own(&draft) }
            }
            if let own = walk.hooks.afterMerge {
                let before = all.afterMerge
                all.afterMerge = { report, writer in
                    try before?(report, &writer)
                    try own(report, &writer)
                }
            }
        }
        return all
    }
}
