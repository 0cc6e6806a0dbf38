// Observation of closures, queries and records.

extension Store {
    /// Observes the result of a closure.
    ///
    /// It is evaluated at first, and again after commits that change a record of the entities; see
    /// ``StoreObservation``. Changes of other entities, of responses and of checkpoints do not
    /// trigger an evaluation.
    ///
    /// - Parameters:
    ///   - entities: the entities that the result depends on, with their descendants; nil for all.
    ///   - body: evaluates the result in a snapshot. It runs on a thread of the store, for one
    ///     observer at a time, and may block.
    public func observe<Value: Equatable & Sendable>(
        entities: [String]? = nil, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) -> StoreObservation<Value> {
        StoreObservation(store: self, sharing: nil, isSame: ==, body) { state in
            guard let entities else { return .everything }
            return .entities(Set(try entities.map { try state.entity($0).id }))
        }
    }

    /// Observes the records of a query.
    ///
    /// Only commits that change a record of its entity, or of an entity that its paths lead to,
    /// trigger an evaluation. Records that differ only in their version are equal.
    ///
    /// - Throws: the iteration throws as ``StoreReader/fetch(_:)-(Query)`` does.
    public func observe(_ query: Query) -> StoreObservation<[Record]> {
        StoreObservation(
            store: self, sharing: .records(.init(query)), isSame: { $0.elementsEqual($1) { $0.saysTheSame(as: $1) } }
        ) { reader in
            try reader.fetch(query)
        } interest: { state in
            .entities(try query.entities(in: state))
        }
    }

    /// Observes the records of a query as structs.
    ///
    /// Results are compared by the `==` of the struct: if it compares only some properties, changes
    /// of the others are not delivered. Swift's `==` of texts ignores a change to canonically
    /// equivalent ones.
    ///
    /// - Throws: the iteration throws as ``StoreReader/fetch(_:_:)`` does.
    public func observe<R: StoredRecord & Equatable>(_ type: R.Type, _ query: Query) -> StoreObservation<[R]> {
        StoreObservation(store: self, sharing: .structs(ObjectIdentifier(type), .init(query)), isSame: ==) { reader in
            try reader.fetch(type, query)
        } interest: { state in
            .entities(try query.entities(in: state))
        }
    }

    /// Observes the result of a closure that depends on the records of types.
    ///
    /// ```swift
    /// let byState = store.observe(of: Issue.self) { reader in
    ///     try reader.counts(by: \.state, Issue.all).map(\.count)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - types: the types of the records that the result depends on.
    ///   - body: evaluates the result in a snapshot, as in ``observe(entities:_:)``.
    public func observe<Value: Equatable & Sendable>(
        of types: any StoredRecord.Type..., evaluating body: @escaping @Sendable (StoreReader) throws -> Value
    ) -> StoreObservation<Value> {
        observe(entities: types.map { $0.entity }, body)
    }

    /// Observes the records of a query that was built from a struct's fields.
    ///
    /// - Throws: the iteration throws as ``StoreReader/fetch(_:_:)`` does.
    public func observe<R: StoredRecord & Equatable>(_ query: TypedQuery<R>) -> StoreObservation<[R]> {
        observe(R.self, query.query)
    }

    /// Observes the number of records of a query, as ``observe(_:)-(Query)`` observes the records.
    ///
    /// - Throws: the iteration throws as ``StoreReader/count(_:)-(Query)`` does.
    public func observe(countOf query: Query) -> StoreObservation<Int> {
        StoreObservation(store: self, sharing: .count(.init(query)), isSame: ==) { reader in
            try reader.count(query)
        } interest: { state in
            .entities(try query.entities(in: state))
        }
    }

    /// Observes the number of records of a query that was built from a struct's fields.
    ///
    /// - Throws: the iteration throws as ``StoreReader/count(_:)-(Query)`` does.
    public func observe<R: StoredRecord>(countOf query: TypedQuery<R>) -> StoreObservation<Int> {
        observe(countOf: query.query)
    }

    /// Observes whether a query has any record.
    ///
    /// - Throws: the iteration throws as ``StoreReader/exists(_:)-(Query)`` does.
    public func observe<R: StoredRecord>(existenceOf query: TypedQuery<R>) -> StoreObservation<Bool> {
        StoreObservation(store: self, sharing: .existence(.init(query.query)), isSame: ==) { reader in
            try reader.exists(query)
        } interest: { state in
            .entities(try query.query.entities(in: state))
        }
    }

    /// Observes one record; nil as long as it is not stored.
    ///
    /// Only commits that change it trigger an evaluation.
    ///
    /// - Throws: the iteration throws `StoreError.unknownEntity`, `.wrongKey`, `.damagedRow`.
    public func observe(_ entity: String, _ key: RecordKey) -> StoreObservation<Record?> {
        observeRow(entity, key, .record(entity, key)) { reader in try reader.record(entity, key) }
    }

