// Parents of a `for_each` whose walks have failed, while the others go on.

import TarnStore

/// Failures of single parents, counted by kind.
struct PassedByParents {
    private var kinds: [(kind: String, count: Int, first: String)] = []
    /// Parents in a row for which the server itself seems to fail, without those for which it did
    /// so in an earlier sync.
    private var inARow = 0

    /// So many of them end the endpoint: the server is ill, and not the parents.
    private static let most = 5

    /// Adds the failure of the current parent.
    ///
    /// - Parameter wasKnown: whether an earlier sync has failed alike for this parent.
    /// - Returns: whether the endpoint ends here.
    mutating func add(_ error: MirrorError, wasKnown: Bool) -> Bool {
        if error.isServers, !wasKnown { inARow += 1 } else if !error.isServers { inARow = 0 }
        guard inARow < PassedByParents.most else { return true }
        add(Checkpoint.Failure(kind: error.kind, text: error.description))
        return false
    }

    /// Adds a failure that the interrupted sync has noted.
    mutating func add(_ failure: Checkpoint.Failure) {
        if let index = kinds.firstIndex(where: { $0.kind == failure.kind }) {
            kinds[index].count += 1
        } else {
            kinds.append((failure.kind, 1, failure.text))
        }
    }

    /// Takes back the failure that was added last.
    mutating func removeLast(_ error: MirrorError) {
        guard let index = kinds.firstIndex(where: { $0.kind == error.kind }) else { return }
        kinds[index].count -= 1
        if kinds[index].count == 0 { kinds.remove(at: index) }
    }

    /// Notes that the walk for a parent has come to its end.
    mutating func succeeded() { inARow = 0 }

    /// One failure for each kind, in the order in which the kinds were met.
    func failures(of entity: String) -> [MirrorError] {
        kinds.map { .parents(entity: entity, count: $0.count, first: $0.first) }
    }
}
