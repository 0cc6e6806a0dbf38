// Queueing changes of structs.

import TarnStore

extension Outbox {
    /// Creates a record locally, and queues its creation.
    ///
    /// - Parameter keepsKey: whether the key of the struct is the one to create; otherwise the
    ///   record gets a temporary key, which the server's key replaces. Of a key with several parts,
    ///   relationships such as the owner stay, and so do attributes that the request sends by
    ///   `fields` or in its URL. Of the others, the last one is temporary.
    /// - Returns: the record as it is stored, with its key.
    /// - Throws: as ``create(_:_:key:)``.
    public func create<R: StoredRecord>(_ record: R, keepsKey: Bool = false) async throws -> R {
        try await store.writeRepeatably { writer in
            let (key, fields) = try writer.access.fields(of: record)
            let assigned = keepsKey ? nil : serverAssigned(R.entity, writer.access)
            let made = try create(
                R.entity, fields.filter { $0.name != assigned }, key: keepsKey ? key : nil, isWhole: true,
                in: &writer)
            guard let typed = R.Key(made), let stored = try writer.reader().get(R.self, typed) else {
                throw OutboxError.recordMissing(entity: R.entity, key: made.description)
            }
            return stored
        }
    }

    /// The field of an entity's key that the server assigns; nil if the key has relationships only.
    private func serverAssigned(_ name: String, _ access: StoreAccess) -> String? {
        guard let entity = access.catalog.entity(name) else { return nil }
        let attributes = entity.keyAttributes
        guard attributes.count > 1,
            let request = client.description.writes(of: entity, in: access.catalog)?.create
        else { return attributes.last }
        let variables = (try? PathTemplate(request.url).variables) ?? []
        let known = (request.fields ?? []).union(variables)
        return attributes.last { !known.contains($0) } ?? attributes.last
    }

    /// Changes a record locally, and queues the change of the fields that differ.
    ///
    /// ```swift
    /// try await outbox.update(Issue.self, 17) { $0.state = .closed }
    /// ```
    ///
    /// - Returns: the operation that has the change; nil if nothing differs.
    /// - Throws: as ``update(_:_:_:)``.
    @discardableResult
    public func update<R: StoredRecord>(
        _ type: R.Type, _ key: R.Key, _ change: @escaping @Sendable (inout R) throws -> Void
    ) async throws -> UInt64? {
        try await store.write { writer in
            let resolved = try writer.access.outbox.resolvedKey(R.entity, key.recordKey)
            guard let known = R.Key(resolved), var record = try writer.reader().get(type, known) else {
                throw OutboxError.recordMissing(entity: R.entity, key: key.recordKey.description)
            }
            // By their bytes: Swift calls texts of other code points equal, and 0.0 and -0.0.
            func bytes(_ fields: [Record.Field]) -> [String: [UInt8]] {
                Dictionary(fields.map { ($0.name, $0.value.withEncoded { Array($0.bytes) }) }) { $1 }
            }
            let before = bytes(try writer.access.fields(of: record).fields)
            try change(&record)
            let fields = try writer.access.fields(of: record).fields, after = bytes(fields)
            let changed = fields.filter { before[$0.name] != after[$0.name] }
            return changed.isEmpty ? nil : try update(R.entity, resolved, changed, in: &writer)
        }
    }

    /// Deletes a record locally, and queues its deletion, as ``delete(_:_:)`` does.
    @discardableResult
    public func delete<R: StoredRecord>(_ type: R.Type, _ key: R.Key) async throws -> UInt64? {
        try await delete(R.entity, key.recordKey)
    }

    /// Adds a member to a to-many relationship locally, and queues the addition.
    ///
    /// ```swift
    /// try await outbox.add(label, to: issue, \.labels)
    /// ```
    ///
    /// - Throws: as ``add(_:to:of:_:)``.
    public func add<Owner: TypedRecord, Member: StoredRecord>(
        _ member: Member, to owner: Owner, _ relationship: KeyPath<Owner.Columns, ToManyColumn<Member>>
    ) async throws {
        let (name, key, other) = try place(member, owner, relationship)
        try await add([other], to: name, of: Owner.entity, key)
    }

    /// Removes a member from a to-many relationship locally, and queues the removal.
    ///
    /// - Throws: as ``add(_:to:of:_:)``.
    public func remove<Owner: TypedRecord, Member: StoredRecord>(
        _ member: Member, from owner: Owner, _ relationship: KeyPath<Owner.Columns, ToManyColumn<Member>>
    ) async throws {
        let (name, key, other) = try place(member, owner, relationship)
        try await remove([other], from: name, of: Owner.entity, key)
    }

    private func place<Owner: TypedRecord, Member: StoredRecord>(
        _ member: Member, _ owner: Owner, _ relationship: KeyPath<Owner.Columns, ToManyColumn<Member>>
    ) throws -> (name: String, key: RecordKey, member: RecordKey) {
        let names = Owner.columns[keyPath: relationship].names
        guard let name = names.first, names.count == 1 else {
            throw StoreError.wrongType(
                entity: Owner.entity, field: names.joined(separator: "."),
                expected: "a relationship of the record itself",
                found: "one of another record; pass that record, and its relationship")
        }
        return try store.read { reader in
            (name, try reader.access.fields(of: owner).key, try reader.access.fields(of: member).key)
        }
    }
}
