// Checks of single records against a query.

/// A check that a record found earlier is still in the result of a query.
package struct RecordCheck {
    private let access: StoreAccess
    private let query: CompiledQuery
    private let evaluation: QueryEvaluation

    /// Compiles a query.
    ///
    /// - Throws: `StoreError` if the query does not fit the catalog.
    package init(_ access: StoreAccess, _ query: Query) throws {
        try self.init(access, CompiledQuery(query, access.state))
    }

    init(_ access: StoreAccess, _ query: CompiledQuery) throws {
        let query = try query.withPresentKeys(access)
        self.access = access
        self.query = query
        evaluation = QueryEvaluation(access, query.places, QueryFilter(query.node, query.places))
    }

    /// Whether a record exists and meets the condition.
    package func admits(_ record: ListedRecord) throws -> Bool {
        try record.storageKey.withUnsafeBytes { key in try access.lending { try row(key) != nil } }
    }

    /// Returns the row of a record; nil if it does not exist or does not meet the condition.
    ///
    /// The row is valid until the `lending` closure around the call returns.
    func row(_ key: Bytes) throws -> EncodedRow? {
        guard let row = try access.records.row(query.entity, key) else { return nil }
        if query.partials != .included, row.isPartial != (query.partials == .only) { return nil }
        evaluation.begin()
        return try evaluation.admits(key, row.body) ? row : nil
    }
}
