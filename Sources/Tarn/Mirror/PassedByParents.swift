// Parents of a `for_each` whose scans have failed, while the other scans continue.

import TarnStore

/// Failures of single parents, counted by kind.
struct PassedByParents {
    private var kinds: [(kind: String, count: Int, first: String)] = []
    /// Parents in a row for which the server itself seems to fail.
    ///
    /// Parents that failed alike in an earlier sync are not counted.
    private var inARow = 0

    /// The number of such parents in a row that stops the endpoint: the server is the cause.
    private static let most = 5

    /// Adds the failure of the current parent.
    ///
    /// - Parameter wasKnown: whether the same kind of failure is known from an earlier sync.
    /// - Returns: whether the scan of the endpoint stops.
    mutating func add(_ error: MirrorError, wasKnown: Bool) -> Bool {
        if error.isServers, !wasKnown { inARow += 1 } else if !error.isServers { inARow = 0 }
        guard inARow < PassedByParents.most else { return true }
        add(Checkpoint.Failure(kind: error.kind, text: error.description))
        return false
    }

    /// Adds a failure that is stored in the checkpoint of the interrupted sync.
    mutating func add(_ failure: Checkpoint.Failure) {
        if let index = kinds.firstIndex(where: { $0.kind == failure.kind }) {
            kinds[index].count += 1
        } else {
            kinds.append((failure.kind, 1, failure.text))
        }
    }

    /// Removes the failure that was added last.
    mutating func removeLast(_ error: MirrorError) {
        guard let index = kinds.firstIndex(where: { $0.kind == error.kind }) else { return }
        kinds[index].count -= 1
        if kinds[index].count == 0 { kinds.remove(at: index) }
    }

    /// Records that the scan for a parent is complete.
    mutating func succeeded() { inARow = 0 }

    /// One failure for each kind, in the order in which the kinds first occurred.
    ///
    /// With partitions, several lists of one parent may have failed: lists are counted.
    func failures(of endpoint: Endpoint) -> [MirrorError] {
        let parent = endpoint.forEach?.entity, lists = endpoint.partitions.isEmpty ? parent : "list"
        return kinds.map { kind in
            .parents(
                entity: parent == nil ? "partition" : lists ?? "list", count: kind.count,
                first: kind.first + PassedByParents.wayOut(kind.kind, parent))
        }
    }

    /// The way out if the server has no list of a record that is stored.
    ///
    /// It may have deleted the record without a scan that would have found it as an orphan. The
    /// records of the list refer to it, and keep it.
    ///
    /// - Parameter entity: the entity of the parents; nil for partitions.
    private static func wayOut(_ kind: String, _ entity: String?) -> String {
        guard ["404", "410"].contains(kind), let entity else { return "" }
        return "; if the server has deleted the \(entity), declare orphans for the endpoint that lists it; if there is "
            + "none: tarn cache purge --prefix URL, with that of the list, then tarn cache collect --roots ENTITY,… without "
            + entity
    }
}
