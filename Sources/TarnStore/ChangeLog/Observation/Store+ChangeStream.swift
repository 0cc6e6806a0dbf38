// Streams of changes.

extension Store {
    /// Returns the changes of records of a type since a token, and then those of later commits.
    ///
    /// ```swift
    /// for try await event in store.changes(since: saved, of: Issue.self) {
    ///     try index.update(event.key, isDeleted: event.operation == .deleted, token: event.token)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - token: the position after which to begin: ``StoreReader/changeToken`` of a snapshot, or
    ///     the token of an event or a page; nil for the moment of this call.
    ///   - type: the type of the records. Records of entities that descend from its entity count,
    ///     too. A record that becomes one of another kind is reported under its new kind only.
    public func changes<R: StoredRecord>(since token: ChangeToken? = nil, of type: R.Type) -> ChangeStream<R.Key> {
        ChangeStream(source: changeSource(token, [R.entity]) { _ = try $0.access.plan(type) })
    }

    /// Returns the changes of records since a token, and then those of every later commit.
    ///
    /// - Parameters:
    ///   - token: as in ``changes(since:of:)-(_,R.Type)``.
    ///   - entities: the entities, with their descendants; nil for all.
    public func changes(since token: ChangeToken? = nil, of entities: [String]? = nil) -> ChangeStream<RecordKey> {
        ChangeStream(source: changeSource(token, entities) { _ in })
    }

    private func changeSource(
        _ token: ChangeToken?, _ entities: [String]?, _ check: @escaping @Sendable (StoreReader) throws -> Void
    ) -> ChangeSource {
        let start: Result<ChangeToken, any Error> =
            token.map { .success($0) } ?? Result { try read { try $0.changeToken } }
        return ChangeSource(store: self, start: start, entities: entities, check: check)
    }
}
