// Rows that an index leads to, found a few before they are looked at.

internal import LMDB

/// A few records that come next in a walk: their keys, and their rows, which are asked for as soon as it is known where they are. An index
/// leads all over the table, so nearly every row would have to be waited for otherwise. Only in a snapshot, where rows stay where they are.
struct RowsAhead: ~Copyable {
    private var keys = ByteWriter(capacity: 128)
    private var entries: [(keyEnd: Int, row: Bytes)] = []
    /// How many are wanted at all, and how many of them were given.
    private let wanted: Int
    var given = 0

    private static let most = 8
    /// Of longer rows the processor fetches the rest by itself once it sees the beginning being read.
    private static let mostBytes = 2048

    init(_ wanted: Int) {
        self.wanted = wanted
        entries.reserveCapacity(RowsAhead.most)
    }

    var count: Int { entries.count }

    /// Whether there are as many as are looked at together. One more would be for nothing if all of these are in the result.
    var isFull: Bool { entries.count >= min(RowsAhead.most, max(1, wanted - given)) }

    mutating func append(_ key: Bytes, _ row: Bytes) {
        keys.append(key)
        entries.append((keys.count, row))
        guard let base = row.baseAddress, wanted > 1 else { return }
        for offset in stride(from: 0, to: min(row.count, RowsAhead.mostBytes), by: 64) { ask(for: base + offset) }
    }

    /// The key is valid until the next change.
    subscript(index: Int) -> (key: Bytes, row: Bytes) {
        let start = index == 0 ? 0 : entries[index - 1].keyEnd
        return (keys.bytes(start..<entries[index].keyEnd), entries[index].row)
    }

    mutating func removeAll() {
        keys.removeAll()
        entries.removeAll(keepingCapacity: true)
    }
}
