internal import LMDB

/// The transaction and the plan of a borrowed row, for values that need more than their bytes.
///
/// It is valid as long as the row's transaction.
@usableFromInline
struct RowViewContext {
    private let transaction: BareTransaction
    let plan: Unmanaged<RowPlan>
    private let rows: Unmanaged<RowContext>?

    @inline(__always)
    init(_ records: RecordTable, _ plan: Unmanaged<RowPlan>) {
        transaction = records.raw.bare
        self.plan = plan
        rows = records.rows
    }

    var access: StoreAccess {
        plan._withUnsafeGuaranteedRef { StoreAccess(transaction.raw, $0.state, rows?.takeUnretainedValue()) }
    }

    /// Returns the key for a storage key in a reference. A long key is stored in the target's row.
    func key<Key: StoredKey>(_ storageKey: Bytes, of target: String) -> Key? {
        guard StorageKey.isDigest(storageKey) else { return Key(encodedKey: storageKey) }
        let access = access
        guard let entity = access.catalog.entity(target), let row = try? access.records.row(entity, storageKey) else {
            return nil
        }
        return access.key(entity, storageKey, row).flatMap(Key.init)
    }
}
