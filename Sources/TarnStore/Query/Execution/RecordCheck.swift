// Looking at single records by a query.

internal import LMDB

/// Whether a record that was found earlier is in the result of a query now.
package struct RecordCheck {
    private let access: StoreAccess
    private let query: CompiledQuery
    private let evaluation: QueryEvaluation

    /// - Throws: `StoreError` if the query does not fit the catalog.
    package init(_ access: StoreAccess, _ query: Query) throws { try self.init(access, CompiledQuery(query, access.state)) }

    init(_ access: StoreAccess, _ query: CompiledQuery) {
        self.access = access
        self.query = query
        evaluation = QueryEvaluation(access, query.places, QueryFilter(query.node, query.places))
    }

    /// The row of the record; nil if it is not there, or does not meet the condition. Valid until the `lending` closure around
    /// the call returns.
    package func row(_ key: Bytes) throws -> RowView? {
        guard let row = try access.row(query.entity, key) else { return nil }
        if query.partials != .included, row.isPartial != (query.partials == .only) { return nil }
        evaluation.begin()
        return try evaluation.admits(key, row.body) ? row : nil
    }
}
