internal import LMDB

/// A cursor over the keys of an entity's records.
/// For a root entity it iterates over the rows, otherwise over the index of the entity's members.
struct EntityCursor {
    let cursor: RawCursor
    private let access: StoreAccess
    private let entity: Catalog.Entity
    /// The table of the rows if the cursor iterates over the index. Otherwise nil.
    private let rows: Table?

    init(_ access: StoreAccess, _ entity: Catalog.Entity) throws {
        self.access = access
        self.entity = entity
        let table = try access.state.records(of: entity.root)
        if let members = entity.members {
            rows = table
            cursor = try access.raw.cursor(access.state.index(members))
        } else {
            rows = nil
            cursor = try access.raw.cursor(table)
        }
    }

    func close() { cursor.close() }

    /// Returns the stored row for an entry of the cursor.
    func row(_ key: Bytes, _ value: Bytes) throws -> Bytes {
        guard let rows else { return value }
        guard let row = try access.raw.get(rows, key) else {
            throw StoreError.damagedRow(entity: entity.name, key: access.describe(key))
        }
        return row
    }
}
