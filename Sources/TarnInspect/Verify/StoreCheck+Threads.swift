// The check of a large store on two threads: rows and indexes beside responses and changes.

import Synchronization

/// The number of pages that a second thread has read.
final class PageCounter: Sendable {
    private let count = Atomic(0)

    var pages: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }
}

extension StoreCheck {
    /// Whether the check can be made by two threads: nothing was found when the file was opened.
    var canRunOnTwoThreads: Bool { findings.total == 0 && file.formatProblem == nil }

    /// Checks the store with two threads.
    ///
    /// Each reads the file on its own, so that neither waits for the other; what they have found
    /// is put together afterwards.
    ///
    /// - Parameter pages: A counter of the pages that the second thread reads.
    /// - Returns: Whether the store is sound. If not, the check must be run again on one thread,
    ///   with a reopened file: this one may have missed what concerns both threads.
    func runOnTwoThreads(counting pages: PageCounter) throws -> Bool {
        let other = StoreCheck(file.reopened { count, _ in pages.pages = count })
        other.comparedNames = max(1, comparedNames / 2)
        nonisolated(unsafe) var changes = ChangeScan(), isChecked = false
        try together {
            try checkRows()
            checkLists()
            try checkIndexes()
        } and: {
            try other.checkResponses()
            changes = other.scanChanges()
            isChecked = true
        }
        guard isChecked, isSound, other.isSound, take(other) else { return false }
        guard canCompare(changes) else { return false }
        if !isEveryRecordChangedOnce(changes) {
            let names = other.comparedNames, parts = 2 * max(1, (changes.count + 2 * names - 1) / (2 * names))
            isChecked = false
            try together {
                try compareChanges(changes, parts: stride(from: 0, to: parts, by: 2), of: parts)
            } and: { [changes] in
                try other.compareChanges(changes, parts: stride(from: 1, to: parts, by: 2), of: parts)
                isChecked = true
            }
            guard isChecked, isSound, other.isSound else { return false }
        }
        checkSmallTables()
        checkRest()
        return isSound
    }

    private var isSound: Bool { findings.total == 0 && notCompared.isEmpty }

    /// Adds the counts of another check of the same state.
    ///
    /// - Returns: False if both have reached the same page.
    private func take(_ other: StoreCheck) -> Bool {
        responseCount += other.responseCount
        changeCount += other.changeCount
        highestVersion = max(highestVersion, other.highestVersion)
        file.counts.add(other.file.counts)
        return file.scan.merge(other.file.scan, since: other.file.openedOwners)
    }

    /// Runs two closures at the same time, and returns after both; the second one on a thread of
    /// its own, where an error is dropped.
    ///
    /// - Throws: The first closure's error.
    private func together(_ first: () throws -> Void, and second: @escaping () throws -> Void) throws {
        let thread = SecondThread { try? second() }, progress = file.scan.progress
        defer { thread.join { progress?() } }
        try first()
    }
}
