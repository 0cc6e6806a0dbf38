// The records that the evaluation of a condition reads besides the row itself.

/// The records behind relationships: those of a transaction, or of a file that is only read.
package protocol QueryRecords: RecordSource {
    /// Whether an uncompressed row stays in place after the `lending` closure that read it.
    var keepsRowsInPlace: Bool { get }
    /// Runs a closure. Rows that are read in it are valid until it returns.
    func lending<Result>(_ body: () throws -> Result) rethrows -> Result
    /// Iterates over the storage keys of a relationship's targets, until the closure returns false.
    func targets(of key: Bytes, _ relationship: Catalog.Relationship, _ body: (Bytes) throws -> Bool) throws
    /// Returns the row of a record; nil if it is missing.
    func row(_ entity: Catalog.Entity, _ key: Bytes) throws -> EncodedRow?
}

extension StoreAccess: QueryRecords {
    package var keepsRowsInPlace: Bool { true }

    package func row(_ entity: Catalog.Entity, _ key: Bytes) throws -> EncodedRow? { try records.row(entity, key) }
}

/// A condition on the records of one entity, for rows that are read outside of a store.
package final class RecordFilter {
    private let evaluation: QueryEvaluation

    /// Compiles a condition against the catalog of the source.
    ///
    /// - Throws: `.unknownField`, `.wrongType`, `.leadsToSeveral`.
    package init(_ condition: Condition, of entity: Catalog.Entity, _ source: any QueryRecords) throws(StoreError) {
        var places = QueryPlaces(source.catalog, entity)
        let node = try places.node(condition)
        evaluation = QueryEvaluation(source, places, QueryFilter(node, places))
    }

    /// Returns whether a row meets the condition.
    ///
    /// - Throws: `StoreError` if a list that the condition reads is damaged.
    package func admits(_ key: Bytes, _ row: EncodedRow) throws -> Bool {
        evaluation.begin()
        return try evaluation.admits(key, row.body)
    }
}
