// In-memory sorting: positions only, never rows, and no more of them than the result needs.

/// A buffer that collects positions and returns them in order.
///
/// A position is a sort key and a storage key, see `QueryEvaluation.appendPosition`.
struct SortBuffer: ~Copyable {
    /// The limit of the memory for positions, in bytes.
    static let limit = 64 << 20

    private struct Entry {
        var prefix: UInt64
        var offset: Int
        var length: Int32
        var sortKeyLength: Int32
    }

    private var arena = ByteWriter(capacity: 1 << 12)
    private var entries: [Entry] = []
    /// The number of positions wanted, the first in the order.
    private let kept: Int
    private let entity: String
    private let pruningSize: Int
    /// Whether all wanted positions are present: those after `lastKept` do not matter.
    private var isFull = false
    private var lastKept = Entry(prefix: 0, offset: 0, length: 0, sortKeyLength: 0)

    init(keeping kept: Int, entity: String) {
        self.kept = kept
        self.entity = entity
        pruningSize = kept > .max / 4 ? .max : max(kept * 2, 1024)
    }

    var count: Int { entries.count }

    /// Adds the position that the closure writes.
    ///
    /// - Parameter write: writes the position and returns the length of its sort key.
    /// - Throws: the errors of the closure; `.sortTooLarge`.
    mutating func add(_ write: (inout ByteWriter) throws -> Int) throws {
        let offset = arena.count
        // If the closure throws, the buffer is not usable any more.
        let sortKeyLength = try write(&arena)
        let bytes = arena.bytes(offset..<arena.count)
        let entry = Entry(
            prefix: bytes.prefix64, offset: offset, length: Int32(bytes.count), sortKeyLength: Int32(sortKeyLength))
        if isFull, !precedes(entry, lastKept) { return arena.truncate(to: offset) }
        entries.append(entry)
        if entries.count >= pruningSize { prune() }
        if isTooLarge {
            if kept < entries.count { prune() }
            if isTooLarge { throw StoreError.sortTooLarge(entity: entity, bytes: SortBuffer.limit) }
        }
    }

    private var isTooLarge: Bool { arena.count + entries.count * MemoryLayout<Entry>.stride > SortBuffer.limit }

    private func bytes(_ entry: Entry) -> Bytes { arena.bytes(entry.offset..<entry.offset + Int(entry.length)) }

    private func precedes(_ a: Entry, _ b: Entry) -> Bool {
        a.prefix != b.prefix ? a.prefix < b.prefix : Bytes.compare(bytes(a), bytes(b)) < 0
    }

    mutating func sort() {
        let all = arena.bytes
        // The entries are places in the arena, which has not shrunk since they were added.
        func key(_ entry: Entry) -> Bytes { all.uncheckedSlice(entry.offset..<entry.offset + Int(entry.length)) }
        entries.sort { a, b in
            if a.prefix != b.prefix { return a.prefix < b.prefix }
            return Bytes.compare(key(a), key(b)) < 0
        }
    }

    private mutating func prune() {
        sort()
        guard entries.count > kept else { return }
        entries.removeLast(entries.count - kept)
        var compact = ByteWriter(capacity: arena.capacity / 2)
        for index in entries.indices {
            let offset = compact.count
            compact.append(bytes(entries[index]))
            entries[index].offset = offset
        }
        arena = compact
        if let last = entries.last {
            isFull = true
            lastKept = last
        }
    }

    /// Returns the storage key of an entry.
    func storageKey(_ index: Int) -> Bytes {
        let entry = entries[index]
        return bytes(entry).slice(Int(entry.sortKeyLength)..<Int(entry.length))
    }
}
