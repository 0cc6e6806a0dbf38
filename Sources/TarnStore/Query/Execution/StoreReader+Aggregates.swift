// Aggregates of a query's records: count, minimum, maximum, groups.

extension StoreReader {
    /// Returns the number of records that ``fetch(_:)-(Query)`` would return.
    ///
    /// The count of all records of an entity is LMDB's own. If an index answers the condition, no
    /// row is read.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func count(_ query: Query) throws -> Int {
        var query = query
        if query.after == nil { query.order = [] }
        let compiled = try CompiledQuery(query, access.state)
        if case .always = compiled.node, compiled.partials == .included, compiled.after == nil {
            return max(0, min(try access.records.count(compiled.entity) - compiled.offset, compiled.limit))
        }
        let count = try QueryRun(access, compiled, for: .counting).count(upTo: compiled.reach)
        return max(0, min(count - compiled.offset, compiled.limit))
    }

    /// Returns the least value at a path among the records that meet a query's condition.
    ///
    /// The query's order, limit, offset and token are ignored. For a path that ignores case the
    /// result is the folded text.
    ///
    /// - Returns: the value; nil if no record has one.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func minimum(of path: FieldPath, _ query: Query) throws -> Value? {
        try extreme(of: path, query, greatest: false)
    }

    /// Returns the greatest value at a path among the records that meet a query's condition.
    ///
    /// The query's order, limit, offset and token are ignored. For a path that ignores case the
    /// result is the folded text.
    ///
    /// - Returns: the value; nil if no record has one.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func maximum(of path: FieldPath, _ query: Query) throws -> Value? {
        try extreme(of: path, query, greatest: true)
    }

    private func extreme(of path: FieldPath, _ query: Query, greatest: Bool) throws -> Value? {
        let wanted = Query(
            query.entity, where: .and([query.condition, .not(.isMissing(path))]),
            sortedBy: [Query.Order(path, descending: greatest)], limit: 1, partials: query.partials)
        let run = try QueryRun(access, CompiledQuery(wanted, access.state))
        var result: Value?
        try run.forEach { key, row in
            run.evaluation.begin()
            result = try run.decodedValue(at: run.query.order[0].place, key, row.body)
            return false
        }
        return result
    }

    /// Counts the records that meet a query's condition by their value at a path.
    ///
    /// The query's order, limit, offset and token are ignored.
    ///
    /// - Returns: the values in ascending order, with the number of records of each. Records
    ///   without a value come first, as `.null`.
    /// - Throws: as ``fetch(_:)-(Query)``; `.groupsTooLarge` if there are too many different values
    ///   to hold.
    public func counts(by path: FieldPath, _ query: Query) throws -> [(value: Value, count: Int)] {
        let wanted = Query(query.entity, where: query.condition, partials: query.partials)
        let compiled = try CompiledQuery(wanted, access.state)
        let place = try compiled.place(path)
        let planner = try QueryPlanner(access, compiled, for: .counting)
        if let path = try planner.grouping(by: place) {
            let chosen = QueryAccess(form: .path(path), residual: .always, isOrdered: false)
            return try GroupCounting(run: QueryRun(access, planner.query, chosen), place: place).count(along: path)
        }
        if let references = try planner.groupingReferences(of: place) {
            return try GroupCounting(run: QueryRun(access, compiled), place: place).count(alongReferences: references)
        }
        return try GroupCounting(run: QueryRun(access, compiled), place: place).count()
    }
}

extension QueryRun {
    /// Returns a copy of the value at a place; nil if it is missing.
    func decodedValue(at place: Int, _ key: Bytes, _ row: RowBody) throws -> Value? {
        guard let value = try evaluation.value(at: place, key, row) else { return nil }
        let destination: Catalog.Entity? = if case .toOne(let entity) = query.places[place].kind { entity } else { nil }
        let encoded = evaluation.isFolded(place) ? evaluation.fold(value) : value
        return try access.decoded(encoded) { digest in
            try destination.flatMap { try access.wholeKey($0, ofDigest: digest) }
        }
    }
}
