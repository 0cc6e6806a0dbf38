// Scans of a group: requested concurrently, and committed together if the group is atomic.

import TarnHTTP
import TarnImport
import TarnStore

extension EndpointScan {
    /// Prefetches the first page, before the scan's turn. `run()` reports an invalid request.
    func askFirst() {
        guard !endpoint.hasSeveralLists, let pages = try? request.pages() else { return }
        first = try? ask(pages.request, request)
    }

    /// Stops a scan that has not begun, since another one has failed for all.
    func giveUp() {
        first?.cancel()
        first = nil
        report.failures.append(
            .endpoint(place: request.place, message: "not requested, because another request of the group failed"))
    }

    /// Runs at the end of the transaction of a group, with the pages of each list. If it throws,
    /// nothing is stored.
    typealias AtCommit = @Sendable ([[PageListing]], ImportReport, inout StoreWriter) throws -> Void

    /// Commits the held batches of scans that share one importer, as one change.
    ///
    /// - Parameter atCommit: runs unless the group has no response at all.
    /// - Returns: false if nothing was committed because of a void 304: the group has to be
    ///   requested again.
    static func commitHeld(_ scans: inout [EndpointScan], atCommit: AtCommit? = nil) async -> Bool {
        guard let first = scans.indices.first else { return true }
        let held = scans.map(\.batch)
        for index in scans.indices.dropFirst() {
            scans[first].batch.append(scans[index].batch)
            scans[index].batch = Batch()
        }
        scans[first].holdsCommits = false
        let pipeline = scans[first].pipeline
        var hooks = mergeHooks(of: scans)
        if let atCommit {
            let own = hooks.afterMerge, lists = zip(scans, held).map { $0.listings(of: $1) }
            hooks.afterMerge = { report, writer in
                try own?(report, &writer)
                try atCommit(lists, report, &writer)
            }
        }
        pipeline.configure { $0.hooks = hooks }
        defer { pipeline.configure { $0.hooks = ImportHooks() } }
        let before = scans[first].report, measured = scans[first].measured
        await scans[first].end()
        guard scans[first].overtaken.isEmpty else { return false }
        guard scans[first].report.failures.isEmpty else { return true }
        // Each scan counts its own pages.
        (scans[first].report.pages, scans[first].report.listed, scans[first].report.skipped) = (
            before.pages, before.listed, before.skipped
        )
        (scans[first].report.notModified, scans[first].report.confirmedEntities) = (
            before.notModified, before.confirmedEntities
        )
        scans[first].measured = measured
        for (index, batch) in zip(scans.indices, held) {
            for page in batch.pages { scans[index].count(page) }
        }
        return true
    }

    /// The pages of a held batch, in their order.
    private func listings(of held: Batch) -> [PageListing] {
        var pages = held.pages.map { page in
            PageListing(records: page.entry.listing.listed, skipped: page.entry.listing.skipped)
        }
        guard let last = pages.indices.last else { return pages }
        if report.cutOff > 0 { pages[last].isCutOff = true }
        // The caller's rules may end the list in doubt, too.
        pages[last].doubt = report.doubts.keys.first { if case .cappedTotal = $0 { true } else { false } }
        return pages
    }

    /// The hooks for the common merge of all scans: those of each endpoint once, then those of
    /// requests.
    private static func mergeHooks(of scans: [EndpointScan]) -> ImportHooks {
        var names: Set<String> = [], all = ImportHooks()
        for scan in scans where names.insert(scan.endpoint.name).inserted {
            if let own = scan.hooks.afterDraft {
                let before = all.afterDraft
                all.afterDraft = { draft in (before?(&draft) ?? true) && own(&draft) }
            }
            if let own = scan.hooks.afterMerge {
                let before = all.afterMerge
                all.afterMerge = { report, writer in
                    try before?(report, &writer)
                    try own(report, &writer)
                }
            }
        }
        for scan in scans { all.afterDraft = scan.requestHooks.following(all).afterDraft }
        return all
    }
}
