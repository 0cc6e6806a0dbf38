// Queueing changes by names and values.

import TarnStore

extension Outbox {
    /// Creates a record locally, and queues its creation.
    ///
    /// - Parameters:
    ///   - fields: the fields of the record. Values of other types are converted as in a condition.
    ///   - key: the key that the program chooses; nil for a temporary one, which the server's key
    ///     replaces.
    /// - Returns: the key of the record.
    /// - Throws: `WriteError.noRequest`; `OutboxError.recordExists`, `.tooLarge`; otherwise as
    ///   `StoreWriter.put`.
    @discardableResult
    public func create(_ entity: String, _ fields: [Record.Field], key: RecordKey? = nil) async throws -> RecordKey {
        try await store.writeRepeatably { try create(entity, fields, key: key, in: &$0) }
    }

    /// Changes fields of a record locally, and queues the change of those that differ.
    ///
    /// - Returns: the operation that has the change; nil if nothing differs.
    /// - Throws: `WriteError.noRequest`, `.nothingToSend`; `OutboxError.recordMissing`,
    ///   `.tooLarge`; otherwise as `StoreWriter.put`.
    @discardableResult
    public func update(_ entity: String, _ key: RecordKey, _ fields: [Record.Field]) async throws -> UInt64? {
        try await store.writeRepeatably { try update(entity, key, fields, in: &$0) }
    }

    /// Deletes a record locally, and queues its deletion.
    ///
    /// - Returns: the operation; nil if the creation of the record was never sent.
    /// - Throws: `WriteError.noRequest`; `OutboxError.recordMissing`;
    ///   `StoreWriteError.deleteDenied`.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey) async throws -> UInt64? {
        try await store.writeRepeatably { try delete(entity, key, in: &$0) }
    }

    /// Adds members to a to-many relationship locally, and queues a request for each new one.
    ///
    /// - Throws: `WriteError.noRequest`; `OutboxError.recordMissing`, `.notToMany`, `.notSettable`.
    public func add(
        _ members: [RecordKey], to relationship: String, of entity: String, _ key: RecordKey
    ) async throws {
        try await store.writeRepeatably { try add(members, to: relationship, of: entity, key, in: &$0) }
    }

    /// Removes members from a to-many relationship locally, and queues a request for each.
    ///
    /// - Throws: as ``add(_:to:of:_:)``.
    public func remove(
        _ members: [RecordKey], from relationship: String, of entity: String, _ key: RecordKey
    ) async throws {
        try await store.writeRepeatably { try remove(members, from: relationship, of: entity, key, in: &$0) }
    }

    // MARK: Within a write

    /// Creates a record within a write, as ``create(_:_:key:)`` does.
    @discardableResult
    public func create(
        _ entity: String, _ fields: [Record.Field], key: RecordKey? = nil, in writer: inout StoreWriter
    ) throws -> RecordKey {
        _ = try request(.create, entity, nil, writer.access)
        let fields = try fitting(fields, entity, writer.access)
        let record = Record(entity: entity, key: key ?? RecordKey([]), fields: fields)
        let related = try builder(writer.access).related(.create, nil, of: record)
        return try writer.enqueueCreate(
            entity, key.map { .client($0) } ?? .temporary, fields, OutboxRequest(related: related)
        ).key
    }

    /// Changes fields of a record within a write, as ``update(_:_:_:)`` does.
    @discardableResult
    public func update(
        _ entity: String, _ key: RecordKey, _ fields: [Record.Field], in writer: inout StoreWriter
    ) throws -> UInt64? {
        let request = try request(.update, entity, nil, writer.access)
        let names = fields.map(\.name)
        if let sent = request.fields, request.content(for: .update) == .changed, !names.isEmpty,
            !names.contains(where: sent.contains)
        {
            throw WriteError.nothingToSend(entity: entity, fields: names)
        }
        let fields = try fitting(fields, entity, writer.access)
        let related = try related(.update, nil, entity, key, writer.access)
        return try writer.enqueueUpdate(entity, key, fields, OutboxRequest(related: related)).operation
    }

    /// Deletes a record within a write, as ``delete(_:_:)`` does.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, in writer: inout StoreWriter) throws -> UInt64? {
        _ = try request(.delete, entity, nil, writer.access)
        let related = try related(.delete, nil, entity, key, writer.access)
        return try writer.enqueueDelete(entity, key, OutboxRequest(related: related)).operation
    }

    /// Adds members within a write, as ``add(_:to:of:_:)`` does.
    public func add(
        _ members: [RecordKey], to relationship: String, of entity: String, _ key: RecordKey,
        in writer: inout StoreWriter
    ) throws {
        try change(.add, members, relationship, entity, key, &writer)
    }

    /// Removes members within a write, as ``remove(_:from:of:_:)`` does.
    public func remove(
        _ members: [RecordKey], from relationship: String, of entity: String, _ key: RecordKey,
        in writer: inout StoreWriter
    ) throws {
        try change(.remove, members, relationship, entity, key, &writer)
    }

    /// Queues one operation for each member that is added or removed.
    private func change(
        _ kind: OutboxOperation.Kind, _ members: [RecordKey], _ relationship: String, _ entity: String,
        _ key: RecordKey, _ writer: inout StoreWriter
    ) throws {
        _ = try request(kind, entity, relationship, writer.access)
        let request = OutboxRequest(related: try related(kind, relationship, entity, key, writer.access))
        for member in members {
            if kind == .add {
                try writer.enqueueAdd([member], to: relationship, of: entity, key, request)
            } else {
                try writer.enqueueRemove([member], from: relationship, of: entity, key, request)
            }
        }
    }

    // MARK: Requests

    /// Converts values to the types of their fields, as in a condition.
    private func fitting(_ fields: [Record.Field], _ name: String, _ access: StoreAccess) throws -> [Record.Field] {
        guard let entity = access.catalog.entity(name) else { return fields }
        return try fields.map { given in
            guard let field = entity.field(given.name) else { return given }
            return Record.Field(given.name, try access.fitting(given.value, field, entity))
        }
    }

    func builder(_ access: StoreAccess) -> WriteMessageBuilder {
        WriteMessageBuilder(client: client, access: access, plans: plans)
    }

    /// The declared request of an operation.
    private func request(
        _ kind: OutboxOperation.Kind, _ name: String, _ relationship: String?, _ access: StoreAccess
    ) throws -> WriteRequest {
        guard let entity = access.catalog.entity(name) else {
            throw StoreError.unknownEntity(name: name, known: access.catalog.entities.map(\.name))
        }
        guard
            let request = client.description.writes(of: entity, in: access.catalog)?.request(
                for: kind, relationship: relationship)?.request
        else {
            let declaration = relationship.map { "relationships.\($0).\(kind.rawValue)" } ?? kind.rawValue
            throw WriteError.noRequest(entity: name, operation: declaration)
        }
        return request
    }

    /// The records that the URL of an operation on a stored record refers to.
    private func related(
        _ kind: OutboxOperation.Kind, _ relationship: String?, _ name: String, _ key: RecordKey, _ access: StoreAccess
    ) throws -> [OutboxRecord] {
        guard let entity = access.catalog.entity(name),
            let url = client.description.writes(of: entity, in: access.catalog)?.request(
                for: kind, relationship: relationship)?.request.url, try builder(access).leadsToRecords(url),
            let record = try access.storedRecord(entity, try access.outbox.resolvedKey(name, key))
        else { return [] }
        return try builder(access).related(kind, relationship, of: record)
    }
}
