// Details: requests for one record, whose paths are made of its own values.

import TarnImport
import TarnStore

extension RecordClient {
    /// Fetches a record anew by the request that its type declares.
    ///
    /// ```swift
    /// let fresh = try await forge.detail(of: issue)
    /// let other = try await forge.detail(of: issue) { $0.policy(.networkFirst) }
    /// ```
    ///
    /// - Parameters:
    ///   - record: the record, which need not be stored. Targets of its relationships are read from
    ///     the store, if the path needs more than their keys.
    ///   - deletingGone: whether the stored record is deleted if the server answers 404 or 410. One
    ///     with local changes that the server does not have stays: see <doc:LocalChanges>. So does
    ///     one that a delete rule keeps.
    ///   - options: changes the options of the request.
    /// - Throws: as ``one(_:)``; `MirrorError.endpoint` if the path needs a value that the record
    ///   does not have.
    public func detail<Value: DetailedRecord>(
        of record: Value, deletingGone: Bool = false,
        _ options: @Sendable (RecordRequest<Value>) -> RecordRequest<Value> = { $0 }
    ) async throws -> Value {
        let request = options(Value.detail)
        let asked: (request: RecordRequest<Value>, key: RecordKey) = try store.read(verifyingRows: true) { reader in
            var copy = try reader.copy(of: record)
            let key = try reader.outbox.resolvedKey(copy.entity, copy.key)
            // The copy is from before the server's key replaced its own.
            if key != copy.key, let present = try reader.record(copy.entity, key) { copy = present }
            return (try filled(request, copy, isStored: true, reader), copy.key)
        }
        return try await detail(asked.request, asked.key, deletingGone)
    }

    /// Fetches a record by its key, with the request that its type declares.
    ///
    /// If the path needs more than the key, the other values are those of the stored record.
    ///
    /// - Parameters:
    ///   - deletingGone: as for ``detail(of:deletingGone:_:)``.
    ///   - options: changes the options of the request.
    /// - Throws: as ``detail(of:deletingGone:_:)``.
    public func detail<Value: DetailedRecord>(
        _ type: Value.Type, _ key: Value.Key, deletingGone: Bool = false,
        _ options: @Sendable (RecordRequest<Value>) -> RecordRequest<Value> = { $0 }
    ) async throws -> Value {
        let request = options(Value.detail), key = key.recordKey
        let asked: (request: RecordRequest<Value>, key: RecordKey) = try store.read(verifyingRows: true) { reader in
            let stored = try reader.record(Value.entity, key)
            let record = stored ?? Record(entity: Value.entity, key: key, fields: [])
            // A key that the server's key has replaced is not the record's.
            return (try filled(request, record, isStored: stored != nil, reader), record.key)
        }
        return try await detail(asked.request, asked.key, deletingGone)
    }

    private func detail<Value: MappedRecord>(
        _ request: RecordRequest<Value>, _ key: RecordKey, _ deletingGone: Bool
    ) async throws -> Value {
        // A record that is sent meanwhile is newer than the answer.
        let revision = try store.read { try $0.outbox.revision }
        do {
            return try await one(request)
        } catch let error as CacheError {
            if deletingGone, case .request(.status(let code, _, _, _), _) = error, code == 404 || code == 410 {
                try await deleteGone(Value.entity, key, askedAt: revision)
            }
            throw error
        }
    }

    /// Deletes a record that the server does not have, unless it has local changes: these stay as
    /// after an import of a response that reports the record as deleted.
    ///
    /// - Parameter revision: the revision of the outbox before the server was asked.
    private func deleteGone(_ entity: String, _ key: RecordKey, askedAt revision: UInt64) async throws {
        let schema = client.description.schema, mapping = client.description.mapping
        try await store.write { writer in
            guard let root = writer.catalog.entity(entity)?.root else { return }
            let access = writer.access, listed = ListedRecord(entity: root, storageKey: key.storageKey)
            // It has reached the server after the answer.
            if try access.outbox.settledRecords(after: revision).contains(listed) { return }
            let isKept = try listed.storageKey.withUnsafeBytes { storageKey -> Bool in
                guard var mark = try access.localChanges.mark(root, storageKey) else { return false }
                // The server has never had it.
                if mark.operation == .create { return true }
                let kind = try access.record(listed)?.entity ?? entity
                let yields = mark.operation == .delete || mapping.local(of: kind, in: schema) == .server
                if try yields && !access.outbox.hasOperations(root, storageKey, own: true) {
                    try writer.removeLocalMark(root, storageKey)
                    return false
                }
                mark.isGoneAtServer = true
                try writer.putLocalMark(mark, root, storageKey)
                return true
            }
            guard !isKept else { return }
            // The caller is told that the server has none.
            do { try writer.delete(entity, key) } catch StoreWriteError.deleteDenied {}
        }
    }

    /// The request with the values of a record for the variables that have none.
    private func filled<Value>(
        _ request: RecordRequest<Value>, _ record: Record, isStored: Bool, _ reader: StoreReader
    ) throws -> RecordRequest<Value> {
        var request = request
        let known = Set(request.endpoint.parameters.map(\.name))
        for name in request.endpoint.variables where !known.contains(name) {
            let path = name.split(separator: ".").map(String.init)
            guard let text = try reader.detailText(at: path[...], of: record) else {
                throw MirrorError.endpoint(
                    place: request.endpoint.place,
                    message: "\(record.entity) \(record.key) has no value for {\(name)}"
                        + (isStored ? "" : ", and is not in the store: fetch it first"))
            }
            request.endpoint.parameters.append(Endpoint.Parameter(name, text))
        }
        return request
    }
}

extension StoreReader {
    /// The text of a value of a record that need not be stored, or of a target of its to-one
    /// relationships; nil if there is none.
    fileprivate func detailText(at path: ArraySlice<String>, of record: Record) throws -> String? {
        guard let name = path.first, let entity = catalog.entity(record.entity) else { return nil }
        guard let value = record[name] else {
            if path.count == 1 { return text(of: name, inKey: record.key, entity) }
            return catalog.relationship(name, of: entity) == nil ? nil : try text(at: path, of: record)
        }
        guard path.count > 1 else { return value == .null ? nil : value.plainText }
        guard case .reference(let key) = value,
            let target = catalog.relationship(name, of: entity).flatMap({ catalog.entity(id: $0.destination) })
        else { return nil }
        return try detailText(
            at: path.dropFirst(),
            of: self.record(target.name, key) ?? Record(entity: target.name, key: key, fields: []))
    }

    /// The text of an attribute of a key; nil if it is no part of it.
    private func text(of name: String, inKey key: RecordKey, _ entity: Catalog.Entity) -> String? {
        let names = (catalog.entity(id: entity.root) ?? entity).key
        guard let position = names.firstIndex(where: { entity.field(id: $0)?.name == name }),
            names.count == key.components.count
        else { return nil }
        switch key.components[position] {
        case .int(let value): return "\(value)"
        case .string(let value): return value
        case .uuid(let value): return value.uuidString
        case .digest: return nil
        }
    }
}
