// The commit of a unit as one change: records, the entries of their responses, and checkpoints.

import Synchronization
public import TarnStore

extension Importer {
    /// Merges the current unit into the store, with the entries of its responses and checkpoints.
    ///
    /// The caller defines a unit: one response, a page, a batch of pages or of several requests.
    /// All documents are added first and then committed by one call: the store has all of them or
    /// none. A record that is not stored, because it has unique values of another record, is
    /// removed from the entries.
    ///
    /// - Parameters:
    ///   - responses: the entries of the responses that were added.
    ///   - revalidated: the responses that a 304 confirms. Each applies only if the stored entry
    ///     still is the one whose validators the request carried.
    ///   - checkpoints: the progress of scans, by name.
    /// - Throws: ``RevalidationConflict`` if a stored entry has changed; nothing is written then.
    ///   `StoreError`: the transaction must not be committed then. The unit is kept: ``discard()``
    ///   it, or commit it in another transaction.
    package func commit(
        into writer: inout StoreWriter, responses: [ResponseEntry], revalidated: [RevalidatedResponse] = [],
        checkpoints: [String: Checkpoint] = [:]
    ) throws -> ImportReport {
        // Before the records: deletions of this unit also invalidate the entries that list them.
        let overtaken = try revalidated.filter { try !writer.isCurrent($0) }
        guard overtaken.isEmpty else { throw RevalidationConflict(requests: overtaken.map(\.entry.request)) }
        for response in revalidated { try writer.putResponse(response.entry) }
        for entry in responses { try writer.putResponse(entry) }
        let report = try commit(into: &writer)
        let dropped = Set(report.dropped)
        for var entry in responses where !dropped.isEmpty && entry.listing.listed.contains(where: dropped.contains) {
            guard try writer.access.responses.entry(of: entry.request) != nil else { continue }
            entry.listing.listed.removeAll { dropped.contains($0) }
            try writer.putResponse(entry)
        }
        for (name, checkpoint) in checkpoints.sorted(by: { $0.key < $1.key }) {
            try writer.setCheckpoint(name, checkpoint)
        }
        return report
    }

    /// Commits the unit in a transaction of its own, and begins a new unit. Suspends the task.
    ///
    /// If the task is cancelled before the commit, even during the merge, the store has nothing of
    /// the unit.
    ///
    /// - Parameter additions: writes further parts of the unit, in its transaction, after the
    ///   merge.
    /// - Throws: `CancellationError`, `StoreError`, and the errors of hooks and of the closure. The
    ///   store then has nothing of the unit, and the unit is discarded.
    public nonisolated(nonsending) func commit(
        to store: Store, and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) async throws -> ImportReport {
        try await commit(to: store, responses: [], and: additions)
    }

    /// Commits the unit with the entries of its responses and its checkpoints.
    ///
    ///     for page in pages {
    ///         let added = try importer.add(page.body, entity: "Issue")
    ///         entries.append(page.entry(listing: added))
    ///     }
    ///     let report = try await importer.commit(
    ///         to: store, responses: entries, checkpoints: ["issues": progress])
    ///
    /// - Throws: the errors of ``commit(to:and:)``, and ``RevalidationConflict``.
    package nonisolated(nonsending) func commit(
        to store: Store, responses: [ResponseEntry], revalidated: [RevalidatedResponse] = [],
        checkpoints: [String: Checkpoint] = [:],
        and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) async throws -> ImportReport {
        let cancellation = Cancellation()
        // The importer belongs to the caller, which is suspended until the write returns.
        nonisolated(unsafe) let importer = self
        importer.cancellation = cancellation
        defer { importer.cancellation = nil }
        do {
            return try await withTaskCancellationHandler {
                try Task.checkCancellation()
                return try await store.write(alone: true) { writer in
                    try importer.commit(
                        into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints,
                        unless: cancellation,
                        and: additions)
                }
            } onCancel: {
                cancellation.cancel()
            }
        } catch {
            discard()
            throw error
        }
    }
}

extension Importer {
    /// Merges a unit and the additions, unless the waiting task is cancelled.
    func commit(
        into writer: inout StoreWriter, responses: [ResponseEntry], revalidated: [RevalidatedResponse],
        checkpoints: [String: Checkpoint],
        unless cancellation: Cancellation, and additions: ((ImportReport, inout StoreWriter) throws -> Void)?
    ) throws -> ImportReport {
        try cancellation.check()
        let report = try commit(into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints)
        try additions?(report, &writer)
        // The last moment before the commit.
        try cancellation.check()
        return report
    }
}

extension StoreWriter {
    /// Returns whether the stored entry still is the one whose validators the request carried.
    fileprivate func isCurrent(_ response: RevalidatedResponse) throws -> Bool {
        try access.responses.entry(of: response.entry.request)?.isUnchanged(since: response.asked) ?? false
    }
}
