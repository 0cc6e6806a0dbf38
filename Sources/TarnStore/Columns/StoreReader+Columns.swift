// Aggregates and look-ups by columns.

extension StoreReader {
    /// Returns the least value of a column among the records that meet a query's condition.
    ///
    /// - Returns: the value; nil if no record has one.
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does.
    public func minimum<Record: TypedRecord, Value>(
        of column: KeyPath<Record.Columns, Column<Value>>, _ query: TypedQuery<Record>
    ) throws -> Value? {
        try value(of: column, Record.self, minimum(of: Record.columns[keyPath: column].field.path, query.query))
    }

    /// Returns the greatest value of a column among the records that meet a query's condition.
    ///
    /// - Returns: the value; nil if no record has one.
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does.
    public func maximum<Record: TypedRecord, Value>(
        of column: KeyPath<Record.Columns, Column<Value>>, _ query: TypedQuery<Record>
    ) throws -> Value? {
        try value(of: column, Record.self, maximum(of: Record.columns[keyPath: column].field.path, query.query))
    }

    /// Counts the records that meet a query's condition by their value of a column.
    ///
    /// - Returns: the values in ascending order, with the number of records of each. Records
    ///   without a value are counted under nil, which comes first.
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does; `.groupsTooLarge` if
    ///   there are too many different values to hold.
    public func counts<Record: TypedRecord, Value>(
        by column: KeyPath<Record.Columns, Column<Value>>, _ query: TypedQuery<Record>
    ) throws -> [(value: Value?, count: Int)] {
        try counts(by: Record.columns[keyPath: column].field.path, query.query).map {
            (try value(of: column, Record.self, $0.value), $0.count)
        }
    }

    /// Returns the sum of a column's values among the records that meet a query's condition.
    ///
    /// The query's order, limit, offset and token are ignored. Missing values count as zero.
    ///
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does; `.wrongType` if the sum
    ///   of integers does not fit the type.
    public func sum<Record: TypedRecord, Value: SummableValue>(
        of column: KeyPath<Record.Columns, Column<Value>>, _ query: TypedQuery<Record>
    ) throws -> Value.Sum {
        let path = Record.columns[keyPath: column].field.path
        var total = NumberTotal()
        try forEachNumber(at: path, query.query) { total.add($0) }
        guard let sum = Value.sum(total) else {
            throw StoreError.wrongType(
                entity: Record.entity, field: path.description, expected: "a sum that fits \(Value.Sum.self)",
                found: "a larger one")
        }
        return sum
    }

    /// Returns the mean of a column's values among the records that meet a query's condition.
    ///
    /// The query's order, limit, offset and token are ignored.
    ///
    /// - Returns: the mean of the values that are not missing; nil if there are none.
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does.
    public func average<Record: TypedRecord, Value: SummableValue>(
        of column: KeyPath<Record.Columns, Column<Value>>, _ query: TypedQuery<Record>
    ) throws -> Double? {
        var total = NumberTotal()
        try forEachNumber(at: Record.columns[keyPath: column].field.path, query.query) { total.add($0) }
        return total.mean
    }

    /// Calls a closure with every number at a path that is not missing.
    private func forEachNumber(at path: FieldPath, _ query: Query, _ body: (TarnStore.Value) -> Void) throws {
        let wanted = Query(query.entity, where: query.condition, partials: query.partials)
        let compiled = try CompiledQuery(wanted, access.state), place = try compiled.place(path)
        let run = try QueryRun(access, compiled)
        try run.forEach { key, row in
            run.evaluation.begin()
            if let value = try run.decodedValue(at: place, key, row.body) { body(value) }
            return true
        }
    }

    /// Decodes a value of a column.
    ///
    /// - Throws: `StoreError.wrongType` if the value is of another type.
    private func value<Record: TypedRecord, Value>(
        of column: KeyPath<Record.Columns, Column<Value>>, _ record: Record.Type, _ value: TarnStore.Value?
    ) throws -> Value? {
        guard let value, value != .null else { return nil }
        let context = RowViewContext(access.records, try access.plan(record))
        guard let typed = value.withEncoded({ Value(ValueView($0.bytes, context)) }) else {
            throw StoreError.wrongType(
                entity: Record.entity, field: Record.columns[keyPath: column].field.path.description,
                expected: "\(Value.self)", found: value.typeName)
        }
        return typed
    }
}
