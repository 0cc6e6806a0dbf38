/// The writes of one transaction, and how far they have run.
///
/// A child transaction for each write undoes a failing one alone. It costs copies of all pages that
/// the write changes, mostly more than the write itself. A write whose closure may run again needs
/// none as long as only such writes have run: if it fails, the transaction is undone, and all of
/// them run again, each in a child.
struct WriteGroup {
    /// Signals that a write failed that ran without a child transaction.
    struct Undone: Error {}

    /// The writes, in the order of the queue.
    private var writes: [any PendingWrite]
    /// The errors of the writes that have run.
    private var failures: [(any Error)?] = []
    private(set) var usesChildren = false
    /// The number of changes, and of writes that changed something.
    private(set) var changes = 0, commits = 0
    var isFreeing = false
    /// Whether observers have to be notified.
    var isObservable = false

    init(_ first: any PendingWrite) { writes = [first] }

    var size: Int { writes.count }

    /// The write to run next; nil if all have run.
    var next: (any PendingWrite)? { failures.count < writes.count ? writes[failures.count] : nil }

    mutating func add(_ write: any PendingWrite) { writes.append(write) }

    /// Whether the next write may run without a child transaction.
    mutating func mayRunDirectly(_ write: any PendingWrite) -> Bool {
        if !write.isRepeatable { usesChildren = true }
        return !usesChildren
    }

    /// Notes that the next write has run.
    ///
    /// - Parameter changes: the number of its changes.
    mutating func count(_ changes: Int) {
        failures.append(nil)
        self.changes += changes
        if changes > 0 { commits += 1 }
    }

    /// Notes that the next write has failed.
    mutating func fail(_ error: any Error) { failures.append(error) }

    /// Returns to the state before the first write, after which every write needs a child.
    mutating func undo() {
        failures = []
        usesChildren = true
        (changes, commits) = (0, 0)
        (isFreeing, isObservable) = (false, false)
    }

    /// The writes with their errors.
    ///
    /// - Parameter error: the error of all writes that have none of their own.
    func finished(unless error: (any Error)? = nil) -> [FinishedWrite] {
        writes.enumerated().map { index, write in
            (write, (index < failures.count ? failures[index] : nil) ?? error)
        }
    }
}
