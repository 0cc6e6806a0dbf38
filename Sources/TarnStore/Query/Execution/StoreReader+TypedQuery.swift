// Queries in a snapshot that return structs or borrowed rows.

extension StoreReader {
    /// Returns copies of the records of a query, in its order.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    @inlinable
    public func fetch<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> [Record] {
        try fetch(Record.self, query.query)
    }

    /// Calls a closure with the borrowed row of each record of a query, in its order.
    ///
    /// Nothing is copied. It stops when the closure returns false.
    ///
    /// - Throws: the errors of the closure; `StoreError`, as ``fetch(_:_:)`` does.
    @inlinable
    public func forEach<Record: StoredRecord>(_ query: TypedQuery<Record>, _ body: (Row<Record>) throws -> Bool) throws
    {
        try forEach(Record.self, query.query, body)
    }

    /// Calls a closure with the borrowed row of every record of a query, in its order.
    @inlinable
    public func forEach<Record: StoredRecord>(_ query: TypedQuery<Record>, _ body: (Row<Record>) throws -> Void) throws
    {
        try forEach(Record.self, query.query) { row in
            try body(row)
            return true
        }
    }

    /// Returns the first record of a query, in its order; nil if there is none.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func first<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Record? {
        try fetch(query.prefix(1)).first
    }

    /// Returns the records of a query up to its limit, and the token of the next page.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func page<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> TypedQueryPage<Record> {
        try page(Record.self, query.query)
    }

    /// Returns the number of records that ``fetch(_:)-(TypedQuery<Record>)`` would return.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func count<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Int { try count(query.query) }

    /// Returns whether a query has any record; it stops at the first.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func exists<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Bool { try exists(query.query) }

    // MARK: - With a type argument

    /// Returns copies of the records of a query, in its order.
    ///
    /// The query has to be for the entity of the type.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``, and if the type does not fit the catalog, as
    ///   ``get(_:_:)-(_,Record.Key)``.
    @inlinable
    public func fetch<Record: StoredRecord>(_ type: Record.Type, _ query: Query) throws -> [Record] {
        var records: [Record] = []
        if let limit = query.limit { records.reserveCapacity(min(limit, 256)) }
        try forEachLent(Record.entity, plan(type), query) { row in
            records.append(try Row<Record>(row).copy())
            return true
        }
        return records
    }

    /// Calls a closure with the borrowed row of each record of a query, in its order.
    ///
    /// Nothing is copied. It stops when the closure returns false.
    ///
    /// - Throws: the errors of the closure, and as ``fetch(_:_:)``.
    @inlinable
    func forEach<Record: StoredRecord>(
        _ type: Record.Type, _ query: Query, _ body: (Row<Record>) throws -> Bool
    ) throws {
        try forEachLent(Record.entity, plan(type), query) { row in try body(Row(row)) }
    }

    /// The entry point of inlined code, which knows the type and decodes without witness tables.
    @usableFromInline
    func forEachLent(
        _ entity: String, _ plan: Unmanaged<RowPlan>, _ query: Query, _ body: (RowView) throws -> Bool
    ) throws {
        checkEntity(entity, query)
        let access = access
        try QueryRun(access, CompiledQuery(query, access.state)).forEach { key, view in
            try body(access.records.lent(view, plan, key))
        }
    }

    /// Returns the records of a query up to its limit, and the token of the next page.
    ///
    /// - Throws: as ``fetch(_:_:)``.
    func page<Record: StoredRecord>(_ type: Record.Type, _ query: Query) throws -> TypedQueryPage<Record> {
        checkEntity(Record.entity, query)
        let plan = try access.plan(type)
        var records: [Record] = []
        let next = try page(query) { _, key, view in
            records.append(try Row<Record>(access.records.lent(view, plan, key)).copy())
        }
        return TypedQueryPage(records: records, next: next)
    }

    private func checkEntity(_ entity: String, _ query: Query) {
        precondition(
            query.entity == entity, "the query is for \(query.entity), but the struct is for \(entity)")
    }
}
