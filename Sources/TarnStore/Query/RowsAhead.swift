// Rows that an index leads to, found a few before they are looked at.

internal import LMDB

/// A few records that come next in a walk: their keys, and their rows, which are asked for as soon as it is known where they are. An index
/// leads all over the table, so nearly every row would have to be waited for otherwise, and so would the page that says where it is. Only in
/// a snapshot, where rows stay where they are.
struct RowsAhead: ~Copyable {
    private struct Entry {
        let keyEnd: Int
        /// Where the row is, as long as it is not found.
        let place: PageLookup.Place?
        var row: Bytes
    }

    private var keys = ByteWriter(capacity: 128)
    private var entries: [Entry] = []
    private let lookup: PageLookup
    /// How many are wanted at all, and how many of them were given.
    private let wanted: Int
    var given = 0

    private static let most = 8
    /// Of longer rows the processor fetches the rest by itself once it sees the beginning being read.
    private static let mostBytes = 2048

    init(_ wanted: Int, _ lookup: PageLookup) {
        self.wanted = wanted
        self.lookup = lookup
        entries.reserveCapacity(RowsAhead.most)
    }

    var count: Int { entries.count }

    /// Whether there are as many as are looked at together. One more would be for nothing if all of these are in the result.
    var isFull: Bool { entries.count >= min(RowsAhead.most, max(1, wanted - given)) }

    /// - Parameter row: nil if it has to be found.
    mutating func append(_ key: Bytes, _ row: Bytes?) throws(LMDBError) {
        keys.append(key)
        entries.append(Entry(keyEnd: keys.count, place: row == nil ? try lookup.place(of: key) : nil, row: row ?? .empty))
        if let row { ask(for: row) }
    }

    /// Finds the rows that are not found yet.
    ///
    /// - Returns: whether all of them are there.
    mutating func find() throws(LMDBError) -> Bool {
        for entry in entries { if let place = entry.place { lookup.ask(for: place) } }
        for index in entries.indices {
            guard let place = entries[index].place else { continue }
            guard let row = try lookup.value(of: key(index), at: place) else { return false }
            entries[index].row = row
            ask(for: row)
        }
        return true
    }

    private func ask(for row: Bytes) {
        guard let base = row.baseAddress, wanted > 1 else { return }
        for offset in stride(from: 0, to: min(row.count, RowsAhead.mostBytes), by: 64) { LMDB.ask(for: base + offset) }
    }

    /// The key is valid until the next change.
    subscript(index: Int) -> (key: Bytes, row: Bytes) { (key(index), entries[index].row) }

    private func key(_ index: Int) -> Bytes { keys.bytes((index == 0 ? 0 : entries[index - 1].keyEnd)..<entries[index].keyEnd) }

    mutating func removeAll() {
        keys.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
