// Rows that were looked up together, borrowed together.

extension RecordTable {
    /// Passes the rows of a batch on in the form of a type: several at once, as far as nothing of
    /// them is decompressed.
    ///
    /// The checksums of the batch are computed side by side. If one is wrong, each row is verified
    /// alone, so that the rows before the damaged one are passed on, and the error names it.
    ///
    /// - Parameters:
    ///   - views: Room for the rows of a batch.
    ///   - body: Gets the rows until it returns false. They are valid until it returns.
    /// - Returns: Whether `body` wants more rows.
    /// - Throws: The errors of `body`; `.damagedRow`, `.damagedDictionary`.
    func lend(
        _ batch: RowsByKey.Batch, _ plan: Unmanaged<RowPlan>, _ views: UnsafeMutableBufferPointer<RowView>,
        _ body: (UnsafeBufferPointer<RowView>) throws -> Bool
    ) throws -> Bool {
        let mark = rowMark
        defer { release(to: mark) }
        let context = RowViewContext(self, plan)
        let (id, root) = plan._withUnsafeGuaranteedRef { ($0.entityID, $0.root) }
        let areSound = !verification.copied || RowChecksums.areValid(batch, table: UInt32(root))
        var count = 0
        func passOn() throws -> Bool {
            guard count > 0 else { return true }
            let lent = UnsafeBufferPointer(rebasing: views[..<count])
            count = 0
            return try body(lent)
        }
        for index in batch.keys.indices {
            guard let row = batch.rows[index] else { continue }
            if areSound, let view = lazyView(row), view.entity == id, let lent = RowView(view, context) {
                views.initializeElement(at: count, to: lent)
                count += 1
                continue
            }
            // A row that is damaged, compressed as a whole, or of another entity of the same tree.
            guard try passOn() else { return false }
            guard let lent = try lend(row, plan, sought: batch.keys[index], borrowed: false, { _ in true }) else {
                continue
            }
            guard try withUnsafePointer(to: lent, { try body(UnsafeBufferPointer(start: $0, count: 1)) }) else {
                return false
            }
        }
        return try passOn()
    }
}
