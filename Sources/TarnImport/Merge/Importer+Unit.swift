// A unit with all that belongs to it: records, the entries of the responses that they came in, and how far a walk has come, as one
// change.

import Synchronization
public import TarnStore

extension Importer {
    /// Merges what was added since the last commit into the store, together with the entries of its responses and with progress.
    ///
    /// What makes a unit is the caller's choice: one response, a page, a batch of pages or of several requests. Everything is added first,
    /// and then committed once, by this: all of it is in the store afterwards, or nothing. Records that were not stored, since they have
    /// unique values of another one, are taken out of the entries.
    ///
    /// - Parameters:
    ///   - responses: the entries of the responses that were added.
    ///   - revalidated: responses that were confirmed by a 304 and add nothing. Each counts only if the stored entry still is the one that
    ///     the request was sent with.
    ///   - checkpoints: progress by name.
    /// - Throws: ``RevalidationConflict`` if a stored entry is another one by now; nothing is written then. `StoreError`; then the transaction must not be committed, and what was added is still there: ``discard()`` it, or
    ///   commit it in another transaction.
    public func commit(
        into writer: inout StoreWriter, responses: [ResponseEntry], revalidated: [RevalidatedResponse] = [],
        checkpoints: [String: Checkpoint] = [:]
    ) throws -> ImportReport {
        // Before the records: what this unit deletes takes the entries that list it along.
        let overtaken = try revalidated.filter { try !writer.isCurrent($0) }
        guard overtaken.isEmpty else { throw RevalidationConflict(requests: overtaken.map(\.entry.request)) }
        for response in revalidated { try writer.putResponse(response.entry) }
        for entry in responses { try writer.putResponse(entry) }
        let report = try commit(into: &writer)
        let dropped = Set(report.dropped)
        for var entry in responses where !dropped.isEmpty && entry.listed.contains(where: dropped.contains) {
            guard try writer.access.response(to: entry.request) != nil else { continue }
            entry.listed.removeAll { dropped.contains($0) }
            try writer.putResponse(entry)
        }
        for (name, checkpoint) in checkpoints.sorted(by: { $0.key < $1.key }) { try writer.setCheckpoint(name, checkpoint) }
        return report
    }

    /// Commits a unit to a store, in a transaction of its own, and begins a new one. The calling task is suspended meanwhile.
    ///
    ///     for page in pages {
    ///         let added = try importer.add(page.body, entity: "Issue")
    ///         entries.append(page.entry(listing: added))
    ///     }
    ///     let report = try await importer.commit(to: store, responses: entries, checkpoints: ["issues": progress])
    ///
    /// If the task is cancelled before the commit, also while records are merged, nothing of the unit is in the store.
    ///
    /// - Parameter additions: what else belongs to the unit; called in its transaction, when everything is merged.
    /// - Throws: `CancellationError`, `StoreError`, ``RevalidationConflict``, and what a hook or the closure throws. Then nothing is in the store, and what was added is
    ///   discarded.
    public nonisolated(nonsending) func commit(
        to store: Store, responses: [ResponseEntry] = [], revalidated: [RevalidatedResponse] = [],
        checkpoints: [String: Checkpoint] = [:], and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) async throws -> ImportReport {
        let cancellation = Cancellation()
        // It belongs to the caller, who does nothing else with it until the write has returned.
        nonisolated(unsafe) let importer = self
        importer.cancellation = cancellation
        defer { importer.cancellation = nil }
        do {
            return try await withTaskCancellationHandler {
                try Task.checkCancellation()
                return try await store.write(alone: true) { writer in
                    try importer.commit(
                        into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints, unless: cancellation,
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
    /// Merges a unit, with what else belongs to it, unless somebody has given up waiting for it.
    func commit(
        into writer: inout StoreWriter, responses: [ResponseEntry], revalidated: [RevalidatedResponse], checkpoints: [String: Checkpoint],
        unless cancellation: Cancellation, and additions: ((ImportReport, inout StoreWriter) throws -> Void)?
    ) throws -> ImportReport {
        try cancellation.check()
        let report = try commit(into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints)
        try additions?(report, &writer)
        // The last moment at which nothing has happened.
        try cancellation.check()
        return report
    }
}

extension StoreWriter {
    /// Whether the stored entry still is the one that the conditional request was sent with.
    fileprivate func isCurrent(_ response: RevalidatedResponse) throws -> Bool {
        try access.response(to: response.entry.request)?.isUnchanged(since: response.asked) ?? false
    }
}
