// Writes of records as structs: whole, some fields, and with a compare-and-set on the version.

extension StoreWriter {
    /// Stores a record: sets the fields of the struct, and keeps those that it does not have.
    ///
    /// A temporary key that the server's key has replaced leads to the record, which keeps its key.
    /// So do references to such keys.
    ///
    /// - Parameter version: the version that was read (``Row/version``, `Record.version`), or nil.
    ///   If it is set, the record is stored only if it still has this version; 0 means that it does
    ///   not exist yet, also not as a record of another entity with the same parent.
    /// - Throws: `StoreWriteError.versionMismatch`, `.keyCollision`; `StoreError.wrongType` for a
    ///   value that is not of the catalog's type, `.wrongKey` if the struct does not set the whole
    ///   key, `.damagedRow`; if the type does not fit the catalog, `.unknownEntity`,
    ///   `.unknownField`. Then nothing of the record is stored.
    public mutating func put<Record: StoredRecord>(_ record: Record, ifVersion version: UInt64? = nil) throws {
        let buffers = takeRowBuffers()
        defer { rowBuffers = buffers }
        var encoder = try RowEncoder<Record>(access, buffers)
        record.encode(into: &encoder)
        let rules = encoder.rules, hasAliases = try operations.hasAliases()
        let present = try encoder.finish(key: nil) { key, body, isComplete -> RecordKey? in
            if hasAliases, let present = try access.outbox.replacingKey(rules.root, key) { return present }
            if version != nil { try check(version, rules.entity, key, ofAnyKind: true) }
            _ = try mergeResolving(rules, key, body, isComplete: isComplete)
            return nil
        }
        guard let present else { return }
        try encoder.finish(replacingKeyBy: present) { key, body, isComplete in
            if version != nil { try check(version, rules.entity, key, ofAnyKind: true) }
            _ = try mergeResolving(rules, key, body, isComplete: isComplete)
        }
    }

    /// Sets some fields of an existing record; the others keep their values.
    ///
    /// A temporary key that the server's key has replaced leads to the record, too.
    ///
    /// ```swift
    /// try writer.patch(Issue.self, 17) { issue in
    ///     issue.set(.state, State.closed)
    ///     issue.clear(.milestone)
    /// }
    /// ```
    ///
    /// - Parameter version: the version that was read, or nil. If it is set, the record is changed
    ///   only if it still has this version.
    /// - Returns: false if the record does not exist; then nothing is written.
    /// - Throws: as ``put(_:ifVersion:)``; `StoreError.wrongKey` also if an attribute of the key
    ///   would change.
    @discardableResult
    public mutating func patch<Record: StoredRecord>(
        _ type: Record.Type, _ key: Record.Key, ifVersion version: UInt64? = nil,
        _ change: (inout RowEncoder<Record>) throws -> Void
    ) throws -> Bool {
        let buffers = takeRowBuffers()
        defer { rowBuffers = buffers }
        var encoder = try RowEncoder<Record>(access, buffers)
        try change(&encoder)
        let key = try writtenKey(Record.entity, key.recordKey)
        try access.checkForm(of: key, access.state.entity(Record.entity))
        let rules = encoder.rules
        return try encoder.finish(key: key) { storageKey, body, _ in
            try check(version, rules.entity, storageKey)
            guard try access.records.row(rules.entity, storageKey) != nil else { return false }
            _ = try mergeResolving(rules, storageKey, body, isComplete: false)
            return true
        }
    }

    /// Deletes a record as ``delete(_:_:ifVersion:)-(String,_,_)`` does.
    ///
    /// - Parameter version: the version that was read, or nil. If it is set, the record is deleted
    ///   only if it still has this version.
    /// - Returns: whether the record existed.
    /// - Throws: `StoreWriteError.versionMismatch`; `StoreError.unknownEntity`, `.wrongKey`,
    ///   `.damagedRow`.
    @discardableResult
    public mutating func delete<Record: StoredRecord>(
        _ type: Record.Type, _ key: Record.Key, ifVersion version: UInt64? = nil
    ) throws -> Bool {
        try delete(Record.entity, key.recordKey, ifVersion: version)
    }

