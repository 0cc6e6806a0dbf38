// Keys in arrays: settings, progress and upkeep read and write few entries, and lend no pointers.

internal import LMDB

extension RawTransaction {
    /// Returns the stored value of a key, borrowed from the map; nil if there is none.
    func get(_ table: Table, _ key: [UInt8]) throws -> Bytes? { try key.withUnsafeBytes { try get(table, $0) } }

    /// Returns the content of a key, borrowed from the map; nil if there is none.
    func get(_ table: ChecksummedTable, _ key: [UInt8]) throws -> Bytes? {
        try key.withUnsafeBytes { try get(table, $0) }
    }

    func put(_ table: ChecksummedTable, _ key: [UInt8], _ content: Bytes) throws {
        try key.withUnsafeBytes { try put(table, $0, content) }
    }

    func put(_ table: ChecksummedTable, _ key: [UInt8], _ content: [UInt8]) throws {
        try content.withUnsafeBytes { try put(table, key, $0) }
    }

    func delete(_ table: Table, _ key: [UInt8]) throws -> Bool { try key.withUnsafeBytes { try delete(table, $0) } }

    func delete(_ table: ChecksummedTable, _ key: [UInt8]) throws -> Bool { try delete(table.table, key) }
}

extension RawCursor {
    /// Moves to the first entry whose key is not less; an empty key moves to the first entry.
    func seek(_ key: [UInt8]) throws -> Entry? {
        key.isEmpty ? try first() : try key.withUnsafeBytes { try seek($0) }
    }
}

extension ChecksummedCursor {
    /// Moves to the first entry whose key is not less.
    func seek(_ key: [UInt8]) throws -> RawCursor.Entry? { try key.withUnsafeBytes { try seek($0) } }
}
