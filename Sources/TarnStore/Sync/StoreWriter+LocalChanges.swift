// Reading and writing the marks of local changes.

extension StoreReader {
    /// The mark of a record with a local change that has not reached the server; nil if none.
    ///
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`.
    public func localChange(_ entity: String, _ key: RecordKey) throws -> LocalChange? {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        return try access.outbox.resolved(entity, key).withStorageKey { storageKey in
            try access.localChanges.mark(entity.root, storageKey)?.change(storageKey, access.catalog)
        }
    }

    /// Calls the closure with every mark, by entity and key, until it returns false.
    public func forEachLocalChange(_ body: (LocalChange) throws -> Bool) throws {
        try access.localChanges.forEach(body)
    }
}

extension StoreWriter {
    /// Stores values of a record, as ``put(_:_:_:ifVersion:)`` does, and marks them as changed
    /// locally.
    ///
    /// A record that was not stored is marked as created locally, with all of its fields. A
    /// temporary key that the server's key has replaced leads to the record.
    ///
    /// - Throws: as `put`.
    public mutating func putLocally(_ entity: String, _ key: RecordKey, _ values: [Record.Field]) throws {
        let found = try access.state.entity(entity), access = access, given = key
        let key = try writtenKey(entity, given)
        try access.checkForm(of: key, found)
        let isThere = try key.withStorageKey { storageKey in
            try access.lending { try access.records.row(found, storageKey) != nil }
        }
        let values = try key == given ? values : self.values(values, without: given, entity)
        beginClearing()
        try putResolving(entity, key, values)
        try markUpdated(endClearing())
        try markLocal(entity, present: key, isThere ? .update : .create, fields: isThere ? values.map(\.name) : [])
    }

    /// Deletes a record, as ``delete(_:_:ifVersion:)-(String,_,_)`` does, and marks it.
    ///
    /// No import restores the record until the mark is cleared. If the record was created locally,
    /// and its creation is not queued, so that the server never gets it, no mark is left.
    ///
    /// - Returns: whether the record was stored.
    /// - Throws: as `delete`.
    @discardableResult
    public mutating func deleteLocally(_ entity: String, _ key: RecordKey) throws -> Bool {
        let found = try access.state.entity(entity)
        let key = try writtenKey(entity, key)
        try access.checkForm(of: key, found)
        let known = try key.withStorageKey { try access.localChanges.mark(found.root, $0) }
        guard try delete(entity, key) else { return false }
        let listed = ListedRecord(entity: found.root, storageKey: key.storageKey)
        // Without its record, the key might lead to another one.
        if try !isUnknownToServer(listed, known) { try markLocal(entity, present: key, .delete, fields: []) }
        return true
    }

    /// Whether the server never gets a record that is deleted: it was created locally, and its
    /// creation is not queued.
    func isUnknownToServer(_ record: ListedRecord, _ mark: LocalMark?) throws -> Bool {
        try mark?.operation == .create && outbox.creation(of: record) == nil
    }

    /// Marks a record as changed locally, within this transaction.
    ///
    /// Marks of several changes of a record are combined. Their fields are united. A record that
    /// was created locally stays so. A record that is created again after a local deletion is
    /// changed as a whole. A deletion has precedence over all other changes.
    ///
    /// A temporary key that the server's key has replaced leads to the record.
    ///
    /// - Parameter fields: names of attributes and relationships that are stored in the record;
    ///   empty for the whole record.
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`, `.unknownField`.
    public mutating func markLocal(
        _ entity: String, _ key: RecordKey, _ operation: LocalChange.Operation = .update, fields: [String] = []
    ) throws {
        try markLocal(entity, present: writtenKey(entity, key), operation, fields: fields)
    }

    /// Marks a record by its present key: see ``markLocal(_:_:_:fields:)``.
    private mutating func markLocal(
        _ entity: String, present key: RecordKey, _ operation: LocalChange.Operation, fields: [String]
    ) throws {
        let entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        let ids = try fields.map { name in
            guard let id = entity.field(name)?.id else {
                throw StoreError.unknownField(entity: entity.name, name: name, known: entity.fields.map(\.name))
            }
            return id
        }
        try key.withStorageKey { storageKey in
            try mark(operation, entity, storageKey, ids, try access.localChanges.mark(entity.root, storageKey)) {
                key.tuple
            }
        }
    }

    /// Marks a stored record whose fields were changed locally.
    mutating func markUpdated(_ entity: Catalog.Entity, _ storageKey: Bytes, _ fields: [UInt16]) throws {
        let access = access
        let (kind, whole) =
            try access.lending {
                try access.records.row(entity, storageKey).map { row -> (UInt16, [UInt8]?) in
                    let whole: [UInt8]? =
                        try StorageKey.isDigest(storageKey) ? access.wholeKey(entity, row.body)?.tuple : nil
                    return (row.entity, whole)
                }
            } ?? (entity.id, nil)
        try mark(
            .update, access.catalog.entity(id: kind) ?? entity, storageKey, fields,
            try access.localChanges.mark(entity.root, storageKey)
        ) { whole ?? [] }
    }