    /// Stores fields of a record. `null` clears a field. Other fields keep their values.
    ///
    /// Attributes and references that are part of the key may be left out: they follow from the
    /// key. A temporary key that the server's key has replaced leads to the record, which keeps its
    /// key.
    ///
    /// - Parameter version: the version that was read: the record is stored only if it still has
    ///   this version. 0 if it must not exist yet, also not as a record of another entity with the
    ///   same parent; nil for no check.
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`, `.wrongKey` (also if a value
    ///   contradicts the key), `.wrongType`, `.damagedRow`; `StoreWriteError.keyCollision`,
    ///   `.versionMismatch`.
    public mutating func put(
        _ entity: String, _ key: RecordKey, _ values: [Record.Field], ifVersion version: UInt64? = nil
    ) throws {
        let present = try writtenKey(entity, key)
        try check(version, entity, present, ofAnyKind: true)
        try putResolving(entity, present, present == key ? values : self.values(values, without: key, entity))
    }

    /// Returns values without those of a replaced key: they follow from the present one.
    func values(
        _ values: [Record.Field], without key: RecordKey, _ name: String
    ) throws -> [Record.Field] {
        let entity = try access.state.entity(name), parts = entity.keyValues(key)
        return values.filter { value in
            guard let id = entity.field(value.name)?.id, let part = parts[id] else { return true }
            return !Value.haveSameBytes(part, value.value)
        }
    }

    /// Deletes a record by its delete rules, in this transaction.
    ///
    /// Entries of responses that list a deleted record are removed, too. The cascade is determined
    /// first, so a denied delete changes nothing.
    ///
    /// References to a deleted record remain, and their target is missing. The delete rule of the
    /// relationship, seen from the deleted record, can change that: `nullify` removes the
    /// references, `cascade` deletes the records that contain them.
    ///
    /// A temporary key that the server's key has replaced leads to the record, too.
    ///
    /// - Parameter version: the version that was read: the record is deleted only if it still has
    ///   this version. Nil for no check.
    /// - Returns: whether the record existed.
    /// - Throws: `StoreWriteError.deleteDenied` if a relationship with the rule `deny` leads to an
    ///   existing record that would remain; `.versionMismatch`; `StoreError.unknownEntity`,
    ///   `.wrongKey`, `.damagedRow`.
    @discardableResult
    public mutating func delete(_ entity: String, _ key: RecordKey, ifVersion version: UInt64? = nil) throws -> Bool {
        let key = try writtenKey(entity, key)
        try check(version, entity, key)
        return try delete(entity, key)
    }

    /// Returns a reader of the store with the changes made so far, valid until the next change.
    ///
    /// - Throws: `StoreError` if the pending changes of indexes cannot be written.
    @_lifetime(&self)
    public mutating func reader() throws -> StoreReader {
        // Relationships and counts are read from the indexes.
        try applyIndexChanges()
        let access = access, state = access.state
        return _overrideLifetime(StoreReader(access, owner: state), mutating: &self)
    }

    @usableFromInline
    mutating func takeRowBuffers() -> RowBuffers {
        defer { rowBuffers = nil }
        return rowBuffers ?? RowBuffers()
    }

    private func check(_ expected: UInt64?, _ entity: String, _ key: RecordKey, ofAnyKind: Bool = false) throws {
        guard expected != nil else { return }
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        try key.withStorageKey { try check(expected, entity, $0, ofAnyKind: ofAnyKind) }
    }

    /// Checks the version of a record.
    ///
    /// - Parameter ofAnyKind: whether a record of another entity of the same tree counts, too: it
    ///   has the same key, and storing this one would replace it.
    private func check(
        _ expected: UInt64?, _ entity: Catalog.Entity, _ key: Bytes, ofAnyKind: Bool = false
    ) throws {
        guard let expected else { return }
        let stored = ofAnyKind ? access.catalog.entity(id: entity.root) ?? entity : entity
        let found = try access.records.row(stored, key)?.version ?? 0
        guard found == expected else {
            throw StoreWriteError.versionMismatch(
                entity: entity.name, key: access.describe(key), expected: expected, found: found)
        }
    }
}
