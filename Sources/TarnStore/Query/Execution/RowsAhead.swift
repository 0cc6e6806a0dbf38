// Prefetching of the rows that an index refers to.

internal import LMDB

/// The next few records of a walk: their keys, and their rows, which are prefetched once located.
///
/// An index refers to rows all over the table, so nearly every row would be a cache miss, and so
/// would the branch pages that lead to it. Prefetching works only in a snapshot, where rows do not
/// move.
struct RowsAhead: ~Copyable {
    private struct Entry {
        let keyEnd: Int
        /// The row; nil until it is found.
        var row: Bytes?
    }

    private var keys = ByteWriter(capacity: 128)
    private var entries: [Entry] = []
    private var lookup: PageLookup
    /// The number of records wanted in total, and the number of them returned so far.
    private let wanted: Int
    var given = 0

    init(_ wanted: Int, _ lookup: PageLookup) {
        self.wanted = wanted
        self.lookup = lookup
        entries.reserveCapacity(PageLookup.most)
    }

    var count: Int { entries.count }

    /// Whether a batch is complete.
    ///
    /// A larger one would be wasted if all of its rows are in the result.
    var isFull: Bool { entries.count >= min(PageLookup.most, max(1, wanted - given)) }

    /// Appends a record of the walk.
    ///
    /// - Parameter row: the row's bytes; nil if it has to be located.
    mutating func append(_ key: Bytes, _ row: Bytes?) {
        keys.append(key)
        entries.append(Entry(keyEnd: keys.count, row: row))
    }

    /// Locates the rows that are not located yet, and prefetches all of them.
    ///
    /// - Returns: false if a row does not exist.
    mutating func find() throws(LMDBError) -> Bool {
        if let first = entries.firstIndex(where: { $0.row == nil }) {
            try withUnsafeTemporaryAllocation(of: Bytes.self, capacity: PageLookup.most) { wanted throws(LMDBError) in
                try withUnsafeTemporaryAllocation(of: Bytes?.self, capacity: PageLookup.most) {
                    rows throws(LMDBError) in
                    // A walk along rows has all of them; any other walk has none.
                    let count = entries.count - first
                    for index in 0..<count { wanted.initializeElement(at: index, to: key(first + index)) }
                    rows.initialize(repeating: nil)
                    try lookup.find(UnsafeBufferPointer(rebasing: wanted[..<count]), rows)
                    for index in 0..<count { entries[first + index].row = rows[index] }
                }
            }
        }
        for entry in entries {
            guard let row = entry.row else { return false }
            if wanted > 1 { RowsByKey.ask(for: row, atMost: RowsByKey.mostBytes) }
        }
        return true
    }

    /// A key, valid until the next change, and its row, empty if it was not found.
    subscript(index: Int) -> (key: Bytes, row: Bytes) { (key(index), entries[index].row ?? .empty) }

    private func key(_ index: Int) -> Bytes {
        keys.bytes((index == 0 ? 0 : entries[index - 1].keyEnd)..<entries[index].keyEnd)
    }

    mutating func removeAll() {
        keys.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
