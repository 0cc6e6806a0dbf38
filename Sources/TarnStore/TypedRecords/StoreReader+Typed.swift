// Reads of records as structs or as borrowed rows.

internal import LMDB

extension StoreReader {
    /// Returns a record as a struct, or nil if it does not exist.
    ///
    /// - Throws: `StoreError`: `.unknownEntity`, `.unknownField` and `.wrongKey` if the type does
    ///   not fit the catalog; `.missingValue`, `.unreadableValue` as ``Row/get(_:as:)``;
    ///   `.damagedRow`, `.lmdb`.
    @inlinable
    public func get<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws(StoreError) -> Record? {
        let mark = rowMark
        defer { release(to: mark) }
        let plan = try plan(type)
        let lent = try key.withStorageKey { storageKey throws(StoreError) in
            try find(storageKey, plan, borrowed: false) { key.recordKey }
        }
        return try lent.map { lent throws(StoreError) in try Row<Record>(lent).copy() }
    }

    /// Returns records as structs, in the order of `keys`; nil for each that does not exist.
    ///
    /// - Throws: as ``get(_:_:)-(_,Record.Key)``.
    public func get<Record: StoredRecord>(
        _ type: Record.Type, _ keys: some Sequence<Record.Key>
    ) throws(StoreError) -> [Record?] {
        let plan = try access.plan(type), table = plan._withUnsafeGuaranteedRef { $0.table }
        let raw = access.raw
        let cursor = try translating { () throws(LMDBError) in try raw.cursor(table) }
        defer { cursor.close() }
        var records: [Record?] = []
        for key in keys {
            let mark = rowMark
            defer { release(to: mark) }
            try access.checkForm(plan) { key.recordKey }
            let lent = try key.withStorageKey { storageKey throws(StoreError) -> RowView? in
                let entry = try translating { () throws(LMDBError) in try cursor.find(storageKey) }
                guard let entry else { return try findReplaced(storageKey, plan, borrowed: false) }
                return try access.records.lend(entry.value, plan, sought: storageKey, borrowed: false) {
                    $0 == key.recordKey
                }
            }
            records.append(try lent.map { lent throws(StoreError) in try Row<Record>(lent).copy() })
        }
        return records
    }

    /// Returns the borrowed row of a record, or nil if it does not exist. Nothing is copied.
    ///
    /// A compressed row is decompressed. Its memory is held until the transaction ends, or until
    /// the end of the enclosing closure of a walk. For many rows use ``withRow(_:_:_:)`` or
    /// ``forEach(_:in:reversed:_:)``.
    ///
    /// - Throws: as ``get(_:_:)-(_,Record.Key)``, except for the errors of values.
    @inlinable
    @_lifetime(copy self)
    public func row<Record: StoredRecord>(_ type: Record.Type, _ key: Record.Key) throws(StoreError) -> Row<Record>? {
        let plan = try plan(type)
        let lent = try key.withStorageKey { storageKey throws(StoreError) in
            try find(storageKey, plan, borrowed: true) { key.recordKey }
        }
        guard let lent else { return nil }
        return _overrideLifetime(Row(lent), copying: self)
    }

    /// Calls a closure with the borrowed row of a record, and returns its result.
    ///
    /// The memory of a compressed row is reused afterwards.
    ///
    /// - Returns: the result of the closure; nil if the record does not exist.
    /// - Throws: the errors of the closure, and as ``row(_:_:)``.
    @inlinable
    public func withRow<Record: StoredRecord, Result>(
        _ type: Record.Type, _ key: Record.Key, _ body: (Row<Record>) throws -> Result
    ) throws -> Result? {
        let mark = rowMark
        defer { release(to: mark) }
        guard let row = try row(type, key) else { return nil }
        return try body(row)
    }

    /// Calls a closure with the borrowed row of every record of an entity, in key order.
    ///
    /// If `reversed` is true, the keys descend.
    ///
    /// - Throws: the errors of the closure; `StoreError` if the type or the range does not fit the
    ///   catalog, or a row is damaged.
    @inlinable
    public func forEach<Record: StoredRecord>(
        _ type: Record.Type, in range: KeyRange = .all, reversed: Bool = false, _ body: (Row<Record>) throws -> Void
    ) throws {
        try forEach(type, in: range, reversed: reversed) { row in
            try body(row)
            return true
        }
    }

