// Queueing changes by names and values.

import TarnStore

extension Outbox {
    /// Creates a record locally, and queues its creation.
    ///
    /// - Parameters:
    ///   - fields: the fields of the record. Values of other types are converted as in a condition.
    ///     Those that the declared request does not send stay local changes, unless they have
    ///     requests of their own, which are queued as well.
    ///   - key: the key that the program chooses; nil for a temporary one, which the server's key
    ///     replaces.
    /// - Returns: the key of the record.
    /// - Throws: `WriteError.noRequest`; `OutboxError.recordExists`, `.tooLarge`; otherwise as
    ///   `StoreWriter.put`.
    @discardableResult
    public func create(_ entity: String, _ fields: [Record.Field], key: RecordKey? = nil) async throws -> RecordKey {
        try await store.writeRepeatably { try create(entity, fields, key: key, in: &$0) }
    }

    /// Changes fields of a record locally, and queues the change of those that differ from the
    /// server's values.
    ///
    /// A field that the declared request does not send stays a local change, beside others that it
    /// sends.
    ///
    /// - Returns: the operation that has the change, the last one if there are several for fields
    ///   with requests of their own; nil if nothing differs.
    /// - Throws: `WriteError.noRequest`, `.nothingToSend`, `.request` if no changed field can be
    ///   sent; `OutboxError.recordMissing`, `.tooLarge`; otherwise as `StoreWriter.put`.
    @discardableResult
    public func update(_ entity: String, _ key: RecordKey, _ fields: [Record.Field]) async throws -> UInt64? {
        try await store.writeRepeatably { try update(entity, key, fields, in: &$0) }
    }

