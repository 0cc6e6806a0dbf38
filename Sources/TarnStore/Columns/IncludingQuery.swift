/// A typed query with the targets of relationships, as a value.
///
/// It is made by ``TypedQuery/include(_:)``.
public struct IncludingQuery<Record: TypedRecord, each Column: RelationshipColumn>: Sendable {
    /// The query of the records.
    public let records: TypedQuery<Record>
    @usableFromInline let columns: (repeat each Column)

    init(_ records: TypedQuery<Record>, _ columns: repeat each Column) {
        self.records = records
        self.columns = (repeat each columns)
    }
}

extension StoreReader {
    /// Returns copies of the records of a query in its order, with the targets of relationships.
    ///
    /// The rows are read once. Then the targets of each relationship are read in the order of their
    /// keys, and decoded once, however many records refer to them. Missing targets, and partial
    /// ones that lack what their type requires, are left out.
    ///
    /// - Returns: a tuple for each record: the record, then what each column includes.
    /// - Throws: `StoreError`, as ``fetch(_:)-(TypedQuery<Record>)`` does; `.unknownField` if there
    ///   is no such relationship, `.wrongType` if it leads to another entity.
    @inlinable
    public func fetch<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>
    ) throws -> [(Record, repeat (each Column).Included)] {
        var next: ContinuationToken?
        var results = try results(query, isPage: false, next: &next)
        return results.takeTuples()
    }

    /// Returns the records of a query, and the targets of its relationships.
    ///
    /// - Parameter next: set to the token of the next page, if it is a page.
    @inlinable
    func results<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>, isPage: Bool, next: inout ContinuationToken?
    ) throws -> IncludingResults<Record, repeat each Column> {
        let plan = try plan(Record.self)
        let paths = (repeat try path(each query.columns, plan))
        var first: [RelatedKeys] = []
        for path in repeat each paths { first.append(path.first) }
        var records: [Record] = []
        let plain = query.records.query
        if let limit = plain.limit { records.reserveCapacity(min(limit, 256)) }
        if isPage {
            next = try pageLent(plan, plain, addingTo: first) { row in records.append(try Row<Record>(row).copy()) }
        } else {
            try forEachLent(plan, plain, addingTo: first) { row in records.append(try Row<Record>(row).copy()) }
        }
        return IncludingResults(records: records, targets: (repeat try (each paths).load()))
    }

    @usableFromInline
    func path<Column: RelationshipColumn>(
        _ column: Column, _ owner: Unmanaged<RowPlan>
    ) throws -> IncludedPath<Column.Target> {
        try IncludedPath(self, owner, column.names)
    }

    /// Returns a page of a query with the targets of relationships, and the token of the next one.
    ///
    /// - Throws: as ``fetch(_:)-(IncludingQuery<Record,_>)``.
    public func page<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>
    ) throws -> (records: [(Record, repeat (each Column).Included)], next: ContinuationToken?) {
        var next: ContinuationToken?
        var results = try results(query, isPage: true, next: &next)
        return (results.takeTuples(), next)
    }

    /// The entry point of inlined code, for the records of one page.
    @usableFromInline
    func pageLent(
        _ plan: Unmanaged<RowPlan>, _ query: Query, addingTo related: [RelatedKeys], _ body: (RowView) throws -> Void
    ) throws -> ContinuationToken? {
        let access = access
        return try page(query) { _, key, view in
            try body(access.records.lent(view, plan, key))
            for keys in related { try keys.add(key, view) }
        }
    }
}
