// Rows that an index leads to, found a few before they are looked at.

internal import LMDB

/// A few records that come next in a walk: their keys, and their rows, which are asked for as soon as it is known where they are. An index
/// leads all over the table, so nearly every row would have to be waited for otherwise, and so would the pages that say where it is. Only in
/// a snapshot, where rows stay where they are.
struct RowsAhead: ~Copyable {
    private struct Entry {
        let keyEnd: Int
        /// Nil as long as it is not found.
        var row: Bytes?
    }

    private var keys = ByteWriter(capacity: 128)
    private var entries: [Entry] = []
    private let lookup: PageLookup
    /// How many are wanted at all, and how many of them were given.
    private let wanted: Int
    var given = 0

    /// Of longer rows the processor fetches the rest by itself once it sees the beginning being read.
    private static let mostBytes = 2048

    init(_ wanted: Int, _ lookup: PageLookup) {
        self.wanted = wanted
        self.lookup = lookup
        entries.reserveCapacity(PageLookup.most)
    }

    var count: Int { entries.count }

    /// Whether there are as many as are looked at together. One more would be for nothing if all of these are in the result.
    var isFull: Bool { entries.count >= min(PageLookup.most, max(1, wanted - given)) }

    /// - Parameter row: nil if it has to be found.
    mutating func append(_ key: Bytes, _ row: Bytes?) {
        keys.append(key)
        entries.append(Entry(keyEnd: keys.count, row: row))
    }

    /// Finds the rows that are not found yet, and asks for all of them.
    ///
    /// - Returns: whether all of them are there.
    mutating func find() throws(LMDBError) -> Bool {
        if let first = entries.firstIndex(where: { $0.row == nil }) {
            try withUnsafeTemporaryAllocation(of: Bytes.self, capacity: PageLookup.most) { wanted throws(LMDBError) in
                try withUnsafeTemporaryAllocation(of: Bytes?.self, capacity: PageLookup.most) { rows throws(LMDBError) in
                    // A walk along rows has all of them, any other has none.
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
            ask(for: row)
        }
        return true
    }

    private func ask(for row: Bytes) {
        guard let base = row.baseAddress, wanted > 1 else { return }
        for offset in stride(from: 0, to: min(row.count, RowsAhead.mostBytes), by: 64) { LMDB.ask(for: base + offset) }
    }

    /// The key is valid until the next change; the row is empty if it is not found.
    subscript(index: Int) -> (key: Bytes, row: Bytes) { (key(index), entries[index].row ?? .empty) }

    private func key(_ index: Int) -> Bytes { keys.bytes((index == 0 ? 0 : entries[index - 1].keyEnd)..<entries[index].keyEnd) }

    mutating func removeAll() {
        keys.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