    /// Marks a record that was deleted locally and is no longer stored.
    ///
    /// - Parameters:
    ///   - known: the previous mark of the record.
    ///   - whole: the tuple of the whole key, if the storage key is only its digest.
    mutating func markDeleted(_ kind: UInt16, _ storageKey: Bytes, _ known: LocalMark?, whole: [UInt8]?) throws {
        guard let entity = access.catalog.entity(id: kind) else { return }
        try mark(.delete, entity, storageKey, [], known) { whole ?? [] }
    }

    private mutating func mark(
        _ operation: LocalChange.Operation, _ entity: Catalog.Entity, _ storageKey: Bytes, _ ids: [UInt16],
        _ known: LocalMark?, whole: () -> [UInt8]
    ) throws {
        var mark = known ?? LocalMark(operation, [], entity: entity.id, since: .systemTime)
        switch (known?.operation, operation) {
        case (nil, _), (_, .delete): mark.operation = operation
        // The server has never had it.
        case (.create?, _): mark.operation = .create
        // The server still has it.
        case (.update?, _), (.delete?, _): mark.operation = .update
        }
        let wasWhole = known.map { $0.operation != .update || $0.fields.isEmpty } ?? false
        mark.fields = mark.operation != .update || ids.isEmpty || wasWhole ? [] : Set(mark.fields + ids).sorted()
        if StorageKey.isDigest(storageKey) { mark.wholeKey = whole() }
        try access.localChanges.put(mark, entity.root, storageKey, sequence: sequence)
    }

    /// Clears the mark of a record: its change has reached the server, or is abandoned.
    ///
    /// A temporary key that the server's key has replaced leads to the record.
    ///
    /// - Parameters:
    ///   - fields: the fields whose change is finished; the others stay marked. Nil for all.
    ///   - takingServer: whether these fields get the server's values from later responses. The
    ///     local values are lost then. A record that the server has deleted goes with its mark, by
    ///     its delete rules, unless one of these forbids it.
    /// - Returns: whether there was a mark.
    /// - Throws: `StoreError.unknownEntity`, `.wrongKey`, `.unknownField`.
    @discardableResult
    public mutating func clearLocalChange(
        _ entity: String, _ key: RecordKey, fields: [String]? = nil, takingServer: Bool = false
    ) throws -> Bool {
        let key = try writtenKey(entity, key), entity = try access.state.entity(entity)
        try access.checkForm(of: key, entity)
        let done = try fields.map { fields in
            try fields.map { name in
                guard let id = entity.field(name)?.id else {
                    throw StoreError.unknownField(entity: entity.name, name: name, known: entity.fields.map(\.name))
                }
                return id
            }
        }
        return try key.withStorageKey { storageKey in
            guard var mark = try access.localChanges.mark(entity.root, storageKey) else { return false }
            func isDone(_ field: UInt16) -> Bool { done?.contains(field) ?? true }
            let taken = mark.server.filter { isDone($0.field) }
            mark.server.removeAll { isDone($0.field) }
            let left = mark.fields.filter { !isDone($0) }
            if done == nil || (!mark.fields.isEmpty && left.isEmpty) {
                _ = try access.localChanges.remove(entity.root, storageKey)
                if takingServer, mark.isGoneAtServer { goneRecords.insert(ListedRecord(entity.root, storageKey)) }
            } else {
                mark.fields = left
                try access.localChanges.put(mark, entity.root, storageKey, sequence: sequence)
            }
            if takingServer { try take(taken, entity, storageKey) }
            try deleteGone()
            return true
        }
    }

    private mutating func take(_ values: [(field: UInt16, value: [UInt8])], _ entity: Catalog.Entity, _ key: Bytes)
        throws
    {
        let access = access
        guard !values.isEmpty, try access.lending({ try access.records.row(entity, key) != nil }) else { return }
        var builder = BodyBuilder(), bytes = ByteWriter()
        for (field, value) in values { builder.field(field) { $0.append(value) } }
        let isWide = builder.isWide
        builder.finish(into: &bytes)
        guard let body = RowBody(bytes.bytes, isWide: isWide) else { return }
        _ = try merge(entity, key, body, isComplete: false)
    }

    /// Replaces the mark of a record.
    package mutating func putLocalMark(_ mark: LocalMark, _ root: UInt16, _ storageKey: Bytes) throws {
        try access.localChanges.put(mark, root, storageKey, sequence: sequence)
    }

    /// Clears the mark of a record, if it has one.
    package mutating func removeLocalMark(_ root: UInt16, _ storageKey: Bytes) throws {
        _ = try access.localChanges.remove(root, storageKey)
    }
}
