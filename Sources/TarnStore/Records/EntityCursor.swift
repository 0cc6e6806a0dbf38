internal import LMDB

/// A cursor over the keys of an entity's records.
/// For a root entity it iterates over the rows, otherwise over the index of the entity's members.
struct EntityCursor {
    let cursor: RawCursor
    private let records: RecordTable
    private let entity: Catalog.Entity
    /// The table of the rows if the cursor iterates over the index. Otherwise nil.
    private let rows: Table?

    init(_ records: RecordTable, _ entity: Catalog.Entity) throws {
        self.records = records
        self.entity = entity
        let table = try records.state.records(of: entity.root)
        if let members = entity.members {
            rows = table
            cursor = try records.raw.cursor(records.state.index(members))
        } else {
            rows = nil
            cursor = try records.raw.cursor(table)
        }
    }

    func close() { cursor.close() }

    /// Returns the stored row for an entry of the cursor.
    func row(_ key: Bytes, _ value: Bytes) throws -> Bytes {
        guard let rows else { return value }
        guard let row = try records.stored(key, in: rows, root: entity.root) else {
            throw StoreError.damagedRow(entity: entity.name, key: records.describe(key))
        }
        return row
    }
}
