// The records that an operation touches and refers to.

/// A field of a record.
struct RecordFieldPlace: Hashable {
    var record: ListedRecord
    var field: UInt16
}

extension StoredOperation {
    /// The record of the operation. The root is that of its entity, or the entity itself if the
    /// catalog lacks it.
    package func record(_ catalog: Catalog) -> ListedRecord {
        ListedRecord(entity: catalog.entity(id: entity)?.root ?? entity, storageKey: key.storageKey)
    }

    /// Whether another state of the operation names the same records, because only its state
    /// differs.
    func hasSameRecords(as other: StoredOperation) -> Bool {
        key == other.key && entity == other.entity && changes == other.changes && edits == other.edits
            && rows == other.rows && members == other.members && related == other.related
    }

    /// The fields that the operation changes locally, its own and those of other records.
    func touchedFields(_ own: ListedRecord) -> Set<RecordFieldPlace> {
        var result: Set<RecordFieldPlace> = []
        for change in changes { result.insert(RecordFieldPlace(record: change.record ?? own, field: change.field)) }
        for edit in edits { result.insert(RecordFieldPlace(record: edit.record ?? own, field: edit.field)) }
        return result
    }

    /// The one-to-one references that a creation or an update takes from other records.
    var takenFields: [RecordFieldPlace] {
        guard kind == .create || kind == .update else { return [] }
        return changes.compactMap { change in
            change.record.map { RecordFieldPlace(record: $0, field: change.field) }
        }
    }

    /// The records whose marks the operation determines.
    func touchedRecords(_ own: ListedRecord) -> Set<ListedRecord> {
        var result: Set<ListedRecord> = [own]
        for change in changes { if let record = change.record { result.insert(record) } }
        for edit in edits { if let record = edit.record { result.insert(record) } }
        for row in rows { result.insert(row.record) }
        return result
    }

    /// Whether a record is one of ``touchedRecords(_:)``.
    package func touches(_ record: ListedRecord, _ own: ListedRecord) -> Bool {
        record == own || changes.contains { $0.record == record } || edits.contains { $0.record == record }
            || hasRow(of: record)
    }

    /// The records that must exist at the server before the operation is sent, without its own.
    func neededRecords(_ schema: OutboxSchema) -> Set<ListedRecord> {
        let catalog = schema.catalog
        var result = Set(related)
        for change in changes {
            // A reference that another record loses to this one is no part of the request.
            if let record = change.record, kind != .create, kind != .update { result.insert(record) }
            schema.forEachReferenced(by: change.after, change.kind, change.field) { result.insert($0) }
        }
        if let entity = catalog.entity(id: entity) {
            schema.forEachOwner(of: key, entity) { result.insert($0) }
            if let relationship = relationship.flatMap({ catalog.relationship($0, of: entity) }),
                let destination = catalog.entity(id: relationship.destination)
            {
                for member in members {
                    result.insert(ListedRecord(entity: destination.root, storageKey: member.storageKey))
                }
            }
        }
        result.remove(record(catalog))
        return result
    }

    /// Whether a changed reference of the record leads to the record itself.
    func refersToItself(_ schema: OutboxSchema) -> Bool {
        let own = record(schema.catalog)
        var isOwn = false
        for change in changes where change.record == nil {
            schema.forEachReferenced(by: change.after, change.kind, change.field) { if $0 == own { isOwn = true } }
        }
        return isOwn
    }

    /// All records other than its own that occur in the operation: the entries of kind 03.
    package func references(_ schema: OutboxSchema) -> Set<ListedRecord> {
        let own = record(schema.catalog)
        var result = neededRecords(schema).union(touchedRecords(own))
        for change in changes {
            if let before = change.before {
                schema.forEachReferenced(by: before, change.kind, change.field) { result.insert($0) }
            }
        }
        for edit in edits {
            if let root = schema.destinationRoot(edit.kind, edit.field) {
                result.insert(ListedRecord(entity: root, storageKey: edit.target))
            }
        }
        for row in rows {
            row.body.withUnsafeBytes { bytes in
                guard let body = RowBody(bytes, isWide: row.isWide) else { return }
                for index in 0..<body.count {
                    guard let value = body.value(at: index) else { continue }
                    schema.forEachReferenced(by: value, row.kind, body.id(at: index)) { result.insert($0) }
                }
            }
        }
        result.remove(own)
        return result
    }
}

extension Catalog {
    /// Returns the relationship of an entity with an identity.
    func relationship(_ identity: StoredOperation.Relationship, of entity: Entity) -> Relationship? {
        relationships(of: entity).first { StoredOperation.Relationship($0) == identity }
    }
}

/// The part of a store's schema that decides which records an operation refers to.
package struct OutboxSchema: Sendable {
    package let catalog: Catalog
    /// The attributes that contain keys of other records, by joined relationships.
    let keyJoins: [KeyJoin]

    package init(_ catalog: Catalog) {
        self.catalog = catalog
        keyJoins = KeyJoin.all(catalog)
    }
}

extension OutboxSchema {
    /// The root entity of a stored relationship's destination.
    func destinationRoot(_ kind: UInt16, _ field: UInt16) -> UInt16? {
        guard case .reference(let reference)? = catalog.entity(id: kind)?.field(id: field)?.kind else { return nil }
        return catalog.entity(id: reference.destination)?.root
    }

    func forEachReferenced(
        by value: [UInt8], _ kind: UInt16, _ field: UInt16, _ body: (ListedRecord) -> Void
    ) {
        value.withUnsafeBytes { bytes in
            guard !bytes.isEmpty else { return }
            forEachReferenced(by: EncodedValue(bytes), kind, field, body)
        }
    }

    /// Calls the closure with every record that a value refers to, by reference or by a joined
    /// attribute.
    func forEachReferenced(
        by value: EncodedValue, _ kind: UInt16, _ field: UInt16, _ body: (ListedRecord) -> Void
    ) {
        switch value.tag {
        case ValueTag.reference, ValueTag.positionedReference:
            if let target = value.reference, let root = destinationRoot(kind, field) {
                body(ListedRecord(root, target))
            }
        case ValueTag.references:
            guard let root = destinationRoot(kind, field) else { return }
            _ = value.forEachReference { body(ListedRecord(root, $0)) }
        case ValueTag.int, ValueTag.string, ValueTag.uuid:
            for join in keyJoins where join.field == field && catalog.isKind(kind, of: join.entity) {
                if let key = value.storageKey { body(ListedRecord(entity: join.target, storageKey: key)) }
            }
        default: break
        }
    }

    /// Calls the closure with the owners in a key: the records whose keys are parts of it.
    func forEachOwner(of key: RecordKey, _ entity: Catalog.Entity, _ body: (ListedRecord) -> Void) {
        guard entity.hasOwner, !key.isDigest else { return }
        var start = 0
        for part in entity.keyParts {
            let end = min(key.components.count, start + part.count)
            if part.isReference, let root = destinationRoot(entity.id, part.field) {
                body(ListedRecord(entity: root, storageKey: RecordKey(Array(key.components[start..<end])).storageKey))
            }
            start = end
        }
    }
}

extension EncodedValue {
    /// The storage key of the record whose only key attribute has this value.
    var storageKey: [UInt8]? {
        var key = ByteWriter()
        switch tag {
        case ValueTag.int:
            guard let int else { return nil }
            key.appendTuple(int)
        case ValueTag.string: key.appendTuple(string: payload)
        case ValueTag.uuid where bytes.count == 17: key.appendTuple(uuid: payload)
        default: return nil
        }
        key.finishStorageKey(from: 0)
        return Array(key.bytes)
    }
}
