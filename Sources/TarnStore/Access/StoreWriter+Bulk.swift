// Writing many records at once: in the order of their keys, each once, appended where they lie behind what is there.

internal import LMDB

extension StoreWriter {
    /// Stores records as ``put(_:ifVersion:)`` does one after the other, but in the order of their keys: neighbours in the file are
    /// written together, and what lies behind the last key is appended. Of several with the same key the last counts.
    ///
    /// Those that come in the order of their keys, and lie behind what is there, are stored as they come. Otherwise the encoded
    /// records are held in memory, up to 64 MiB at a time.
    ///
    /// - Returns: how many records were created or changed; one that came again after it was stored counts again.
    /// - Throws: as ``put(_:ifVersion:)``. A record that cannot be stored stops it, and some that came before it may be stored by then:
    ///   let the error leave the closure of `write`, or they are committed.
    @discardableResult
    public mutating func put<Record: StoredRecord>(contentsOf records: some Sequence<Record>) throws -> Int {
        var batch = RecordBatch(), changed = 0
        let buffers = takeRowBuffers()
        defer { rowBuffers = buffers }
        var encoder = try RowEncoder<Record>(access, buffers)
        let rules = encoder.rules, raw = access.raw, table = try access.state.records(of: rules.root)
        try tail.beginAppending(rules.root, raw, table)
        defer { tail.endAppending() }
        for record in records {
            encoder.removeAll()
            record.encode(into: &encoder)
            let isStored = try encoder.finish(key: nil) { key, body, isComplete in
                // Once something waits, what comes later has to come behind it.
                if batch.count == 0, try tail.isPast(key, rules.root, raw, table) {
                    _ = try merge(rules, key, body, isComplete: isComplete)
                    return true
                }
                batch.add(key, body, isComplete: isComplete)
                return false
            }
            if isStored {
                changed += 1
            } else if batch.byteCount > RecordBatch.limit {
                changed += try store(&batch, rules)
                try tail.beginAppending(rules.root, raw, table)
            }
        }
        return try changed + store(&batch, rules)
    }

    private mutating func store(_ batch: inout RecordBatch, _ rules: EntityRules) throws -> Int {
        tail.endAppending()
        batch.sort()
        var changed = 0
        for position in 0..<batch.count {
            let (key, body, isComplete) = batch.record(at: position)
            guard let body else { continue }
            if case .unchanged = try merge(rules, key, body, isComplete: isComplete) { continue }
            changed += 1
        }
        batch.removeAll()
        return changed
    }
}

/// Encoded records that wait to be stored in the order of their keys.
struct RecordBatch: ~Copyable {
    static let limit = 64 << 20

    private struct Entry {
        /// The first bytes of the key, so that most comparisons need no more.
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
                prefix: key.prefix64, offset: bytes.count, keyCount: Int32(key.count), bodyCount: Int32(body.bytes.count),
                isWide: body.isWide, isComplete: isComplete))
        bytes.append(key)
        bytes.append(body.bytes)
    }

    mutating func removeAll() {
        bytes.removeAll()
        entries.removeAll(keepingCapacity: true)
    }

    /// Puts the records in the order of their keys, and keeps the last of those with the same key.
    mutating func sort() {
        let all = bytes.bytes
        func key(_ entry: Entry) -> Bytes { all.slice(entry.offset..<entry.offset + Int(entry.keyCount)) }
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
            if position + 1 < entries.count, Bytes.equal(key(entries[position]), key(entries[position + 1])) { continue }
            entries[kept] = entries[position]
            kept += 1
        }
        entries.removeLast(entries.count - kept)
    }

    func record(at position: Int) -> (key: Bytes, body: RowBody?, isComplete: Bool) {
        let entry = entries[position], start = entry.offset + Int(entry.keyCount)
        return (
            bytes.bytes(entry.offset..<start), RowBody(bytes.bytes(start..<start + Int(entry.bodyCount)), isWide: entry.isWide),
            entry.isComplete
        )
    }
}
