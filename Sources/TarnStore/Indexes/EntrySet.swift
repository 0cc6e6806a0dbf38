// Comparing sets of index entries without keeping them in memory.

internal import LMDB

/// A set of entries, represented by their number and the sum of their hashes.
/// Two different sets compare as equal with a probability of 2⁻⁶⁴: the hash has a random secret in
/// each process.
package struct EntrySet: Equatable {
    package private(set) var count = 0
    private var sum: UInt64 = 0

    package init() {}

    /// Creates the set of all entries of a table.
    init(_ raw: RawTransaction, _ table: Table) throws {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            add(key, value)
            entry = try cursor.next()
        }
    }

    /// Creates the set of all entries of a table with checksums. Nil if a value is damaged.
    init?(_ raw: RawTransaction, _ table: ChecksummedTable) throws {
        let cursor = try raw.cursor(table.table)
        defer { cursor.close() }
        var entry = try cursor.first()
        while let (key, value) = entry {
            guard let content = table.content(value, key: key) else { return nil }
            add(key, content)
            entry = try cursor.next()
        }
    }

    package mutating func add(_ key: Bytes, _ value: Bytes = .empty) {
        var hasher = Hasher()
        hasher.combine(key.count)
        hasher.combine(bytes: key)
        hasher.combine(bytes: value)
        count += 1
        sum &+= UInt64(bitPattern: Int64(hasher.finalize()))
    }

    mutating func add(_ other: EntrySet) {
        count += other.count
        sum &+= other.sum
    }
}
