// Scans of key ranges: row by row with a cursor, or in batches along the pages.

internal import LMDB

extension RecordTable {
    /// Iterates over the rows of an entity in a key range, until the closure returns false.
    ///
    /// - Parameter reversed: Iterates in descending order of keys.
    func scan(
        _ entity: Catalog.Entity, in range: KeyRange, reversed: Bool, _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        try walk(entity, in: range, reversed: reversed) { key, value in
            try lending { try body(key, view(value(), entity, key)) }
        }
    }

    /// Returns the number of records in a key range. Iterates over them, except for `.all`.
    func count(_ entity: Catalog.Entity, in range: KeyRange) throws -> Int {
        if range == .all { return try count(entity) }
        var count = 0
        try walk(entity, in: range, reversed: false) { _, _ in
            count += 1
            return true
        }
        return count
    }

    /// Iterates over the rows of an entity in a key range, in batches.
    /// The iteration ends when the closure returns false.
    ///
    /// All rows of a batch are located before they are passed on, so that the processor loads their
    /// memory in parallel. Copying each row at once would wait for each load separately.
    func forEachRow(
        _ plan: Unmanaged<RowPlan>, in range: KeyRange, reversed: Bool, borrowed: Bool,
        _ body: (UnsafeBufferPointer<RowView>) throws -> Bool
    ) throws {
        let (bounds, hasOwnTree) = try plan._withUnsafeGuaranteedRef { plan in
            try (KeyBounds(range, plan.entity.keyTypes) { plan.entity }, plan.entity.members == nil)
        }
        /// Passes on a row that is compressed as a whole, is damaged, or is of another entity.
        func alone(_ key: Bytes, _ value: Bytes) throws -> Bool {
            try lending {
                let row = try dividedView(value, plan, key, borrowed: borrowed)
                guard try plan._withUnsafeGuaranteedRef({ try row.entity == $0.entityID || isOf($0.entity, row) })
                else { return true }
                return try withUnsafePointer(to: lent(row, plan, key)) {
                    try body(UnsafeBufferPointer(start: $0, count: 1))
                }
            }
        }
        guard !reversed, hasOwnTree, !bounds.comparesWholeKeys else {
            let entity = plan._withUnsafeGuaranteedRef { $0.entity }
            return try walk(entity, bounds, reversed: reversed) { key, value in try alone(key, value()) }
        }
        let context = RowViewContext(self, plan)
        let (id, table, root) = plan._withUnsafeGuaranteedRef { ($0.entityID, $0.table, $0.entity.root) }
        try withUnsafeTemporaryAllocation(of: RowView.self, capacity: RecordTable.rowsAtOnce) { rows in
            try forEachEntry(table, root, bounds) { entries in
                // The long values of these rows are decompressed when they are read.
                let mark = rowMark
                defer { release(to: mark) }
                var count = 0
                for (key, value) in entries {
                    if let row = lazyView(value), row.entity == id,
                        isSound(value, root: root, key, borrowed: borrowed), let lent = RowView(row, context)
                    {
                        rows.initializeElement(at: count, to: lent)
                        count += 1
                        continue
                    }
                    guard try count == 0 || body(UnsafeBufferPointer(rebasing: rows[..<count])) else { return false }
                    count = 0
                    guard try alone(key, value) else { return false }
                }
                return try count == 0 || body(UnsafeBufferPointer(rebasing: rows[..<count]))
            }
        }
    }

    /// Iterates over the entries of a table between the bounds, in batches.
    /// The first batches are small, for callers that need few rows.
    private func forEachEntry(
        _ table: Table, _ root: UInt16, _ bounds: KeyBounds,
        _ body: (Slice<UnsafeMutableBufferPointer<RawCursor.Entry>>) throws -> Bool
    ) throws {
        // Along pages, because locating the next row is cheaper than with liblmdb's cursor.
        var pages = try ForwardScan(raw, table, name: TableName.records(root))
        try bounds.lower.withUnsafeBytes { try pages.seek($0) }
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: RecordTable.rowsAtOnce) { batch in
            var size = RecordTable.rowsAtFirst
            while true {
                let count = try pages.fill(UnsafeMutableBufferPointer(rebasing: batch[..<size]))
                guard count > 0 else { return }
                var inside = count
                while inside > 0, !bounds.isBeforeUpper(batch[inside - 1].key) { inside -= 1 }
                guard try body(batch[..<inside]), inside == count else { return }
                size = min(2 * size, RecordTable.rowsAtOnce)
            }
        }
    }

    /// The batch fits a kilobyte, the limit up to which temporary allocations are on the stack.
    private static let rowsAtFirst = 4, rowsAtOnce = 1024 / MemoryLayout<RowView>.stride

    private func walk(
        _ entity: Catalog.Entity, in range: KeyRange, reversed: Bool, _ body: (Bytes, () throws -> Bytes) throws -> Bool
    ) throws {
        try walk(entity, KeyBounds(range, entity), reversed: reversed, body)
    }

    private func walk(
        _ entity: Catalog.Entity, _ bounds: KeyBounds, reversed: Bool,
        _ body: (Bytes, () throws -> Bytes) throws -> Bool
    ) throws {
        let source = try EntityCursor(self, entity), cursor = source.cursor
        defer { source.close() }
        var entry = try reversed ? last(cursor, bounds) : first(cursor, bounds)
        while let (key, value) = entry {
            guard reversed ? bounds.isFromLower(key) : bounds.isBeforeUpper(key) else { return }
            if try !bounds.needsWholeKey(key) || isInside(bounds, entity, key, source.row(key, value)) {
                guard try body(key, { try source.row(key, value) }) else { return }
            }
            entry = try reversed ? cursor.previous() : cursor.next()
        }
    }

    private func first(_ cursor: RawCursor, _ bounds: KeyBounds) throws -> RawCursor.Entry? {
        if bounds.lower.isEmpty { return try cursor.first() }
        return try bounds.lower.withUnsafeBytes { try cursor.seek($0) }
    }

    /// Returns the last entry before the upper bound.
    private func last(_ cursor: RawCursor, _ bounds: KeyBounds) throws -> RawCursor.Entry? {
        guard let upper = bounds.upper else { return try cursor.last() }
        let behind = try upper.withUnsafeBytes { try cursor.seek($0) }
        return behind == nil ? try cursor.last() : try cursor.previous()
    }

    private func isInside(_ bounds: KeyBounds, _ entity: Catalog.Entity, _ key: Bytes, _ value: Bytes) throws -> Bool {
        try lending {
            guard let whole = try view(value, entity, key).body.key(of: entity) else {
                throw StoreError.damagedRow(entity: entity.name, key: describe(key))
            }
            return bounds.contains(whole)
        }
    }
}
