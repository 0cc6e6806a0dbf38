// Records as structs from other sources than a look-up by key.

internal import LMDB

extension StoreReader {
    /// Returns listed records as structs, in their order.
    ///
    /// Records that are no longer stored, and records of other entities, are left out.
    ///
    /// - Throws: `StoreError` as ``get(_:_:)-(_,Record.Key)``.
    package func records<Record: StoredRecord>(_ type: Record.Type, listed: [ListedRecord]) throws -> [Record] {
        let plan = try access.plan(type)
        let (root, table) = plan._withUnsafeGuaranteedRef { ($0.root, $0.table) }
        let raw = access.raw, cursor = try raw.cursor(table)
        defer { cursor.close() }
        var records: [Record] = []
        records.reserveCapacity(listed.count)
        for one in listed where one.entity == root {
            let mark = rowMark
            defer { release(to: mark) }
            let record = try one.storageKey.withUnsafeBytes { key -> Record? in
                guard let entry = try cursor.find(key) else { return nil }
                let view = try access.records.lend(entry.value, plan, sought: key, borrowed: false) { _ in true }
                return try view.map { try Row<Record>($0).copy() }
            }
            if let record { records.append(record) }
        }
        return records
    }

    /// Returns a struct as a copied record, which need not be stored.
    ///
    /// - Throws: `StoreError` as ``StoreWriter/put(_:ifVersion:)`` does.
    package func copy<Struct: StoredRecord>(of record: Struct) throws -> Record {
        let (key, fields) = try access.fields(of: record)
        return Record(entity: Struct.entity, key: key, fields: fields)
    }

    /// Returns a copied record as a struct.
    ///
    /// - Throws: `StoreError` as ``get(_:_:)-(_,Record.Key)``; `.unknownEntity` and
    ///   `.unknownField` if the record is not of this store; `.wrongType` if it is not of the
    ///   struct's entity.
    public func decode<Struct: StoredRecord>(_ type: Struct.Type, from record: Record) throws -> Struct {
        let plan = try access.plan(type), entity = try access.state.entity(record.entity)
        // The fields of another entity may have the same ids.
        guard access.catalog.isKind(entity.id, of: plan._withUnsafeGuaranteedRef { $0.entityID }) else {
            throw StoreError.wrongType(
                entity: entity.name, field: record.key.description, expected: "a record of \(Struct.entity)",
                found: "a record of \(entity.name)")
        }
        var fields: [(id: UInt16, value: Value)] = []
        for field in record.fields {
            // A field that this catalog does not know is named by its id, and no struct has it.
            guard let id = entity.field(field.name)?.id else { continue }
            fields.append((id, field.value))
        }
        var builder = BodyBuilder(), row = ByteWriter()
        for field in fields.sorted(by: { $0.id < $1.id }) { builder.field(field.id) { $0.appendValue(field.value) } }
        let isWide = builder.isWide
        for _ in 0..<RowFormat.headerSize { row.append(UInt8(0)) }
        builder.finish(into: &row)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: row.count, alignment: 8)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: row.bytes)
        EncodedRow.writeHeader(
            to: bytes, isPartial: record.isPartial, isWide: isWide, entity: entity.id, version: record.version,
            compression: (RowFormat.uncompressed, 0))
        guard let view = EncodedRow(Bytes(bytes)) else {
            throw StoreError.damagedRow(entity: entity.name, key: record.key.description)
        }
        return try Row<Struct>(access.records.lent(view, plan, Bytes(bytes))).copy()
    }
}