    /// Deletes a record locally, and queues its deletion.
    ///
    /// If its creation was never sent, that is withdrawn instead, and queued operations of other
    /// records lose their references to it.
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
        try create(entity, fields, key: key, isWhole: false, in: &writer)
    }

    /// Creates a record within a write.
    ///
    /// - Parameter isWhole: whether every field has a value, as in a struct: those that the request
    ///   does not send are the server's. Otherwise they stay local changes.
    func create(
        _ entity: String, _ fields: [Record.Field], key: RecordKey?, isWhole: Bool, in writer: inout StoreWriter
    ) throws -> RecordKey {
        let unsent = try unsentByCreation(entity, fields.map(\.name), writer.access)
        let own = isWhole ? [:] : builder(writer.access).fieldRequests(of: entity)
        var fields = try fitting(fields, entity, writer.access)
        let late = fields.filter { unsent.contains($0.name) && own[$0.name] != nil }
        // A new record has no value to clear.
        let empty = Set(late.filter { $0.value == .null }.map(\.name)), apart = late.filter { $0.value != .null }
        let requests = try apart.map { try request(for: $0, own[$0.name], entity, nil, writer) }
        fields.removeAll { field in apart.contains { $0.name == field.name } }
        let record = Record(entity: entity, key: key ?? RecordKey([]), fields: fields)
        var queued = OutboxRequest(related: try builder(writer.access).related(.create, nil, of: record))
        queued.unsent = isWhole ? [] : unsent.subtracting(own.keys)
        queued.serverFields = isWhole ? unsent : empty
        let made = try writer.enqueueCreate(entity, key.map { .client($0) } ?? .temporary, fields, queued).key
        for (field, request) in zip(apart, requests) {
            _ = try queueApart(field, request, entity, made, apart: Set(own.keys), staysSeparate: true, &writer)
        }
        return made
    }

    /// Changes fields of a record within a write, as ``update(_:_:_:)`` does.
    @discardableResult
    public func update(
        _ entity: String, _ key: RecordKey, _ fields: [Record.Field], in writer: inout StoreWriter
    ) throws -> UInt64? {
        try queueUpdates(entity, key, fields, &writer).last
    }

    /// Changes fields of a record within a write, and returns the operations that have the changes:
    /// each field with requests of its own has one.
    func queueUpdates(
        _ entity: String, _ key: RecordKey, _ fields: [Record.Field], _ writer: inout StoreWriter
    ) throws -> [UInt64] {
        let own = builder(writer.access).fieldRequests(of: entity)
        guard fields.contains(where: { own[$0.name] != nil }) else {
            return try updateTogether(entity, key, fields, apart: Set(own.keys), &writer).map { [$0] } ?? []
        }
        let fields = try fitting(fields, entity, writer.access), together = fields.filter { own[$0.name] == nil }
        var apart = fields.filter { own[$0.name] != nil }, early: [Record.Field] = []
        let isNew = try writer.outbox.endsWithOpenCreation(entity, key), names = Set(own.keys)
        if isNew {
            // The creation has those that its request sends.
            let late = try unsentByCreation(entity, apart.map(\.name), writer.access)
            early = apart.filter { !late.contains($0.name) }
            apart.removeAll { !late.contains($0.name) }
        }
        // Before the first change.
        let requests = try apart.map { try request(for: $0, own[$0.name], entity, key, writer) }
        var operations: [UInt64] = []
        // The creation may take several.
        func note(_ id: UInt64?) { if let id, !operations.contains(id) { operations.append(id) } }
        for field in early {
            let request = own[field.name]?.request(for: field.value)
            let receipt = try queueApart(field, request, entity, key, apart: names, staysSeparate: false, &writer)
            if receipt.operation != nil, !receipt.isFolded, request == nil {
                throw WriteError.noRequest(
                    entity: entity, operation: WriteRequests.declaration(ofField: field.name, field.value))
            }
            note(receipt.operation)
        }
        if !together.isEmpty { note(try updateTogether(entity, key, together, apart: names, &writer)) }
        for (field, request) in zip(apart, requests) {
            note(try queueApart(field, request, entity, key, apart: names, staysSeparate: isNew, &writer).operation)
        }
        return operations
    }

    /// Queues the change of one field that has requests of its own.
    ///
    /// - Parameters:
    ///   - request: the request for its value; nil if only the creation of the record sends it.
    ///   - apart: the fields that have requests of their own.
    ///   - staysSeparate: whether the change is not folded into the creation of its record.
    private func queueApart(
        _ field: Record.Field, _ request: WriteRequest?, _ entity: String, _ key: RecordKey, apart: Set<String>,
        staysSeparate: Bool, _ writer: inout StoreWriter
    ) throws -> OutboxReceipt {
        var queued = OutboxRequest()
        queued.related = try request.map { try related($0, entity, key, writer.access) } ?? []
        (queued.staysSeparate, queued.apart) = (staysSeparate, apart)
        return try writer.enqueueUpdate(entity, key, [field], queued)
    }

    /// The request for the new value of a field that has requests of its own.
    ///
    /// - Parameter key: the key of the record; nil for one that is not created yet.
    /// - Throws: `WriteError.noRequest`, `.request`.
    private func request(
        for field: Record.Field, _ requests: FieldRequests?, _ entity: String, _ key: RecordKey?,
        _ writer: borrowing StoreWriter
    ) throws -> WriteRequest {
        guard let request = requests?.request(for: field.value) else {
            throw WriteError.noRequest(
                entity: entity, operation: WriteRequests.declaration(ofField: field.name, field.value))
        }
        let builder = builder(writer.access)
        if let found = writer.access.catalog.entity(entity),
            let unsent = try builder.unsent([field.name], .update, request, found).first
        {
            throw unsent.error(entity, request)
        }
        if let key { try builder.checkURL(request, entity, writer.outbox.resolvedKey(entity, key)) }
        return request
    }

    /// Changes the fields that one request sends.
    ///
    /// - Parameter apart: the fields that have requests of their own.
    private func updateTogether(
        _ entity: String, _ key: RecordKey, _ fields: [Record.Field], apart: Set<String>, _ writer: inout StoreWriter
    ) throws -> UInt64? {
        let request = try request(.update, entity, nil, writer.access)
        let names = fields.map(\.name), unsent = try unsent(.update, entity, names, writer.access)
        let fields = try fitting(fields, entity, writer.access)
        let related = try related(.update, nil, entity, key, writer.access)
        var queued = OutboxRequest(related: related), operation: UInt64?, left = Set(unsent.map(\.name))
        queued.apart = apart
        if try writer.outbox.endsWithOpenCreation(entity, key) {
            // A change that only the creation can send is folded into it, and any other one is not.
            let late = try unsentByCreation(entity, names, writer.access)
            let early = fields.filter { !late.contains($0.name) }
            if !early.isEmpty { operation = try writer.enqueueUpdate(entity, key, early, queued).operation }
            left.formIntersection(late)
            if !left.isEmpty { try writer.changeLocally(entity, key, fields.filter { left.contains($0.name) }) }
            queued.staysSeparate = true
            let rest = fields.filter { late.contains($0.name) && !left.contains($0.name) }
            return rest.isEmpty ? operation : try writer.enqueueUpdate(entity, key, rest, queued).operation
        }
        if let first = unsent.first, left.count == Set(names).count {
            guard unsent.allSatisfy({ $0.reason == nil }), let found = writer.access.catalog.entity(entity) else {
                throw (unsent.first { $0.reason != nil } ?? first).error(entity, request)
            }
            throw WriteError.nothingToSend(entity: found.name, fields: names)
        }
        try builder(writer.access).checkURL(request, entity, writer.outbox.resolvedKey(entity, key))
        if !left.isEmpty { try writer.changeLocally(entity, key, fields.filter { left.contains($0.name) }) }
        operation = try writer.enqueueUpdate(
            entity, key, fields.filter { !left.contains($0.name) }, queued
        ).operation
        return operation
    }

    /// Deletes a record within a write, as ``delete(_:_:)`` does.
    @discardableResult
    public func delete(_ entity: String, _ key: RecordKey, in writer: inout StoreWriter) throws -> UInt64? {
        try queueDeletion(entity, key, &writer).operation
    }

    /// Deletes a record within a write, and returns what else has changed.
    func queueDeletion(_ entity: String, _ key: RecordKey, _ writer: inout StoreWriter) throws -> OutboxReceipt {
        let request = try request(.delete, entity, nil, writer.access)
        try builder(writer.access).checkURL(request, entity, writer.outbox.resolvedKey(entity, key))
        var queued = OutboxRequest(related: try related(.delete, nil, entity, key, writer.access))
        // The deletion removes the record from the responses that had it.
        let version = try version(entity, key, writer.access)
        (queued.etag, queued.lastModified) = (version.etag, version.lastModified)
        return try writer.enqueueDelete(entity, key, queued)
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

    /// Queues one operation for each member that is added or removed, and returns their numbers.
    @discardableResult
    func change(
        _ kind: OutboxOperation.Kind, _ members: [RecordKey], _ relationship: String, _ entity: String,
        _ key: RecordKey, _ writer: inout StoreWriter
    ) throws -> [UInt64] {
        let declared = try request(kind, entity, relationship, writer.access)
        try builder(writer.access).checkURL(declared, entity, writer.outbox.resolvedKey(entity, key))
        let request = OutboxRequest(related: try related(kind, relationship, entity, key, writer.access))
        return try writer.enqueueEach(kind, members, of: relationship, entity, key, request)
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

    /// The fields among the given ones that no request sends when an operation is queued: they stay
    /// local changes.
    package func unsent(
        _ kind: OutboxOperation.Kind, _ name: String, _ fields: [String], _ access: StoreAccess
    ) throws -> [UnsentField] {
        guard let entity = access.catalog.entity(name) else { return [] }
        let builder = builder(access), own = builder.fieldRequests(of: name)
        let together = own.isEmpty ? fields : fields.filter { own[$0] == nil }
        guard !together.isEmpty else { return [] }
        return try builder.unsent(together, kind, request(kind, name, nil, access), entity)
    }

    /// The fields among the given ones that the request of a creation does not send.
    ///
    /// - Throws: `WriteError.noRequest`.
    private func unsentByCreation(
        _ name: String, _ fields: [String], _ access: StoreAccess
    ) throws -> Set<String> {
        guard let entity = access.catalog.entity(name) else { return [] }
        return Set(try builder(access).unsent(fields, .create, request(.create, name, nil, access), entity).map(\.name))
    }

    /// The declared requests of an entity.
    private func writes(of name: String, _ access: StoreAccess) -> WriteRequests? {
        access.catalog.entity(name).flatMap { client.description.writes(of: $0, in: access.catalog) }
    }

    /// The version of a record to delete: the validators of the newest response to its URL,
    /// whatever its credentials were, or of a later answer to a write of this process.
    private func version(_ name: String, _ key: RecordKey, _ access: StoreAccess) throws -> Validators {
        let api = api(ofEntity: name)
        let client = client.all.first { ($0.apiName ?? "") == api } ?? client
        let builder = WriteMessageBuilder(client: client, access: access, plans: plans)
        let key = try access.outbox.resolvedKey(name, key)
        guard let url = try builder.recordURL(ofDeletion: name, key) else { return Validators() }
        let scopes = try access.responses.scopes().union([""]).sorted()
        let newest = try client.newestResponse(to: url, scopes: scopes, access)
        if let written = validators[url], newest.map({ !$0.at.isLater(than: written.at, at: client.now) }) ?? true {
            return written.validators
        }
        return newest?.validators ?? Validators()
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
        let request = writes(of: name, access)?.request(for: kind, relationship: relationship)?.request
        return try request.map { try related($0, name, key, access) } ?? []
    }

    /// The records that the URL of a request for a stored record refers to.
    private func related(
        _ request: WriteRequest, _ name: String, _ key: RecordKey, _ access: StoreAccess
    ) throws -> [OutboxRecord] {
        guard let entity = access.catalog.entity(name), try builder(access).leadsToRecords(request.url),
            let record = try access.storedRecord(entity, try access.outbox.resolvedKey(name, key))
        else { return [] }
        return try builder(access).related(request, of: record)
    }
}
