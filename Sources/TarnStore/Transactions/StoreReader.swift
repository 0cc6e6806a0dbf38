// The view of a snapshot that `Store.read` passes to its closure.

/// A snapshot of the store, borrowed by a closure. It does not change, and cannot escape.
public struct StoreReader: ~Escapable {
    package let access: StoreAccess

    @_lifetime(borrow owner)
    init<T>(_ access: StoreAccess, owner: borrowing T) {
        self.access = access
    }

    /// The entities of the store and their ids.
    public var catalog: Catalog { access.catalog }

    /// The commit sequence of the snapshot: the number of commits so far that changed something.
    package var sequence: UInt64 {
        get throws { try access.settings.sequence }
    }

    /// The identity of this store. A store restored from a backup has another one.
    package var incarnation: String {
        get throws { try access.settings.incarnation }
    }

    /// The identity that the scopes of stored responses depend on. A restored store keeps it.
    package var responseOrigin: String {
        get throws { try access.settings.responseOrigin }
    }

    /// Returns the number of records of an entity.
    public func count(_ entity: String) throws -> Int {
        try access.records.count(access.state.entity(entity))
    }

    /// Returns a copy of a record. Nil if it does not exist.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey` if the key does not have the form of the
    ///   entity's keys, `.damagedRow`.
    public func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        return try access.record(entity, key)
    }

    /// Iterates over the records of an entity in key order, until the closure returns false.
    public func forEach(_ entity: String, _ body: (Record) throws -> Bool) throws {
        let entity = try access.state.entity(entity)
        try access.records.scan(entity) { key, row in try body(access.record(entity, key, row)) }
    }

    /// Iterates over the targets of a relationship of a record, until the closure returns false.
    ///
    /// The order is that of the relationship. A target that is not in the store has a key and no
    /// record: it is *missing*.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`, `.wrongKey`, `.damagedRow`.
    public func forEachRelated(
        _ entity: String, _ key: RecordKey, _ relationship: String, _ body: (Target) throws -> Bool
    ) throws {
        try forEachRelated(entity, key, relationship, only: nil, body)
    }

    /// Iterates over the targets as ``forEachRelated(_:_:_:_:)``, whose records have only some of
    /// their fields.
    ///
    /// - Parameter names: the fields that are decoded; nil for all.
    package func forEachRelated(
        _ entity: String, _ key: RecordKey, _ relationship: String, only names: [String]?,
        _ body: (Target) throws -> Bool
    ) throws {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        guard let relationship = catalog.relationship(relationship, of: entity) else {
            throw StoreError.unknownField(
                entity: entity.name, name: relationship, known: catalog.relationships(of: entity).map(\.name))
        }
        guard let destination = catalog.entity(id: relationship.destination) else { return }
        let known = try key.storageKey.withUnsafeBytes { try access.replacement(of: $0, entity) }
        try (known ?? key.storageKey).withUnsafeBytes { key in
            try access.targets(of: key, relationship) { target in
                let record = try access.lending {
                    try access.records.row(destination, target).map {
                        try access.record(destination, target, $0, only: names)
                    }
                }
                let key = record?.key ?? RecordKey(reference: target)
                return try body(Target(entity: destination.name, key: key, record: record))
            }
        }
    }

    /// A target of a relationship.
    public struct Target: Sendable {
        /// The name of the destination entity.
        public var entity: String
        /// The key of the target. Nil if the bytes of the reference cannot be decoded.
        public var key: RecordKey?
        /// The record. Nil if it is missing.
        public var record: Record?
    }

    /// Returns the progress that was saved under a name. Nil if there is none.
    package func checkpoint(_ name: String) throws -> Checkpoint? { try access.checkpoints.checkpoint(name) }

    /// Calls the closure with every checkpoint and its name, in the order of names.
    package func forEachCheckpoint(_ body: (String, Checkpoint) throws -> Void) throws {
        try access.checkpoints.forEach(body)
    }

    /// Calls the closure with the checkpoints whose names begin with a text, in the order of names.
    ///
    /// Names of more than 207 bytes are left out. The work is that for the found checkpoints.
    package func forEachCheckpoint(
        withPrefix prefix: String, _ body: (String, Checkpoint) throws -> Void
    ) throws {
        try access.checkpoints.forEach(withPrefix: prefix, body)
    }

    /// The note of the requested lists; nil if no sync has made one.
    package var requestedLists: String? {
        get throws { try access.settings.requestedLists }
    }

    /// The outbox of the snapshot.
    package var outbox: OutboxTable { access.outbox }

    /// Returns the entry of the response to a request. Nil if there is none.
    package func response(to request: RequestKey) throws -> ResponseEntry? { try access.responses.entry(of: request) }

    /// The number of responses with an entry.
    package var responseCount: Int {
        get throws { try access.responses.count }
    }

    /// The number and the size of the entries that caches have in this store.
    package var cacheTotals: CacheTotals {
        get throws { try access.responses.totals }
    }
}
