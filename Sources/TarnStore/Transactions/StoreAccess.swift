// A transaction and the tables that it reads and writes, be it a snapshot or the writer's.

package import LMDB

/// A transaction and the state of the store. Internal: users get `StoreReader` and `StoreWriter`.
///
/// Each family of tables has a type of its own. This type has what needs several of them.
package struct StoreAccess {
    // Stored beside the table: a computed property would copy all of it, and count its references.
    package let raw: RawTransaction
    package let state: StoreState
    package let records: RecordTable

    init(_ raw: RawTransaction, _ state: StoreState, _ context: RowContext?) {
        self.init(raw, state, context, state.verification)
    }

    init(_ raw: RawTransaction, _ state: StoreState, _ context: RowContext?, _ verification: RowVerification) {
        self.raw = raw
        self.state = state
        records = RecordTable(raw, state, context, verification)
    }

    package var catalog: Catalog { state.catalog }

    /// The number of the last commit that a snapshot shows, or that of a write transaction's own.
    ///
    /// A write that changes nothing uses up no number.
    package var transaction: Int { raw.id }

    package var indexes: IndexTable { IndexTable(records) }
    var edges: EdgeTable { EdgeTable(raw, state) }
    package var responses: ResponseTable { ResponseTable(raw, state) }
    package var scans: ScanTable { ScanTable(raw, state) }
    package var checkpoints: CheckpointTable { CheckpointTable(raw, state) }
    package var localChanges: LocalChangeTable { LocalChangeTable(raw, state) }
    package var outbox: OutboxTable { OutboxTable(self) }
    package var settings: SettingsTable { SettingsTable(raw, state) }
    var changes: ChangeLog { ChangeLog(raw, state) }

    /// Runs a closure. Rows that it reads are valid until it returns: see ``RecordTable``.
    package func lending<Result>(_ body: () throws -> Result) rethrows -> Result { try records.lending(body) }

    /// The mark for mutating functions, which cannot use `lending`.
    var rowMark: Int { records.rowMark }
    func release(to mark: Int) { records.release(to: mark) }

    /// Iterates over the targets of a relationship of a record, until the closure returns false.
    /// The closure gets storage keys, in the order of the relationship, including those of missing
    /// records.
    package func targets(
        of key: Bytes, _ relationship: Catalog.Relationship, _ body: (Bytes) throws -> Bool
    ) throws {
        if let join = relationship.join { return try joined(key, relationship, join, body) }
        guard let owner = catalog.entity(id: relationship.owner), let field = owner.field(id: relationship.field),
            case .reference(let reference) = field.kind, let index = field.index
        else { return }
        guard relationship.isStored else {
            return try indexes.forEachReferrer(of: key, through: index, positioned: reference.inverseIsOrdered, body)
        }
        let mark = rowMark
        defer { release(to: mark) }
        guard let value = try records.row(owner, key)?.body.value(of: field.id) else { return }
        if let target = value.reference {
            _ = try body(target)
            return
        }
        guard try edges.forEachReference(value, body) else {
            throw StoreError.damagedRow(entity: owner.name, key: describe(key))
        }
    }
}
