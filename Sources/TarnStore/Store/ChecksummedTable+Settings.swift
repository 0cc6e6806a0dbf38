// The table `meta`: one value for each setting.

import Foundation
internal import LMDB

extension ChecksummedTable {
    static func meta(_ table: Table, format: Int) -> ChecksummedTable {
        ChecksummedTable(table, "meta", format: format)
    }

    /// Opens the table `meta` and reads the store's format from it.
    ///
    /// - Returns: The table and the format; nil if the format version is missing or damaged.
    static func meta(_ table: Table, in raw: RawTransaction) throws(LMDBError) -> (
        table: ChecksummedTable, format: Int
    )? {
        guard let stored = try raw.get(table, Bytes(MetaKey.format)), let format = StoreFormatVersion.read(stored)
        else { return nil }
        return (.meta(table, format: format), format)
    }
}

extension RawTransaction {
    func get(_ table: ChecksummedTable, key: StaticString) throws(LMDBError) -> Bytes? {
        try get(table, Bytes(key))
    }

    func put(_ table: ChecksummedTable, key: StaticString, text: String) throws(LMDBError) {
        var writer = ByteWriter()
        writer.append(text)
        try put(table, Bytes(key), writer.bytes)
    }

    func put(_ table: ChecksummedTable, key: StaticString, number: UInt64) throws(LMDBError) {
        var writer = ByteWriter()
        writer.appendBigEndian(number)
        try put(table, Bytes(key), writer.bytes)
    }

    /// Reads a number from `meta`. In stores of formats 1 and 2 a missing number is 0.
    ///
    /// - Throws: `LMDBError.corrupted` if the value is missing or not a number. Otherwise ids that
    ///   must not be reused would start again.
    func number(_ table: ChecksummedTable, key: StaticString) throws(LMDBError) -> UInt64 {
        guard let value = try get(table, key: key) else {
            guard table.hasChecksums else { return 0 }
            throw table.damage(Bytes(key))
        }
        guard value.count == 8 else { throw table.damage(Bytes(key)) }
        return value.loadBigEndian(0, UInt64.self)
    }

    /// Returns the number after one in `meta`, for ids that are never reused.
    ///
    /// - Throws: `LMDBError.corrupted` if no store can have counted so far; as ``number(_:key:)``.
    func nextNumber(_ table: ChecksummedTable, key: StaticString) throws(LMDBError) -> UInt64 {
        let last = try number(table, key: key)
        guard last < 1 << 62 else { throw table.damage(Bytes(key)) }
        return last + 1
    }

    /// Returns whether the store is at a generation.
    /// Also false if another process has upgraded the format since.
    func isAtGeneration(_ generation: UInt64, _ meta: ChecksummedTable) throws(LMDBError) -> Bool {
        guard let stored = try get(meta.table, Bytes(MetaKey.generation)) else {
            throw meta.damage(Bytes(MetaKey.generation))
        }
        guard stored.count == 8 + (meta.hasChecksums ? ValueChecksum.size : 0) else { return false }
        return try number(meta, key: MetaKey.generation) == generation
    }

    /// Stores the settings of a new store.
    /// It includes every counter, so that a missing counter is known to be damage.
    func putNewSettings(_ meta: ChecksummedTable, catalog: Catalog) throws {
        try put(meta, key: MetaKey.format, text: String(Store.format))
        try put(meta, key: MetaKey.features, text: StoreFeature.text(StoreFeature.all))
        try put(meta, key: MetaKey.incarnation, text: UUID().uuidString.lowercased())
        for key in MetaKey.counters { try put(meta, key: key, number: 0) }
        try put(meta, key: MetaKey.generation, number: 1)
        try put(meta, key: MetaKey.catalog, text: try StoredCatalog.text(of: catalog))
    }

    /// Gives the store a new incarnation. Its stored responses stay usable.
    ///
    /// - Returns: The incarnation.
    func renewIncarnation(_ meta: ChecksummedTable) throws(LMDBError) -> String {
        if try get(meta, key: MetaKey.responseOrigin) == nil, let old = try get(meta, key: MetaKey.incarnation) {
            try put(meta, key: MetaKey.responseOrigin, text: String(decoding: old, as: UTF8.self))
        }
        let incarnation = UUID().uuidString.lowercased()
        try put(meta, key: MetaKey.incarnation, text: incarnation)
        return incarnation
    }

    /// Changes the generation. Every process then reloads the catalog before its next transaction.
    func advanceGeneration(_ meta: ChecksummedTable) throws(LMDBError) {
        try put(meta, key: MetaKey.generation, number: try number(meta, key: MetaKey.generation) &+ 1)
    }
}

extension Bytes {
    init(_ text: StaticString) { self.init(start: text.utf8Start, count: text.utf8CodeUnitCount) }
}
