// The commit of a unit as one change: records, the entries of their responses, and checkpoints.

public import TarnStore

extension Importer {
    /// Merges the current unit into the store, as one change, and begins a new one.
    ///
    /// The caller defines a unit: one response, a page, a batch of pages or of several requests.
    /// All documents are added first and then committed by one call: the store has all of them or
    /// none. Unchanged rows are not written.
    ///
    /// - Throws: `ImportError.recordWithoutKey` if the unit has failed with it, until
    ///   ``discard()``. `StoreFailure`: the transaction must not be committed then; ``discard()``
    ///   the unit, or commit it in another transaction. `StoreWriteError.notUnique` if
    ///   ``isStrict``. An error if the importer has the catalog of another store, in which entities
    ///   or fields have other ids. The errors of ``ImportHooks/afterMerge``: the unit is discarded
    ///   then.
    public func commit(into writer: inout StoreWriter) throws -> ImportReport {
        if let failure = drafter.failure { throw concealed(failure) }
        try cancellation?.check()
        // Ids of another store would be those of other entities and fields.
        if let entity = writer.access.catalog.misreadEntity(of: catalog) {
            throw OtherCatalogError(entity: entity)
        }
        try unit.checkRevalidated(writer)
        // Another unit of the transaction, or the caller, may have written the same records.
        writer.forgetRecords()
        let repeated = try checkRepeated(writer)
        // The merge discards the drafts, and the rest of the unit with them.
        var unit = unit
        let kept = kept, concealers = concealers
        (overtaken, overtakenCount) = (try unit.overtaken ?? overtakenRecords(writer), 0)
        defer { overtaken = [] }
        let areOvertaken = !overtaken.isEmpty
        if areOvertaken { outdateResponses(of: &unit) }
        let canRecognize = try canRecognizeDrafts && !areOvertaken && !writer.access.localChanges.hasMarks
        // Before the records: their deletions also invalidate the entries that list them.
        if !canRecognize { try unit.putResponses(&writer, importedAt: nil) }
        if let mappingDigest {
            try writer.responses.beginCollecting(butOf: mappingDigest, withMirrors: collectsMirrors)
        }
        writer.responses.requestedAfter = unit.requestedAfter
        writer.watched = repeated
        defer { writer.watched = nil }
        var report = try merge(&writer), areContradictory = false
        if let repeated {
            if repeated.areChanged {
                // The drafts have changed what an earlier or later body of the unit has, too.
                writer.watched = nil
                self.concealers = concealers
                try draftAgain(kept)
                areContradictory = !canRecognizeDrafts
                report = try merge(&writer).following(report)
            } else {
                report.add(unchanged: repeated.counts, catalog)
            }
        }
        if let mappingDigest {
            try writer.responses.outdateCollected(butOf: mappingDigest, withMirrors: collectsMirrors)
        }
        if canRecognize {
            let isClean =
                !areContradictory && report.diagnosticCount == 0 && report.skipped == 0 && report.dropped.isEmpty
            try unit.putResponses(&writer, importedAt: isClean ? writer.changedSequence : nil)
        }
        try unit.correctResponses(
            dropped: Set(report.dropped), leftOut: report.leftOut, restored: report.restored, &writer)
        try unit.putCheckpoints(isIncomplete: overtakenCount > 0 || !report.leftOut.isEmpty, &writer)
        try unit.additions?(report, &writer)
        // The last moment before the commit.
        try cancellation?.check()
        return report
    }

    /// Makes the responses of a unit stale, which may lack a change that has reached the server.
    ///
    /// The records of a response that lists none of the changed ones are imported: their writes are
    /// based on its version.
    private func outdateResponses(of unit: inout ImportUnit) {
        for index in unit.responses.indices {
            let isChanged = unit.responses[index].listing.listed.contains(where: overtaken.contains)
            unit.responses[index].validation.outdate(keepingVersion: !isChanged)
        }
    }

    /// The records of the mapping whose operations have reached the server after the unit's
    /// requests were sent.
    private func overtakenRecords(_ writer: borrowing StoreWriter) throws -> Set<ListedRecord> {
        guard let revision = unit.outboxRevision else { return [] }
        let settled = try writer.access.outbox.settledRecords(after: revision)
        guard !settled.isEmpty else { return [] }
        let roots = Set(plan.plans.map(\.entity.root))
        return settled.filter { roots.contains($0.entity) }
    }

    /// Commits the unit in a transaction of its own, and begins a new unit. Suspends the task.
    ///
    ///     for page in pages { _ = try importer.add(page.body, entity: "Issue") }
    ///     let report = try await importer.commit(to: store)
    ///
    /// If the task is cancelled before the commit, even during the merge, the store has nothing of
    /// the unit.
    ///
    /// - Throws: `CancellationError`, and the errors of ``commit(into:)``. The store then has
    ///   nothing of the unit, and the unit is discarded.
    public nonisolated(nonsending) func commit(to store: Store) async throws -> ImportReport {
        let cancellation = Cancellation()
        // The importer belongs to the caller, which is suspended until the write returns.
        nonisolated(unsafe) let importer = self
        importer.cancellation = cancellation
        defer { importer.cancellation = nil }
        do {
            return try await withTaskCancellationHandler {
                try Task.checkCancellation()
                return try await store.write(alone: true) { try importer.commit(into: &$0) }
            } onCancel: {
                cancellation.cancel()
            }
        } catch {
            discard()
            throw error
        }
    }
}
