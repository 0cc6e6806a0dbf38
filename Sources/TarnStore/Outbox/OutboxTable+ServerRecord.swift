// Records as the server has them: without the local changes that have not reached it.

/// A record as the server has it, as far as that is known.
package struct ServerRecord: Sendable, Hashable {
    /// The record without local changes.
    package var record: Record
    /// The fields, absent from ``record``, that were changed here without an operation and whose
    /// values at the server no response has brought since.
    package var unknown: Set<String> = []

    package init(_ record: Record) { self.record = record }
}

extension OutboxTable {
    /// Returns a stored record without its local changes; nil if it is not stored.
    ///
    /// A field has the value that a later response has brought, else the one before the first
    /// operation that changes it.
    package func serverRecord(_ listed: ListedRecord) throws -> ServerRecord? {
        guard let record = try access.record(listed) else { return nil }
        return try withoutLocalChanges(record, listed, ids(.own, listed))
    }

    /// Returns the record of a deletion without earlier local changes; nil if it is not kept.
    ///
    /// - Parameter takingServer: whether values that responses have brought since replace those
    ///   that the record had when it was deleted.
    package func serverRecord(ofDeletion id: UInt64, takingServer: Bool = true) throws -> ServerRecord? {
        guard let deletion = try stored(id), let row = deletion.rows.first, let record = try decoded(row) else {
            return nil
        }
        let earlier = try ids(.own, row.record).filter { $0 < id }
        return try withoutLocalChanges(record, row.record, earlier, takingServer: takingServer)
    }

    /// The server's values of a record's fields, encoded, that responses have brought since the
    /// fields were changed locally, by the ids of the fields.
    package func valuesOfResponses(_ name: String, _ key: RecordKey) throws -> [UInt16: [UInt8]] {
        guard let entity = access.catalog.entity(name) else { return [:] }
        let mark = try key.storageKey.withUnsafeBytes { try access.localChanges.mark(entity.root, $0) }
        return Dictionary(mark?.server.map { ($0.field, $0.value) } ?? []) { $1 }
    }

    /// Returns the target of a marked record's reference at the server: nil if it has none, or
    /// if that is not known.
    ///
    /// It is the one that a later response has brought, else the one before the first operation
    /// that changes the reference.
    package func serverTarget(of field: UInt16, _ listed: ListedRecord) throws -> [UInt8]? {
        let mark = try listed.storageKey.withUnsafeBytes { try access.localChanges.mark(listed.entity, $0) }
        guard let mark, let root = access.catalog.entity(id: listed.entity) else { return nil }
        if let known = mark.serverValue(of: field) { return known.referenceTarget }
        let place = RecordFieldPlace(record: listed, field: field), catalog = access.catalog
        let changing = try touching(listed).filter { $0.touchedFields($0.record(catalog)).contains(place) }
        guard !changing.isEmpty || mark.operation == .update && !mark.covers(field) else { return nil }
        let value = try access.lending {
            try listed.storageKey.withUnsafeBytes {
                try access.records.row(root, $0)?.body.value(of: field).map { Array($0.bytes) }
            }
        }
        return changing.undone(value, place, catalog)?.referenceTarget
    }

    private func withoutLocalChanges(
        _ record: Record, _ listed: ListedRecord, _ operations: [UInt64], takingServer: Bool = true
    ) throws -> ServerRecord {
        let mark = try listed.storageKey.withUnsafeBytes { try access.localChanges.mark(listed.entity, $0) }
        let own = try operations.compactMap { try stored($0) }.filter { $0.kind != .create }
        guard mark != nil || !own.isEmpty, let entity = access.catalog.entity(record.entity) else {
            return ServerRecord(record)
        }
        var result = ServerRecord(record), touched: Set<UInt16> = []
        func undo(_ operations: [StoredOperation]) {
            let places = operations.flatMap { $0.touchedFields($0.record(access.catalog)) }
            for place in places where place.record == listed {
                guard touched.insert(place.field).inserted, let name = entity.field(id: place.field)?.name else {
                    continue
                }
                let visible = result.record[name].map { $0.withEncoded { Array($0.bytes) } }
                let bytes = operations.undone(visible, place, access.catalog)
                result.record.replace(name, bytes.flatMap { value($0, entity.id, place.field) })
            }
        }
        undo(own)
        if takingServer {
            for (field, bytes) in mark?.server ?? [] {
                touched.insert(field)
                guard let name = entity.field(id: field)?.name else { continue }
                result.record.replace(name, value(bytes, entity.id, field))
            }
        }
        guard let mark, mark.operation == .update, mark.fields.contains(where: { !touched.contains($0) }) else {
            return result
        }
        // A deletion of another record may have changed a reference.
        undo(try touching(listed).filter { $0.record(access.catalog) != listed })
        for field in mark.fields where !touched.contains(field) && !entity.key.contains(field) {
            guard let name = entity.field(id: field)?.name else { continue }
            result.record.replace(name, nil)
            result.unknown.insert(name)
        }
        return result
    }
}

extension Record {
    /// Sets a field; nil makes it absent.
    fileprivate mutating func replace(_ name: String, _ value: Value?) {
        guard let index = fields.firstIndex(where: { $0.name == name }) else {
            if let value { fields.append(Field(name, value)) }
            return
        }
        if let value { fields[index].value = value } else { fields.remove(at: index) }
    }
}
