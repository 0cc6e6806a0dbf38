// Reading records by their values in an index.

extension StoreReader {
    /// Iterates over the records with given values in an index, until the closure returns false.
    ///
    /// The order is that of the index.
    ///
    /// - Parameters:
    ///   - index: The name of an indexed attribute or of a declared index.
    ///   - values: The values of the index's components, in their order. With fewer values than
    ///     components, all records that begin with them are found. Null finds records in which the
    ///     attribute is null or absent. If the index ignores case, so does the search.
    /// - Throws: The errors of the closure; `StoreError.unknownEntity`; `.unknownField` if there is
    ///   no such index; `.wrongType` if a value does not have its attribute's type;
    ///   `.indexIncomplete` while the index is being built; `.damagedRow`.
    public func forEach(
        _ entity: String, index: String, equalTo values: [Value], _ body: (TarnStore.Record) throws -> Bool
    ) throws {
        let entity = try access.state.entity(entity)
        try access.indexes.forEachRow(entity, index: index, equalTo: values) { key, row in
            try body(access.record(entity, key, row))
        }
    }

    /// Returns the first record with given values in an index. Nil if there is none.
    ///
    /// In a unique index it is the only one.
    ///
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``.
    public func first(_ entity: String, index: String, equalTo values: [Value]) throws -> TarnStore.Record? {
        var found: TarnStore.Record?
        try forEach(entity, index: index, equalTo: values) { record in
            found = record
            return false
        }
        return found
    }

    /// Iterates over borrowed rows with given values in an index, until the closure returns false.
    ///
    /// The order is that of the index.
    ///
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``. Also an error if the
    ///   type does not fit the catalog.
    func forEach<Record: StoredRecord>(
        _ type: Record.Type, index: String, equalTo values: [Value], _ body: (Row<Record>) throws -> Bool
    ) throws {
        let plan = try access.plan(type), entity = plan._withUnsafeGuaranteedRef { $0.entity }
        try access.indexes.forEachRow(entity, index: index, equalTo: values) { key, view in
            try body(Row(access.records.lent(view, plan, key)))
        }
    }

    /// Returns copies of the records with given values in an index, in its order.
    ///
    /// - Parameter limit: The largest number of records.
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``. Also an error if the
    ///   type does not fit the catalog.
    public func fetch<Record: StoredRecord>(
        _ type: Record.Type, index: String, equalTo values: [Value], limit: Int = .max
    ) throws -> [Record] {
        var records: [Record] = []
        guard limit > 0 else { return records }
        try forEach(type, index: index, equalTo: values) { row in
            records.append(try row.copy())
            return records.count < limit
        }
        return records
    }
}
