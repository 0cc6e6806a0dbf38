// System rows: entries of the store's own tables (responses, checkpoints), in the form of rows of
// entity 0, so that one decoder reads everything.

internal import LMDB

extension RawTransaction {
    /// Checks and returns a row of one of the store's own tables.
    ///
    /// - Throws: `.damagedEntry` if the bytes are no row, or if the checksum is wrong.
    func systemRow(_ bytes: Bytes, _ table: StaticString, _ key: Bytes) throws(StoreError) -> EncodedRow {
        guard EncodedRow.hasValidChecksum(bytes, table: 0, key: key), let row = EncodedRow(bytes) else {
            throw .damagedEntry(table: "\(table)", key: RecordKey.describe(storageKey: key))
        }
        return row
    }

    /// Reads the row of a key from one of the store's own tables. Nil if there is none.
    func systemRow(of key: Bytes, in table: Table, _ name: StaticString) throws -> EncodedRow? {
        try get(table, key).map { bytes throws(StoreError) in try systemRow(bytes, name, key) }
    }
}

extension EncodedRow {
    func text(_ id: UInt16) -> String? {
        guard let value = body.value(of: id), value.tag == ValueTag.string else { return nil }
        return String(decoding: value.payload, as: UTF8.self)
    }

    func texts(_ id: UInt16) -> [String] {
        var texts: [String] = []
        body.value(of: id)?.forEachElement { texts.append(String(decoding: $0.payload, as: UTF8.self)) }
        return texts
    }

    func number(_ id: UInt16) -> Int? { body.value(of: id)?.int.flatMap { Int(exactly: $0) } }

    func unsigned(_ id: UInt16) -> UInt64? {
        guard let value = body.value(of: id) else { return nil }
        return value.tag == ValueTag.uint ? value.eightBytes : value.int.flatMap { UInt64(exactly: $0) }
    }

    func date(_ id: UInt16) -> Timestamp? {
        guard let value = body.value(of: id), value.tag == ValueTag.date else { return nil }
        return value.eightBytes.map { Timestamp(microseconds: Int64(bitPattern: $0)) }
    }

    func rawBytes(_ id: UInt16) -> Bytes? {
        guard let value = body.value(of: id), value.tag == ValueTag.bytes else { return nil }
        return value.payload
    }
}
