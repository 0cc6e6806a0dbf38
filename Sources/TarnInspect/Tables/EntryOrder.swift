import LMDBPages
import TarnStore

/// A copy of an entry of a table.
struct CopiedEntry {
    let key: [UInt8], value: [UInt8]
    /// The size in bytes.
    var size: Int { key.count + value.count }
}

/// The order of the entries of a table, as its options declare it (mdb.c, `mdb_default_cmp`).
struct EntryOrder: Equatable {
    /// Whether keys, and the values of a key, are compared from their last byte on. So are
    /// integers, which are little-endian.
    private let reversesKeys: Bool, reversesValues: Bool
    /// Whether keys may have several values.
    let hasDuplicates: Bool

    init(_ record: TableRecord) {
        reversesKeys = record.hasReversedKeys || record.hasIntegerKeys
        hasDuplicates = record.hasDuplicates
        reversesValues = hasDuplicates && (record.hasIntegerValues || record.hasReversedValues)
    }

    /// Returns the order of two entries: negative, zero or positive. Zero are equal keys, and equal
    /// values if keys may have several.
    func compare(_ a: CopiedEntry, _ b: CopiedEntry) -> Int {
        let order = EntryOrder.compare(a.key, b.key, isReversed: reversesKeys)
        guard order == 0, hasDuplicates else { return order }
        return EntryOrder.compare(a.value, b.value, isReversed: reversesValues)
    }

    private static func compare(_ a: [UInt8], _ b: [UInt8], isReversed: Bool) -> Int {
        guard isReversed else { return a.withUnsafeBytes { a in b.withUnsafeBytes { Bytes.compare(a, $0) } } }
        for (x, y) in zip(a.reversed(), b.reversed()) where x != y { return x < y ? -1 : 1 }
        return a.count - b.count
    }
}

/// A filter of entries that are out of order: one of two neighbours is left out.
///
/// A damaged key is one of them, and so is any key of a program with an order of its own.
struct OrderFilter {
    let order: EntryOrder
    /// The number of entries that were left out.
    private(set) var misplaced = 0
    private var last: CopiedEntry?, waiting: CopiedEntry?

    init(_ order: EntryOrder) { self.order = order }

    /// Adds the next entry.
    ///
    /// - Returns: The entry before it, if it is in order.
    mutating func add(_ entry: CopiedEntry) -> CopiedEntry? {
        guard let before = waiting else {
            waiting = entry
            return nil
        }
        if order.compare(before, entry) < 0 {
            (last, waiting) = (before, entry)
            return before
        }
        misplaced += 1
        // Where the new entry fits behind the last one, the one between them is misplaced.
        if last.map({ order.compare($0, entry) < 0 }) ?? true { waiting = entry }
        return nil
    }

    /// Returns the last entry.
    mutating func end() -> CopiedEntry? {
        defer { waiting = nil }
        return waiting
    }
}