    /// Calls a closure with borrowed rows of an entity in key order, until it returns false.
    @inlinable
    public func forEach<Record: StoredRecord>(
        _ type: Record.Type, in range: KeyRange = .all, reversed: Bool = false, _ body: (Row<Record>) throws -> Bool
    ) throws {
        try forEachLent(plan(type), range, reversed, borrowed: true) { rows in
            for row in rows {
                guard try body(Row(row)) else { return false }
            }
            return true
        }
    }

    /// Returns copies of at most `limit` records of an entity, in key order.
    ///
    /// If `reversed` is true, the keys descend.
    ///
    /// - Throws: `StoreError` as ``get(_:_:)-(_,Record.Key)``; `.wrongKey` if the range does not
    ///   fit.
    public func fetch<Record: StoredRecord>(
        _ type: Record.Type, in range: KeyRange = .all, reversed: Bool = false, limit: Int = .max
    ) throws -> [Record] {
        var records: [Record] = []
        guard limit > 0 else { return records }
        try forEachLent(plan(type), range, reversed, borrowed: false) { rows in
            for row in rows {
                records.append(try Row<Record>(row).copy())
                guard records.count < limit else { return false }
            }
            return true
        }
        return records
    }

    /// Returns the number of records of an entity.
    ///
    /// The count of all records is LMDB's own; a range is walked over.
    public func count<Record: StoredRecord>(_ type: Record.Type, in range: KeyRange = .all) throws -> Int {
        let entity = try access.plan(type)._withUnsafeGuaranteedRef { $0.entity }
        return try access.records.count(entity, in: range)
    }

    /// Calls a closure with the borrowed rows of a relationship's targets, in its order.
    ///
    /// Missing targets are skipped; ``forEachRelated(_:_:_:_:)`` reports them, too.
    ///
    /// - Parameter relationship: the name of the relationship, stored or derived, as declared on
    ///   the record.
    /// - Throws: the errors of the closure; `StoreError.unknownField` if there is no such
    ///   relationship, `.wrongType` if it leads to another entity, otherwise as ``row(_:_:)``.
    @inlinable
    public func forEachRelated<Record: StoredRecord, Target: StoredRecord>(
        _ type: Record.Type, _ key: Record.Key, _ relationship: String, to target: Target.Type,
        _ body: (Row<Target>) throws -> Void
    ) throws {
        let plan = try plan(type), targets = try self.plan(target)
        try key.withStorageKey { storageKey in
            try forEachLentTarget(of: storageKey, plan, { key.recordKey }, relationship, targets) { row in
                try body(Row(row))
            }
        }
    }

    // MARK: - Entry points of inlined code

    @usableFromInline
    func forEachLent(
        _ plan: Unmanaged<RowPlan>, _ range: KeyRange, _ reversed: Bool, borrowed: Bool,
        _ body: (UnsafeBufferPointer<RowView>) throws -> Bool
    ) throws {
        try access.records.forEachRow(plan, in: range, reversed: reversed, borrowed: borrowed, body)
    }

