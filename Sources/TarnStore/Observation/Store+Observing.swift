// Observing results, records and queries.

extension Store {
    /// Observes what a closure reads.
    ///
    /// It is evaluated at first, and again after commits that change a record of the entities; see ``StoreObservation``. What the
    /// closure reads of other entities, of responses and of checkpoints may change without being noticed.
    ///
    /// - Parameters:
    ///   - entities: which entities the result depends on, those that descend from them among them; nil for all.
    ///   - body: evaluates the result on a snapshot. Called on a thread of the store, for one observer at a time; it may block.
    public func observe<Value: Equatable & Sendable>(
        entities: [String]? = nil, _ body: @escaping @Sendable (StoreReader) throws -> Value
    ) -> StoreObservation<Value> {
        StoreObservation(store: self) { state in
            guard let entities else { return .everything }
            return .entities(Set(try entities.map { try state.entity($0).id }))
        } makeEvaluation: {
            var last: Value?
            return { reader in
                let value = try body(reader)
                guard value != last else { return nil }
                last = value
                return value
            }
        }
    }

    /// Observes one record: nil as long as it is not there. Only commits that change it lead to an evaluation.
    ///
    /// - Throws: the iteration throws `StoreError.unknownEntity`, `.wrongKey`, `.damagedRow`.
    public func observe(_ entity: String, _ key: RecordKey) -> StoreObservation<Record?> {
        observeRow(entity, key) { reader in try reader.record(entity, key) }
    }

    /// Observes one record as a struct: nil as long as it is not there. Only commits that change it lead to an evaluation, also if
    /// they change fields that the struct does not have.
    ///
    /// - Throws: the iteration throws as ``StoreReader/get(_:_:)-(_,Record.Key)`` does.
    public func observe<R: StoredRecord>(_ type: R.Type, _ key: R.Key) -> StoreObservation<R?> {
        observeRow(R.entity, key.recordKey) { reader in try reader.get(type, key) }
    }

    /// Whether a record is another one than before, its row says: fields, entity, whether it is partial; not its version.
    private func observeRow<Value: Sendable>(
        _ entity: String, _ key: RecordKey, _ body: @escaping @Sendable (StoreReader) throws -> Value?
    ) -> StoreObservation<Value?> {
        let storageKey = key.storageKey
        return StoreObservation(store: self) { state in
            .record(RecordPlace(root: try state.entity(entity).root, key: storageKey))
        } makeEvaluation: {
            var last: ObservedRow?
            return { reader in
                let row = try ObservedRow(reader.access, entity, storageKey)
                guard row != last else { return nil }
                let value = try body(reader)
                last = row
                return .some(value)
            }
        }
    }
}

/// What a row says, for comparison.
private struct ObservedRow: Equatable {
    private var body: [UInt8]?
    private var entity: UInt16 = 0
    private var isPartial = false

    init(_ access: StoreAccess, _ name: String, _ key: [UInt8]) throws {
        let wanted = try access.state.entity(name)
        try access.lending {
            guard let row = try key.withUnsafeBytes({ try access.row(wanted, $0) }) else { return }
            body = Array(row.body.bytes)
            (entity, isPartial) = (row.entity, row.isPartial)
        }
    }
}
