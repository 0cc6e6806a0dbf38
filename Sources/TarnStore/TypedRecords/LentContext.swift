internal import LMDB

/// A transaction and a plan: what values need beyond their bytes. Valid as long as the row's transaction.
@usableFromInline
struct LentContext {
    private let transaction: BareTransaction
    let plan: Unmanaged<RowPlan>
    private let rows: Unmanaged<RowContext>?

    @inline(__always)
    init(_ access: StoreAccess, _ plan: Unmanaged<RowPlan>) {
        transaction = access.raw.bare
        self.plan = plan
        rows = access.rows
    }

    var access: StoreAccess {
        plan._withUnsafeGuaranteedRef { StoreAccess(transaction.raw, $0.state, rows?.takeUnretainedValue()) }
    }

    /// The key that a storage key in a reference stands for. A long one stands in the row that it leads to.
    func key<Key: StoredKey>(_ storageKey: Bytes, of target: String) -> Key? {
        guard StorageKey.isDigest(storageKey) else { return Key(encodedKey: storageKey) }
        let access = access
        guard let entity = access.catalog.entity(target), let row = try? access.row(entity, storageKey) else { return nil }
        return access.key(entity, storageKey, row).flatMap(Key.init)
    }
}
