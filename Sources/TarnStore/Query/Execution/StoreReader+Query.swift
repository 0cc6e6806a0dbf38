// Queries in a snapshot that return records with dynamic values.

extension StoreReader {
    /// Returns copies of the records of a query, in its order.
    ///
    /// - Throws: `StoreError`: `.unknownEntity`, `.unknownField`, `.wrongType` and
    ///   `.leadsToSeveral` if the query does not fit the catalog; `.wrongToken`; `.sortTooLarge` if
    ///   too many records have to be sorted in memory; `.damagedRow`.
    public func fetch(_ query: Query) throws -> [TarnStore.Record] {
        var records: [TarnStore.Record] = []
        try forEach(query) { record in
            records.append(record)
            return true
        }
        return records
    }

    /// Calls a closure with a copy of each record of a query, in its order, until it returns false.
    ///
    /// - Throws: the errors of the closure, and as ``fetch(_:)-(Query)``.
    public func forEach(_ query: Query, _ body: (TarnStore.Record) throws -> Bool) throws {
        let run = try QueryRun(access, CompiledQuery(query, access.state))
        try run.forEach { key, row in try body(access.record(run.query.entity, key, row)) }
    }

    /// Returns the records of a query up to its limit, and the token of the next page.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func page(_ query: Query) throws -> QueryPage {
        var records: [TarnStore.Record] = []
        let next = try page(query) { run, key, row in records.append(try access.record(run.query.entity, key, row)) }
        return QueryPage(records: records, next: next)
    }

    /// Calls a closure with the records of a query up to its limit, and returns the token of the
    /// next page.
    ///
    /// Unlike ``page(_:)-(Query)``, it holds one record at a time.
    ///
    /// - Parameter names: the fields that the records have; others are not decoded. Nil for all.
    /// - Throws: the errors of the closure, and as ``fetch(_:)-(Query)``.
    package func forEachOfPage(
        _ query: Query, only names: [String]? = nil, _ body: (TarnStore.Record) throws -> Void
    ) throws -> ContinuationToken? {
        try page(query) { run, key, row in try body(access.record(run.query.entity, key, row, only: names)) }
    }

    /// Calls a closure with the records of a query as JSON objects in UTF-8, and returns the token
    /// of the next page.
    ///
    /// Values are as `Value.jsonText` has them. The text is written from the bytes of the rows. It
    /// is valid until the closure returns.
    ///
    /// - Parameter shape: the members; those of ``Record/fields`` by default.
    /// - Throws: as ``forEachOfPage(_:_:)``, and `StoreError.unknownField` for an included name
    ///   that is no relationship.
    package func forEachJSONOfPage(
        _ query: Query, _ shape: JSONShape = JSONShape(), _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> ContinuationToken? {
        var json = RecordJSON(access, shape)
        return try page(query) { run, key, row in try json.write(key, row, entity: run.query.entity, body) }
    }

    /// Counts the records of a query, without its order, limit and offset, for a limited time.
    ///
    /// - Returns: the count, and whether it is complete.
    package func count(_ query: Query, within time: Duration) throws -> (count: Int, isComplete: Bool) {
        if query.condition == .all, query.partials == .included { return (try count(query.entity), true) }
        var query = Query(query.entity, where: query.condition, partials: query.partials)
        query.limit = nil
        let end = ContinuousClock.now + time
        var count = 0, isComplete = true
        try QueryRun(access, CompiledQuery(query, access.state)).forEach { _, _ in
            count += 1
            isComplete = count & 0xFF != 0 || ContinuousClock.now < end
            return isComplete
        }
        return (count, isComplete)
    }

    /// Returns whether a query has any record; it stops at the first.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func exists(_ query: Query) throws -> Bool {
        var query = query, isFound = false
        query.order = query.after == nil ? [] : query.order
        query.limit = min(query.limit ?? 1, 1)
        try QueryRun(access, CompiledQuery(query, access.state)).forEach { _, _ in
            isFound = true
            return false
        }
        return isFound
    }

    /// Calls a closure with the records of a page, and returns the token of the next page.
    func page(_ query: Query, _ body: (QueryRun, Bytes, EncodedRow) throws -> Void) throws -> ContinuationToken? {
        guard let limit = query.limit else {
            let run = try QueryRun(access, CompiledQuery(query, access.state))
            try run.forEach { key, row in
                try body(run, key, row)
                return true
            }
            return nil
        }
        guard limit > 0 else {
            // It throws as for any other limit, and a negative one traps.
            _ = try CompiledQuery(query, access.state)
            return query.after
        }
        // One record beyond the limit shows that there is a next page.
        var longer = query
        longer.limit = limit < .max ? limit + 1 : limit
        let run = try QueryRun(access, CompiledQuery(longer, access.state))
        var count = 0, hasMore = false, last = ByteWriter(capacity: 256), sortKeyLength = 0
        try run.forEach { key, row in
            guard count < limit else {
                hasMore = true
                return false
            }
            count += 1
            if count == limit {
                run.evaluation.begin()
                sortKeyLength = try run.evaluation.appendPosition(run.query.order, key, row.body, to: &last)
            }
            try body(run, key, row)
            return true
        }
        guard hasMore else { return nil }
        return ContinuationToken(fingerprint: query.fingerprint, position: last.bytes, sortKeyLength: sortKeyLength)
    }

    /// Returns the plan of a query, without reading records.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func explain(_ query: Query) throws -> QueryPlan {
        let compiled = try CompiledQuery(query, access.state)
        return try QueryPlanner(access, compiled).explanation()
    }
}
