// Group commit: a commit costs two flushes of the disk, so small writes share one.

internal import LMDB

/// A write that has run, and its error if it failed.
typealias FinishedWrite = (write: any PendingWrite, failure: (any Error)?)

extension Store {
    /// Commits a write together with queued writes that may share its transaction.
    /// Called on the writer thread only.
    ///
    /// - Returns: The finished writes. Their results must be delivered by code that does not retain
    ///   the store: a caller that gets its result may release the last reference, and expects the
    ///   store to close.
    func commit(startingWith first: any PendingWrite, from queue: WriteQueue) -> [FinishedWrite] {
        if first.isAlone { return [commitAlone(first)] }
        if queue.lastGroup.count > 1 {
            queue.await(queue.lastGroup.count - 1, atMost: min(queue.lastGroup.time / 4, GroupLimit.patience))
        }
        let start = ContinuousClock.now
        let finished = queue.hasCompanion ? commitGroup(first, queue) : [commitAlone(first)]
        queue.lastGroup = (finished.count, ContinuousClock.now - start)
        return finished
    }

    private func commitAlone(_ write: any PendingWrite) -> FinishedWrite {
        var isFreeing = false, changes = 0, isObservable = false
        do {
            try inWriteTransaction { transaction, current in
                changes = try run(write, in: &transaction, current, &isObservable)
                try settleChanges(changes, commits: 1, in: &transaction, current)
                isFreeing = transaction.isFreeingNearLimit
            }
        } catch {
            settle(after: [error], isFreeing: false)
            return (write, error)
        }
        settle(after: [], isFreeing: isFreeing)
        if isObservable { wake.touch() }
        return (write, nil)
    }

    /// Runs the closures so that a failing one is rolled back alone: see `WriteGroup`.
    /// If the commit fails, all writes fail.
    private func commitGroup(_ first: any PendingWrite, _ queue: WriteQueue) -> [FinishedWrite] {
        var group = WriteGroup(first)
        do {
            do {
                try commit(&group, queue)
            } catch let error where error is WriteGroup.Undone || Store.isFull(error) && !group.usesChildren {
                // A full store may be noticed only at the end, with the last write's index entries.
                group.undo()
                try commit(&group, queue)
            }
        } catch {
            // Nothing was committed.
            return group.finished(unless: error)
        }
        let finished = group.finished()
        settle(after: finished.compactMap(\.failure), isFreeing: group.isFreeing)
        if group.isObservable { wake.touch() }
        return finished
    }

    private static func isFull(_ error: any Error) -> Bool {
        if case StoreWriteError.storeFull = error { true } else { false }
    }

    /// Runs the writes of a group, and those that are queued meanwhile, in one transaction.
    ///
    /// - Throws: `WriteGroup.Undone` if the transaction was undone, because a write failed that ran
    ///   without a child transaction.
    private func commit(_ group: inout WriteGroup, _ queue: WriteQueue) throws {
        try inWriteTransaction { transaction, current in
            let end = ContinuousClock.now + GroupLimit.time
            while let write = group.next {
                if group.mayRunDirectly(write) {
                    let changes = try runDirectly(write, in: &transaction, current, &group.isObservable)
                    group.count(changes)
                } else {
                    runAsChild(write, in: &transaction, current, &group)
                }
                guard group.size < GroupLimit.writes, ContinuousClock.now < end else { continue }
                if group.next == nil, let companion = queue.takeCompanion() { group.add(companion) }
            }
            group.isFreeing = group.isFreeing || transaction.isFreeingNearLimit
            try settleChanges(group.changes, commits: group.commits, in: &transaction, current)
        }
    }

    private func runDirectly(
        _ write: any PendingWrite, in transaction: inout WriteTransaction, _ current: StoreState,
        _ isObservable: inout Bool
    ) throws(WriteGroup.Undone) -> Int {
        do { return try run(write, in: &transaction, current, &isObservable) } catch { throw WriteGroup.Undone() }
    }

    private func runAsChild(
        _ write: any PendingWrite, in transaction: inout WriteTransaction, _ current: StoreState,
        _ group: inout WriteGroup
    ) {
        do {
            let count = try mappingErrors {
                try transaction.child { child in
                    let count = try run(write, in: &child, current, &group.isObservable)
                    group.isFreeing = group.isFreeing || child.isFreeingNearLimit
                    return count
                }
            }
            group.count(count)
        } catch {
            group.fail(error)
        }
    }

    /// Runs the closure of a write.
    ///
    /// - Parameter isObservable: Set if observers have to be notified: of a change of a record, of
    ///   a response's list, or of the outbox.
    /// - Returns: The number of changes.
    private func run(
        _ write: any PendingWrite, in transaction: inout WriteTransaction, _ current: StoreState,
        _ isObservable: inout Bool
    ) throws -> Int {
        let context = current.takeContext()
        defer { current.give(back: context) }
        var writer = try StoreWriter(StoreAccess(transaction.raw, current, context))
        try write.run(&writer)
        // The next closure needs the indexes and the sequence of this one.
        let count = try writer.finish()
        isObservable = isObservable || count > 0 || writer.responses.hasNewList || writer.operations.isChanged
        return count
    }

    private func settle(after failures: [any Error], isFreeing: Bool) {
        let isFull = failures.contains(where: Store.isFull)
        if isFull || isFreeing { settleFreedPages(always: isFull) }
    }
}