    /// Observes one record as a struct; nil as long as it is not stored.
    ///
    /// Only commits that change it trigger an evaluation, even if they change fields that the
    /// struct does not have.
    ///
    /// - Throws: the iteration throws as ``StoreReader/get(_:_:)-(_,Record.Key)`` does.
    public func observe<R: StoredRecord>(_ type: R.Type, _ key: R.Key) -> StoreObservation<R?> {
        observeRow(R.entity, key.recordKey, .oneStruct(ObjectIdentifier(type), key.recordKey)) { reader in
            try reader.get(type, key)
        }
    }

    /// Observes the row of a record: fields, entity, whether it is partial; not its version.
    private func observeRow<Value: Sendable>(
        _ entity: String, _ key: RecordKey, _ sharing: ObserverHub.EvaluationKey,
        _ body: @escaping @Sendable (StoreReader) throws -> Value?
    ) -> StoreObservation<Value?> {
        let storageKey = key.storageKey
        return StoreObservation(
            store: self, sharing: sharing,
            isSame: { (a: (ObservedRow, Value?), b: (ObservedRow, Value?)) in a.0 == b.0 }, value: \.1
        ) { reader in
            (try ObservedRow(reader.access, entity, storageKey), try body(reader))
        } interest: { state in
            .record(RecordPlace(root: try state.entity(entity).root, key: storageKey))
        }
    }
}

extension StoreObservation {
    /// Creates an observation that compares the results of a closure.
    fileprivate init(
        store: Store, sharing key: ObserverHub.EvaluationKey?, isSame: @escaping @Sendable (Value, Value) -> Bool,
        _ body: @escaping @Sendable (StoreReader) throws -> Value,
        interest: @escaping @Sendable (StoreState) throws -> ObserverHub.Interest
    ) {
        self.init(store: store, sharing: key, isSame: isSame, value: { $0 }, body, interest: interest)
    }

    /// Creates an observation whose comparison uses more than the delivered value.
    init<Result: Sendable>(
        store: Store, sharing key: ObserverHub.EvaluationKey?, isSame: @escaping @Sendable (Result, Result) -> Bool,
        value: @escaping @Sendable (Result) -> Value, _ body: @escaping @Sendable (StoreReader) throws -> Result,
        interest: @escaping @Sendable (StoreState) throws -> ObserverHub.Interest
    ) {
        self.init(store: store, interest: interest) {
            let shared = store.observers.evaluation(key, of: Result.self)
            var last: (result: Result, revision: UInt64)?
            return { reader, isAlwaysWanted in
                let new = try shared.result(reader, isSame: isSame, body)
                // Consecutive revisions differ, equal ones do not, and others have to be compared.
                if !isAlwaysWanted, let last,
                    last.revision == new.revision
                        || last.revision + 1 != new.revision && isSame(last.result, new.result)
                {
                    return nil
                }
                last = new
                return value(new.result)
            }
        }
    }
}

extension Record {
    /// Whether another record is equal except for its version.
    fileprivate func saysTheSame(as other: Record) -> Bool {
        entity == other.entity && key == other.key && isPartial == other.isPartial
            && fields == other.fields
    }
}

extension Query {
    /// The entities that the result depends on: its own, and those that paths lead to.
    ///
    /// - Parameter included: the names of relationships whose targets belong to the result.
    func entities(in state: StoreState, including included: [[String]] = []) throws -> Set<UInt16> {
        let entity = try state.entity(entity)
        var ids: Set<UInt16> = [entity.id]
        for names in condition.paths.map(\.names) + order.map(\.path.names) + included {
            var owner = entity
            for name in names {
                // A derived relationship is stored in the rows of its destination.
                guard let relationship = state.catalog.relationship(name, of: owner),
                    let destination = state.catalog.entity(id: relationship.destination)
                else { break }
                ids.insert(destination.id)
                owner = destination
            }
        }
        return ids
    }
}

extension Condition {
    /// All field paths of the condition.
    fileprivate var paths: [FieldPath] {
        switch self {
        // The fields of `anyContains` are the record's own.
        case .all, .anyContains: []
        case .compare(let path, _, _), .isIn(let path, _), .between(let path, _, _), .hasPrefix(let path, _),
            .contains(let path, _), .like(let path, _), .isMissing(let path):
            [path]
        case .and(let conditions), .or(let conditions): conditions.flatMap(\.paths)
        case .not(let condition): condition.paths
        }
    }
}

/// The content of a row, for comparison.
private struct ObservedRow: Equatable {
    private var body: [UInt8]?
    private var entity: UInt16 = 0
    private var isPartial = false

    init(_ access: StoreAccess, _ name: String, _ key: [UInt8]) throws {
        let wanted = try access.state.entity(name)
        try access.lending {
            // A temporary key that was replaced leads to the record, as it does for the value.
            let present = try key.withUnsafeBytes { try access.replacement(of: $0, wanted) } ?? key
            guard let row = try present.withUnsafeBytes({ try access.records.row(wanted, $0) }) else { return }
            body = Array(row.body.bytes)
            (entity, isPartial) = (row.entity, row.isPartial)
        }
    }
}
