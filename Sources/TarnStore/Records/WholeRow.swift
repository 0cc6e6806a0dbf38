/// A row whose long lists have the form of short ones.
struct WholeRow {
    var kind: UInt16
    var isPartial: Bool
    var isWide: Bool
    var body: [UInt8]

    func value(of field: UInt16) -> [UInt8]? {
        body.withUnsafeBytes { RowBody($0, isWide: isWide)?.value(of: field).map { Array($0.bytes) } }
    }

    /// The values by field, without the whole key.
    var values: [UInt16: [UInt8]] {
        body.withUnsafeBytes { bytes in
            var values: [UInt16: [UInt8]] = [:]
            guard let body = RowBody(bytes, isWide: isWide) else { return values }
            for index in 0..<body.count where body.id(at: index) != WholeKey.field {
                if let value = body.value(at: index) { values[body.id(at: index)] = Array(value.bytes) }
            }
            return values
        }
    }
}

extension StoreAccess {
    /// Copies the row of a record; nil if it is not stored.
    func wholeRow(_ record: ListedRecord) throws -> WholeRow? {
        guard let root = catalog.entity(id: record.entity) else { return nil }
        return try record.storageKey.withUnsafeBytes { key in
            try lending {
                guard let row = try records.row(root, key) else { return nil }
                return try wholeRow(row, root, key)
            }
        }
    }

    func wholeRow(_ row: EncodedRow, _ root: Catalog.Entity, _ key: Bytes) throws -> WholeRow {
        guard let expanded = try expandingLongLists(row.body) else {
            return WholeRow(
                kind: row.entity, isPartial: row.isPartial, isWide: row.body.isWide, body: Array(row.body.bytes))
        }
        guard expanded.isWhole else { throw StoreError.damagedRow(entity: root.name, key: describe(key)) }
        return WholeRow(
            kind: row.entity, isPartial: row.isPartial, isWide: expanded.isWide, body: expanded.bytes)
    }
}
