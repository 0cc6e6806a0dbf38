// The lists of an endpoint that a sync with a limit scans: they take turns.

import TarnStore

extension EndpointScan {
    /// The queue of the lists whose turn it is; nil if the sync scans all lists.
    ///
    /// First those of an interrupted part of this sync, then those that an earlier limit has cut
    /// off, then those that no sync has requested, at last those of the earliest sync.
    func limitedQueue() throws -> ListQueue? {
        let count = parents.count
        guard count > options.mostLists, !options.isDryRun, let own = syncID else { return nil }
        let turns = try client.store.read { reader in
            try (0..<count).map { index in
                let name = checkpointName(of: parents.list(at: index, of: request))
                return ListTurn(index: index, try reader.checkpoint(name), in: own)
            }
        }
        return ListQueue(order: turns.sorted().prefix(options.mostLists).map(\.index))
    }
}

/// The turn of one list. Those of a failed list come round as those of a complete one do.
private struct ListTurn: Comparable {
    let index: Int
    private let rank: Int
    /// The id of the sync that has last requested the list; 0 if there is none.
    private let sync: UInt64

    /// - Parameter own: the id of the present sync.
    init(index: Int, _ list: Checkpoint?, in own: UInt64) {
        self.index = index
        let last = list?.sync ?? 0
        // A later id is from before ids had a time, or from when the clock was ahead.
        sync = last > own ? 0 : last
        let isCutOff = list.map { $0.state == .underWay && $0.pages > 0 && $0.nextURL != nil && $0.failure == nil }
        rank = last == own ? 0 : isCutOff ?? false ? 1 : 2
    }

    static func < (a: ListTurn, b: ListTurn) -> Bool { (a.rank, a.sync, a.index) < (b.rank, b.sync, b.index) }
}
