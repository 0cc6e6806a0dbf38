// The commits of a scan: a batch of pages is one change.

import Locking
import TarnImport
import TarnStore

extension EndpointScan {
    /// The maximum number of pages, and of the bytes of their bodies, that wait for a commit.
    private static let mostShared = (pages: 256, bytes: 1 << 20)
    /// The size of the bodies above which a batch is committed before its unit is complete.
    private static let largeBatch = 12 << 20
    /// The time for which the first of them waits.
    private static let longestWait = Duration.milliseconds(5)

    /// Whether pages that arrive shortly after one another, or during a commit, are committed
    /// together.
    ///
    /// A page with few records costs little beyond its commit. The pages of one list are apart if
    /// the mapping depends on what else is in a unit.
    var sharesCommits: Bool {
        width > 1 && unit == .pages(1) && options.hooks == nil && options.prefetches && !holdsCommits
            && (endpoint.hasSeveralLists || !importer.dependsOnUnits)
    }

    /// Commits the batch if it is complete, or if it would only wait.
    func commitIfDue() async throws {
        guard case .pages(let limit) = unit else { return }
        let most = EndpointScan.mostShared
        let isDue =
            sharesCommits
            ? isSharedDue || batch.pages.count >= most.pages || batch.byteCount >= most.bytes
            : batch.pages.count >= limit || isEnoughAlready
        if isDue { try await flush() }
    }

    /// Whether a batch is committed before it has all pages of its unit.
    ///
    /// A first one that has the rows for a dictionary: all later rows are compressed with it. And a
    /// large one: it is written while the following pages are fetched and drafted.
    private var isEnoughAlready: Bool {
        guard !holdsCommits, !importer.dependsOnUnits, importer.hooks.isEmpty else { return false }
        if hasRowsToTrain(batch) { return true }
        return batch.byteCount >= EndpointScan.largeBatch && (underWay == nil || pipeline.hasEnded)
    }

    private func hasRowsToTrain(_ batch: Batch) -> Bool { rowsToTrain.map { batch.records >= $0 } ?? false }

    /// Whether pages have waited long enough for others, and no commit is in progress.
    ///
    /// If they have not, the scan is woken when they have.
    var isSharedDue: Bool {
        guard underWay == nil, !batch.isEmpty else { return false }
        let now = ContinuousClock.now
        guard let began = batchBegan else {
            batchBegan = now
            Task { [arrivals] in
                try? await Task.sleep(for: EndpointScan.longestWait)
                arrivals.signal()
            }
            return false
        }
        return now - began >= EndpointScan.longestWait
    }

    /// Commits the rest of the batch, and waits for the commit.
    func end() async {
        do {
            try await flush()
            try await settle()
        } catch is RevalidationConflict {
            // The pages are requested again: see `overtaken`.
        } catch {
            report.failures.append(MirrorError(error, url: shownURL, place: request.place))
        }
    }

    /// Discards the pages that are not committed, with their drafts.
    func discard() {
        pipeline.discard()
        batch = Batch()
        batchBegan = nil
    }

    /// Begins to commit the batch as one change.
    ///
    /// Waits for the previous commit and, without prefetching, also for this one.
    func flush() async throws {
        guard !batch.isEmpty, !holdsCommits else { return }
        try await settle()
        await client.pause()
        let others: OtherMirrors?
        do {
            others = try batch.pages.contains(where: \.isImported) ? otherMirrors() : nil
        } catch {
            // It is not handed over, and must not count as committed: what it lists is not noted.
            discard()
            throw error
        }
        if let pending = syncRun?.pending, batch.checkpoints[ExactText(pending.name)] == nil {
            batch.add(pending.checkpoint, pending.name, of: nil)
        }
        let done = batch
        if hasRowsToTrain(done) { rowsToTrain = nil }
        batch = Batch()
        batchBegan = nil
        underWay = done
        importer.unit = done.unit(client, others, forgotten: forgottenEndpoints)
        // Responses of other mappings, if there are any, may list any record that the unit changes.
        importer.keyLimit = others?.isEmpty ?? true ? client.options.keyLimit : .max
        await pipeline.start(to: client.store, trains: done.pages.contains(where: \.isImported))
        // Without prefetching, the next page is requested only after the previous commit.
        if !options.prefetches { try await settle() }
    }