    @usableFromInline
    func forEachLentTarget(
        of storageKey: UnsafeRawBufferPointer, _ plan: Unmanaged<RowPlan>, _ key: () -> RecordKey,
        _ relationship: String, _ targets: Unmanaged<RowPlan>, _ body: (RowView) throws -> Void
    ) throws {
        let (destination, id, table) = targets._withUnsafeGuaranteedRef { ($0.entity, $0.entityID, $0.table) }
        let followed = try plan._withUnsafeGuaranteedRef { plan throws(StoreError) in
            let followed = try plan.relationship(relationship)
            guard followed.destination.id == destination.id else {
                throw StoreError.wrongType(
                    entity: plan.entity.name, field: relationship, expected: destination.name,
                    found: followed.destination.name)
            }
            return followed
        }
        try access.checkForm(plan, key)
        let records = access.records
        func visit(_ storageKey: Bytes, _ bytes: Bytes) throws -> Bool {
            try records.lending {
                let row = try records.dividedView(bytes, targets, storageKey, borrowed: true)
                guard try row.entity == id || records.isOf(destination, row) else { return true }
                try body(records.lent(row, targets, storageKey))
                return true
            }
        }
        func follow(_ storageKey: Bytes) throws {
            guard let index = followed.index else {
                // Targets of a stored relationship may be in memory that the next one reuses.
                return try access.targets(of: storageKey, followed.relationship) { target in
                    guard let bytes = try records.stored(target, in: table, root: destination.root) else { return true }
                    return try visit(target, bytes)
                }
            }
            try records.byKey(table, root: destination.root, readsWholeRows: false) { rows in
                try access.indexes.forEachReferrer(of: storageKey, through: index, positioned: followed.isPositioned) {
                    try rows.append($0, visit)
                }
                try rows.flush(visit)
            }
        }
        if let known = try replacement(of: storageKey, plan) {
            try known.withUnsafeBytes(follow)
        } else {
            try follow(storageKey)
        }
    }

    /// Returns the storage key that has replaced a temporary one, as `StoreAccess` does.
    func replacement(of storageKey: UnsafeRawBufferPointer, _ plan: Unmanaged<RowPlan>) throws -> [UInt8]? {
        // Without aliases the entity is not copied.
        guard access.state.outbox != nil else { return nil }
        return try access.replacement(of: storageKey, plan._withUnsafeGuaranteedRef { $0.entity })
    }

    @usableFromInline
    func plan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        try access.plan(type)
    }

    @usableFromInline
    var rowMark: Int { access.rowMark }

    @usableFromInline
    func release(to mark: Int) { access.release(to: mark) }

    @usableFromInline
    func find(
        _ storageKey: UnsafeRawBufferPointer, _ plan: Unmanaged<RowPlan>, borrowed: Bool, _ key: () -> RecordKey
    ) throws(StoreError) -> RowView? {
        try access.checkForm(plan, key)
        // The transaction alone: a copy of the table would count references.
        let (table, root) = plan._withUnsafeGuaranteedRef { ($0.table, $0.root) }, raw = access.raw
        let bytes = try translating { () throws(LMDBError) in
            try raw.get(table, storageKey, name: TableName.records(root))
        }
        guard let bytes else { return try findReplaced(storageKey, plan, borrowed: borrowed) }
        return try access.records.lend(bytes, plan, sought: storageKey, borrowed: borrowed) { $0 == key() }
    }

    /// Finds the record whose temporary key was replaced by the server's.
    @inline(never)
    private func findReplaced(
        _ storageKey: UnsafeRawBufferPointer, _ plan: Unmanaged<RowPlan>, borrowed: Bool
    ) throws(StoreError) -> RowView? {
        let (table, root) = plan._withUnsafeGuaranteedRef { ($0.table, $0.root) }, records = access.records
        guard let known = try access.outbox.replacement(root, storageKey) else { return nil }
        // The array's own closure cannot throw a typed error.
        return try known.withUnsafeBytes { known in
            Result { () throws(StoreError) -> RowView? in
                let bytes = try translating { () throws(LMDBError) in try records.stored(known, in: table, root: root) }
                guard let bytes else { return nil }
                return try access.records.lend(bytes, plan, sought: known, borrowed: borrowed) { _ in true }
            }
        }.get()
    }
}

extension StoreAccess {
    /// Checks the form of a key. For key types with a single form the plan has already done it.
    ///
    /// - Throws: `.wrongKey` if the key is not of the entity's form.
    func checkForm(_ plan: Unmanaged<RowPlan>, _ key: () -> RecordKey) throws(StoreError) {
        guard plan._withUnsafeGuaranteedRef({ $0.checksEveryKey }) else { return }
        try checkForm(of: key(), plan._withUnsafeGuaranteedRef { $0.entity })
    }
}

/// Translates errors of LMDB to errors of the store.
@inline(__always)
func translating<Result>(_ body: () throws(LMDBError) -> Result) throws(StoreError) -> Result {
    do throws(LMDBError) {
        return try body()
    } catch {
        throw .lmdb(error)
    }
}
