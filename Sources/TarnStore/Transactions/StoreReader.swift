// What `Store.read` lends: a snapshot.

internal import LMDB

/// A snapshot of the store, lent to a closure. It does not change, and it cannot leave the closure.
public struct StoreReader: ~Escapable {
    package let access: StoreAccess

    @_lifetime(borrow owner)
    init<T>(_ access: StoreAccess, owner: borrowing T) {
        self.access = access
    }

    public var catalog: Catalog { access.catalog }

    /// The commit sequence of the snapshot: how many commits changed something so far.
    public var sequence: UInt64 {
        get throws { try access.sequence }
    }

    /// What distinguishes this store from every other, also from one that a backup of it was restored to.
    public var incarnation: String {
        get throws { try access.incarnation }
    }

    /// The number of records of an entity.
    public func count(_ entity: String) throws -> Int {
        try access.count(access.state.entity(entity))
    }

    /// A record, or nil if it is not there.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey` if the key has another form than the entity's, `.damagedRow`.
    public func record(_ entity: String, _ key: RecordKey) throws -> Record? {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        return try access.record(entity, key)
    }

    /// Every record of an entity in key order, until the closure returns false.
    public func forEach(_ entity: String, _ body: (Record) throws -> Bool) throws {
        let entity = try access.state.entity(entity)
        try access.scan(entity) { key, row in try body(access.record(entity, key, row)) }
    }

    /// What a relationship of a record leads to, in its order, until the closure returns false. A target that is not in the
    /// store has a key and no record: it is *missing*.
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

    /// One end of a relationship.
    public struct Target: Sendable {
        public var entity: String
        /// Nil if the key is too long to stand in a reference and its record, which holds it, is missing.
        public var key: RecordKey?
        /// Nil if the record is missing.
        public var record: Record?
    }

    /// The progress that was saved under a name.
    public func checkpoint(_ name: String) throws -> Checkpoint? { try access.checkpoint(name) }

    /// The entry of the response to a request, or nil.
    public func response(to request: RequestKey) throws -> ResponseEntry? { try access.response(to: request) }

    /// The number of responses that have an entry.
    public var responseCount: Int {
        get throws { try access.raw.statistics(access.state.responses).entries }
    }
}

extension StoreAccess {
    package var sequence: UInt64 {
        get throws(LMDBError) { try raw.number(state.meta, key: MetaKey.sequence) }
    }

    package var incarnation: String {
        get throws(LMDBError) { String(decoding: try raw.get(state.meta, key: MetaKey.incarnation) ?? .empty, as: UTF8.self) }
    }

    func record(_ entity: Catalog.Entity, _ key: RecordKey) throws -> Record? {
        try key.storageKey.withUnsafeBytes { bytes in
            try lending {
                guard let row = try row(entity, bytes) else { return nil }
                let record = try record(entity, bytes, row)
                // A digest may stand for another long key.
                return record.key == key || key.isDigest ? record : nil
            }
        }
    }

    func checkForm(of key: RecordKey, _ entity: Catalog.Entity) throws(StoreError) {
        if case .digest(let bytes)? = key.components.first, key.components.count == 1, bytes.count == StorageKey.digestLength { return }
        let types = entity.keyTypes
        let fits = types.count == key.components.count && zip(types, key.components).allSatisfy { type, component in
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
