/// A batch of encoded records, to be stored in the order of their keys.
struct RecordBatch: ~Copyable {
    static let limit = 64 << 20

    private struct Entry {
        /// The first bytes of the key, which decide most comparisons.
        var prefix: UInt64
        var offset: Int
        var keyCount: Int32
        var bodyCount: Int32
        var isWide: Bool
        var isComplete: Bool
    }

    private var bytes = ByteWriter(capacity: 1 << 16)
    private var entries: [Entry] = []

    var byteCount: Int { bytes.count }
    var count: Int { entries.count }

    mutating func add(_ key: Bytes, _ body: RowBody, isComplete: Bool) {
        entries.append(
            Entry(
                prefix: key.prefix64, offset: bytes.count, keyCount: Int32(key.count),
                bodyCount: Int32(body.bytes.count),
                isWide: body.isWide, isComplete: isComplete))
        bytes.append(key)
        bytes.append(body.bytes)
    }

    mutating func removeAll() {
        bytes.removeAll()
        entries.removeAll(keepingCapacity: true)
    }

    /// Sorts the records by key, and keeps the last of those with the same key.
    mutating func sort() {
        let all = bytes.bytes
        // The entries are places in `bytes`, which has not shrunk since they were added.
        func key(_ entry: Entry) -> Bytes { all.uncheckedSlice(entry.offset..<entry.offset + Int(entry.keyCount)) }
        func isBefore(_ a: Entry, _ b: Entry) -> Bool {
            if a.prefix != b.prefix { return a.prefix < b.prefix }
            let order = Bytes.compare(key(a), key(b))
            return order != 0 ? order < 0 : a.offset < b.offset
        }
        var isSorted = true
        for next in entries.indices.dropFirst() where isSorted {
            isSorted = isBefore(entries[next - 1], entries[next])
        }
        if !isSorted { entries.sort(by: isBefore) }
        var kept = 0
        for position in entries.indices {
            if position + 1 < entries.count, Bytes.equal(key(entries[position]), key(entries[position + 1])) {
                continue
            }
            entries[kept] = entries[position]
            kept += 1
        }
        entries.removeLast(entries.count - kept)
    }

    func record(at position: Int) -> (key: Bytes, body: RowBody?, isComplete: Bool) {
        let entry = entries[position], start = entry.offset + Int(entry.keyCount)
        return (
            bytes.bytes(entry.offset..<start),
            RowBody(bytes.bytes(start..<start + Int(entry.bodyCount)), isWide: entry.isWide),
            entry.isComplete
        )
    }
}
