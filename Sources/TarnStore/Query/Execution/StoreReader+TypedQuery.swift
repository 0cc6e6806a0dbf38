// Queries in a snapshot with a `TypedQuery`: its type makes a type argument unnecessary.

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
}
