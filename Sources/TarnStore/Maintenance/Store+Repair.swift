// The repair of derived data: indexes, tables of responses, counters. All in one transaction.

internal import LMDB

extension Store {
    /// An option of a repair.
    package enum RepairOption: Sendable, Hashable, CaseIterable {
        /// Reports the changes without making them.
        case dryRun
        /// Removes unreadable rows, and the responses that list them: the next sync restores them.
        ///
        /// Without this option they stay, and cannot be read or written. Their index entries stay,
        /// too: a query that meets such a row fails, instead of leaving it out.
        case removesDamagedRows
    }

    /// Rebuilds indexes, tables of responses and counters that contradict rows and responses.
    ///
    /// The repair is one transaction: readers see the previous state, and writers wait. An
    /// interrupted repair changes nothing. The pages must be intact: for a file with damaged pages,
    /// `tarn inspect salvage` creates a new store. Make a copy first (``backup(to:isCompacted:)``);
    /// the command does.
    ///
    /// Duplicate values in a unique index cannot be repaired; `tarn inspect verify` names them.
    ///
    /// - Parameter options: whether to make the changes, and to remove damaged rows.
    /// - Returns: the changes that were made, or would be made.
    /// - Throws: `StoreWriteError.storeFull` if the quota leaves no space; errors of `write`.
    ///   Nothing is changed then.
    @discardableResult
    package func repair(_ options: Set<RepairOption> = []) throws -> RepairReport {
        struct Undone: Error {}
        var report = RepairReport()
        do {
            try inWriteTransaction { transaction, state in
                let context = state.takeContext()
                defer { state.give(back: context) }
                var repair = Repair(
                    StoreAccess(transaction.raw, state, context), removesRows: options.contains(.removesDamagedRows))
                try repair.run()
                report = repair.report
                if options.contains(.dryRun) || report.isEmpty { throw Undone() }
                try transaction.raw.advanceGeneration(state.meta)
            }
            try reload()
        } catch is Undone {}
        return report
    }
}
