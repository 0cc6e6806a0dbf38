// Copies of records: their fields come from the rows and from the edge table.

internal import LMDB

extension StoreAccess {
    /// A copy of a listed record; nil if it is no longer stored.
    package func record(_ listed: ListedRecord) throws -> Record? {
        guard let entity = catalog.entity(id: listed.entity) else { return nil }
        return try listed.storageKey.withUnsafeBytes { key in
            try lending { try records.row(entity, key).map { try record(entity, key, $0) } }
        }
    }

    /// The concrete entity of a listed record; nil if it is no longer stored.
    package func kind(of listed: ListedRecord) throws -> Catalog.Entity? {
        guard let root = catalog.entity(id: listed.entity) else { return nil }
        return try listed.storageKey.withUnsafeBytes { key in
            try lending { try records.row(root, key).flatMap { catalog.entity(id: $0.entity) } }
        }
    }

    /// The targets of a relationship of a listed record, in the order of the relationship.
    package func targets(of listed: ListedRecord, _ relationship: Catalog.Relationship) throws -> [ListedRecord] {
        guard let destination = catalog.entity(id: relationship.destination) else { return [] }
        var targets: [ListedRecord] = []
        try listed.storageKey.withUnsafeBytes { key in
            try self.targets(of: key, relationship) {
                targets.append(ListedRecord(entity: destination.root, storageKey: Array($0)))
                return true
            }
        }
        return targets
    }

    func record(_ entity: Catalog.Entity, _ key: RecordKey) throws -> Record? {
        let storageKey = key.storageKey
        if let found = try record(entity, storedUnder: storageKey) {
            // Another long key may have the same digest.
            return found.key == key || key.isDigest ? found : nil
        }
        let known = try storageKey.withUnsafeBytes { try outbox.replacement(entity.root, $0) }
        return try known.flatMap { try record(entity, storedUnder: $0) }
    }

    /// Returns the storage key that has replaced a temporary one; nil if there is none, or if a
    /// record is stored under the temporary key by now.
    func replacement(of storageKey: Bytes, _ entity: Catalog.Entity) throws -> [UInt8]? {
        guard let known = try outbox.replacement(entity.root, storageKey) else { return nil }
        return try lending { try records.row(entity, storageKey) == nil } ? known : nil
    }

    /// Returns the key of the record that a caller's write by key changes: a temporary key that was
    /// replaced leads to the record, as it does for reads.
    ///
    /// Without entries in the table of the outbox it costs one look at its size.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`.
    func writtenKey(_ name: String, _ key: RecordKey) throws -> RecordKey {
        guard let table = state.outbox, try raw.statistics(table).entries > 0 else { return key }
        let entity = try state.entity(name)
        try checkForm(of: key, entity)
        return try outbox.resolved(entity, key)
    }

    private func record(_ entity: Catalog.Entity, storedUnder storageKey: [UInt8]) throws -> Record? {
        try storageKey.withUnsafeBytes { key in
            try lending { try records.row(entity, key).map { try record(entity, key, $0) } }
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

    /// Returns the commit of the last change of each listed record; nil for one that is not stored.
    package func versions(of listed: [ListedRecord]) throws -> [UInt64?] {
        var versions: [UInt64?] = []
        versions.reserveCapacity(listed.count)
        for one in listed {
            guard let entity = catalog.entity(id: one.entity) else {
                versions.append(nil)
                continue
            }
            versions.append(
                try lending {
                    try one.storageKey.withUnsafeBytes { try records.row(entity, $0)?.version }
                })
        }
        return versions
    }
}