    /// Waits for the commit under way, then looks for the orphans of the scans it has completed.
    ///
    /// Those of several lists wait for the last list.
    func settle() async throws {
        guard let done = underWay else { return }
        underWay = nil
        await client.pause()
        do {
            // A cancellation keeps pages that were handed over. A scan that is one change may take
            // long, and is rolled back.
            if var imported = try await pipeline.finish(isCancellable: unit == .scan) {
                imported.limitKeys(to: client.options.keyLimit)
                report.report.add(imported)
                log(imported, of: done)
            }
        } catch {
            if let conflict = error as? RevalidationConflict {
                overtakenRequests.formUnion(conflict.requests)
                overtaken.formUnion(done.targets.union(batch.targets))
                if let current { overtaken.insert(current.index) }
            }
            forgottenEndpoints.withLock { $0 = [] }
            // Later pages are not stored either: a resumed scan would skip the missing ones.
            batch = Batch()
            batchBegan = nil
            throw error
        }
        if let failure = pipeline.trainingFailure {
            report.failures.append(MirrorError(failure, url: shownURL, place: request.place))
        }
        if !options.isDryRun { syncRun?.committed(done.checkpoints) }
        for page in done.pages { count(page) }
        if options.isDryRun { return }
        if endpoint.hasSeveralLists {
            heldOrphans += done.completed
        } else {
            for scan in done.completed { try await lookForOrphans(scan) }
        }
    }
}

extension EndpointScan {
    /// The committed responses of mirrors with other mappings; nil if they are not looked for: only
    /// a sync of the description does so.
    private func otherMirrors() throws -> OtherMirrors? {
        options.isDryRun || !isOfDescription ? nil : try syncRun?.otherMirrors(client)
    }

    /// Logs the import of a batch. Pages answered with 304 are no imports.
    private func log(_ report: ImportReport, of batch: Batch) {
        guard client.logsImports, let first = batch.pages.first(where: \.isImported) else { return }
        var log = ImportLog(first.entry.request, pages: 0, bytes: 0, duration: pipeline.commitDuration)
        for page in batch.pages where page.isImported {
            log.pages += 1
            log.bytes += page.byteCount
            log.duration += page.drafting
            log.add(endpointOf: page.entry.request)
        }
        client.log(report, log)
    }
}

extension Batch {
    /// The parts of the batch's unit besides the records, which the importer has.
    ///
    /// - Parameters:
    ///   - others: the committed responses of mirrors with other mappings; nil if they are not
    ///     looked for.
    ///   - forgotten: takes the names of endpoints without a declaration whose lists are forgotten.
    fileprivate func unit(
        _ client: APIClient, _ others: OtherMirrors?, forgotten: Guarded<Set<String>>
    ) -> ImportUnit {
        let pages = pages
        let imported = pages.filter(\.isImported), severalVariants = Batch.severalVariants(imported)
        var unit = ImportUnit(responses: imported.map(\.entry), checkpoints: checkpoints)
        unit.outboxRevision = imported.compactMap(\.outboxRevision).min()
        unit.requestedAfter = imported.compactMap(\.requestedAfter).min()
        unit.revalidated = pages.compactMap { page in
            page.asked.map { RevalidatedResponse(asked: $0, entry: page.entry) }
        }
        unit.additions = { report, writer in
            // A record that was left out for now is listed all the same: it is no orphan once it
            // is stored.
            let dropped = Set(report.dropped).subtracting(report.leftOut)
            for page in pages {
                guard let members = page.members else { continue }
                try writer.noteListed(
                    page.entry.listing.listed.filter { !dropped.contains($0) }, of: members,
                    scan: page.entry.listing.scan)
            }
            for page in imported {
                guard let base = page.base else { continue }
                if page.isOutdated, let id = try writer.access.responses.view(page.entry.request.digest)?.id {
                    try writer.removeResponse(id: id)
                }
                let scan = try writer.access.responses.view(base.digest)?.scan
                try writer.responses.remove(relistedBy: page.entry, sparing: scan)
            }
            func isDeclared(_ name: Substring) -> Bool { client.description.endpoints.contains { $0.name == name } }
            var gone: Set<String> = []
            let varying = imported.filter { report.updated > 0 || severalVariants.contains($0.entry.request.url) }
            try writer.responses.outdateVariants(of: varying.map(\.entry))
            for page in imported {
                // Those of other endpoints are outdated if the unit has changed their records.
                let removed = try writer.responses.remove(ofOtherMappingsThan: page.entry.request) {
                    others != nil || isDeclared($0)
                }
                gone.formUnion(removed)
            }
            if let others {
                let names = try writer.outdateResponses(ofCommitted: others, changedBy: report)
                gone.formUnion(names.filter { !isDeclared($0[...]) })
            }
            for name in gone {
                for page in imported { try page.forgetList(of: name, &writer) }
                if forgotten.withLock({ $0.insert(name).inserted }) { try writer.forgetLists(of: name) }
            }
            try writer.responses.removeValidatorsOfCrossed(sparing: Set(imported.map(\.entry.listing.identity)))
            try client.saveBudgets(&writer)
        }
        return unit
    }

    /// The URLs to which several of the pages are responses, with other header fields or hooks: the
    /// store has the values of one of them.
    private static func severalVariants(_ pages: [Page]) -> Set<String> {
        var first: [String: [String?]] = [:], several: Set<String> = []
        for page in pages {
            let url = page.entry.request.url, variant = [page.entry.valueVariant, page.entry.request.variant]
            if let known = first[url], known != variant { several.insert(url) }
            first[url] = variant
        }
        return several
    }
}
