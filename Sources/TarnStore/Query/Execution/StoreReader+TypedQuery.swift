// Asking a snapshot with a `TypedQuery`: the value says the type, so it is not named again.

extension StoreReader {
    /// Copies of the records of a query, in its order.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    @inlinable
    public func fetch<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> [Record] {
        try fetch(Record.self, query.query)
    }

    /// The rows of the records of a query in its order, lent: nothing is copied. Until the closure returns false.
    ///
    /// - Throws: what the closure throws; `StoreError`, as ``fetch(_:_:)`` does.
    @inlinable
    public func forEach<Record: StoredRecord>(_ query: TypedQuery<Record>, _ body: (Row<Record>) throws -> Bool) throws {
        try forEach(Record.self, query.query, body)
    }

    /// The same for all of them.
    @inlinable
    public func forEach<Record: StoredRecord>(_ query: TypedQuery<Record>, _ body: (Row<Record>) throws -> Void) throws {
        try forEach(Record.self, query.query) { row in
            try body(row)
            return true
        }
    }

    /// The first record of a query, in its order; nil if there is none.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func first<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Record? {
        try fetch(query.prefix(1)).first
    }

    /// The records of a query up to its limit, and where the next page begins.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func page<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> TypedQueryPage<Record> {
        try page(Record.self, query.query)
    }

    /// The number of records that ``fetch(_:)-(TypedQuery<Record>)`` would give.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func count<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Int { try count(query.query) }

    /// Whether a query has any record. Stops at the first.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:_:)`` does.
    public func exists<Record: StoredRecord>(_ query: TypedQuery<Record>) throws -> Bool { try exists(query.query) }
}
