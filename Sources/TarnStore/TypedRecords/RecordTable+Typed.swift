// Rows borrowed in the form of a type.

extension RecordTable {
    /// Returns a row borrowed with its plan.
    ///
    /// - Throws: `.damagedRow` if a row has no body.
    func lent(_ row: EncodedRow, _ plan: Unmanaged<RowPlan>, _ storageKey: Bytes) throws(StoreError) -> RowView {
        guard let lent = RowView(row, RowViewContext(self, plan)) else {
            throw .damagedRow(entity: plan._withUnsafeGuaranteedRef { $0.entity.name }, key: describe(storageKey))
        }
        return lent
    }

    /// Returns a row whose long values are decompressed on first access, if it is divided.
    @inline(__always)
    func dividedView(
        _ bytes: Bytes, _ plan: Unmanaged<RowPlan>, _ storageKey: Bytes, borrowed: Bool
    ) throws(StoreError) -> EncodedRow {
        do {
            let root = plan._withUnsafeGuaranteedRef { $0.root }
            return try dividedView(bytes, root: root, storageKey, borrowed: borrowed)
        } catch {
            throw error.storeError(plan._withUnsafeGuaranteedRef { $0.entity.name }, storageKey)
        }
    }

    /// Returns the row found under a storage key.
    ///
    /// The result is nil if the row belongs to another long key with the same digest, or is not of
    /// the plan's entity.
    ///
    /// - Parameter isSought: returns whether a key, read from the row, is the one sought. It is
    ///   called for long keys only.
    /// - Throws: `.damagedRow`.
    func lend(
        _ bytes: Bytes, _ plan: Unmanaged<RowPlan>, sought storageKey: Bytes, borrowed: Bool,
        _ isSought: (RecordKey?) -> Bool
    ) throws(StoreError) -> RowView? {
        let row = try dividedView(bytes, plan, storageKey, borrowed: borrowed)
        // The row may be of another entity of the same tree.
        if plan._withUnsafeGuaranteedRef({ row.entity != $0.entityID }) {
            let entity = plan._withUnsafeGuaranteedRef { $0.entity }
            guard try isOf(entity, row) else { return nil }
        }
        let lent = try lent(row, plan, storageKey)
        if StorageKey.isDigest(storageKey), !isSought(lent.recordKey) { return nil }
        return lent
    }
}
