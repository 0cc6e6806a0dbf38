// Observation of queries with included targets.

extension Store {
    /// Observes the records of a query with the targets of relationships.
    ///
    /// ```swift
    /// for try await found in store.observe(open.include(\.author, \.labels)) {
    ///     for (issue, author, labels) in found.value { … }
    /// }
    /// ```
    ///
    /// An evaluation is triggered by commits that change a record of the query's entity, of an
    /// entity that its paths lead to, or of the entity of included targets. Observers of an equal
    /// query with the same targets share it.
    ///
    /// - Throws: the iteration throws as ``StoreReader/fetch(_:)-(IncludingQuery<Record,_>)`` does.
    public func observe<Record: TypedRecord & Equatable, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>
    ) -> StoreObservation<[(Record, repeat (each Column).Included)]> where repeat (each Column).Included: Equatable {
        typealias Results = IncludingResults<Record, repeat each Column>
        let plain = query.records.query, paths = query.paths
        return StoreObservation(
            store: self, sharing: .including(ObjectIdentifier(Results.self), .init(plain), paths: paths),
            isSame: { (a: Results, b: Results) in Results.areEqual(a, b) }, value: { $0.tuples }
        ) { reader in
            var next: ContinuationToken?
            return try reader.results(query, isPage: false, next: &next)
        } interest: { state in
            .entities(try plain.entities(in: state, including: paths))
        }
    }
}

extension IncludingQuery {
    /// The names of the relationships that lead to the targets of each column.
    fileprivate var paths: [[String]] {
        var paths: [[String]] = []
        for column in repeat each columns { paths.append(column.names) }
        return paths
    }
}
