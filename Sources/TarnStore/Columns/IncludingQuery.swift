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
        let plan = try plan(Record.self)
        let paths = (repeat try path(each query.columns, plan))
        var first: [RelatedKeys] = []
        for path in repeat each paths { first.append(path.first) }
        var records: [Record] = []
        let plain = query.records.query
        if let limit = plain.limit { records.reserveCapacity(min(limit, 256)) }
        try forEachLent(plan, plain, addingTo: first) { row in records.append(try Row<Record>(row).copy()) }
        let targets = (repeat try (each paths).load())
        var results: [(Record, repeat (each Column).Included)] = []
        results.reserveCapacity(records.count)
        for (position, record) in records.enumerated() {
            results.append((record, repeat (each Column).included((each targets).targets(of: position))))
        }
        return results
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
        let page = try page(query.records)
        guard !page.records.isEmpty else { return ([], page.next) }
        return (try fetch(query), page.next)
    }
}
