// The view of a snapshot that `Store.read` passes to its closure.

internal import LMDB

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
    public var sequence: UInt64 {
        get throws { try access.sequence }
    }

    /// The identity of this store. A store restored from a backup has another one.
    public var incarnation: String {
        get throws { try access.incarnation }
    }

    /// Returns the number of records of an entity.
    public func count(_ entity: String) throws -> Int {
        try access.count(access.state.entity(entity))
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
        try access.scan(entity) { key, row in try body(access.record(entity, key, row)) }
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
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        guard let relationship = catalog.relationship(relationship, of: entity) else {
            throw StoreError.unknownField(
                entity: entity.name, name: relationship, known: catalog.relationships(of: entity).map(\.name))
        }
        guard let destination = catalog.entity(id: relationship.destination) else { return }
        try key.storageKey.withUnsafeBytes { key in
            try access.targets(of: key, relationship) { target in
                let record = try access.lending {
                    try access.row(destination, target).map { try access.record(destination, target, $0) }
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
    public func checkpoint(_ name: String) throws -> Checkpoint? { try access.checkpoint(name) }

    /// Returns the entry of the response to a request. Nil if there is none.
    public func response(to request: RequestKey) throws -> ResponseEntry? { try access.response(to: request) }

    /// The number of responses with an entry.
    public var responseCount: Int {
        get throws { try access.raw.statistics(access.state.responses).entries }
    }
}

extension StoreAccess {
    package var sequence: UInt64 {
        get throws(LMDBError) { try raw.number(state.meta, key: MetaKey.sequence) }
    }

    package var incarnation: String {
        get throws(LMDBError) {
            String(decoding: try raw.get(state.meta, key: MetaKey.incarnation) ?? .empty, as: UTF8.self)
        }
    }

    func record(_ entity: Catalog.Entity, _ key: RecordKey) throws -> Record? {
        try key.storageKey.withUnsafeBytes { bytes in
            try lending {
                guard let row = try row(entity, bytes) else { return nil }
                let record = try record(entity, bytes, row)
                // Another long key may have the same digest.
                return record.key == key || key.isDigest ? record : nil
            }
        }
    }

    func checkForm(of key: RecordKey, _ entity: Catalog.Entity) throws(StoreError) {
        if case .digest(let bytes)? = key.components.first, key.components.count == 1,
            bytes.count == StorageKey.digestLength
        {
            return
        }
        let types = entity.keyTypes
        let fits =
            types.count == key.components.count
            && zip(types, key.components).allSatisfy { type, component in
                switch (type, component) {
                case (.int, .int), (.string, .string), (.uuid, .uuid): true
                default: false
                }
            }
        guard fits else {
            throw .wrongKey(entity: entity.name, expected: entity.keyForm, found: key.description)
        }
    }
}
