// The variables of URL templates: fields of a record and of the records that it refers to.

import TarnImport
import TarnStore

/// The values of `{number}`, `{repository.fullName}` and `{member.name}`.
struct RecordVariables {
    let access: StoreAccess
    let record: Record
    /// The member that is added or removed; nil for other operations.
    let member: Record?
    /// The forms in which the server has the values.
    let bodies: BodyWriter

    /// The value of a variable; nil if it has none.
    func value(of variable: String) throws -> Value? { try field(of: variable)?.field.value }

    /// The value of a variable as the server has it in JSON; nil if it is none of an attribute.
    func json(of variable: String) throws -> JSONValue? {
        guard let (entity, field) = try field(of: variable) else { return nil }
        return try bodies.json(of: field.value, attribute: field.name, of: entity)
    }

    /// The value of a variable as the server has it in URLs; nil if it has none.
    func urlText(of variable: String) throws -> String? {
        guard let (entity, field) = try field(of: variable) else { return nil }
        return try bodies.urlText(of: field.value, field: field.name, of: entity)
    }

    /// The field that a variable leads to, with its entity.
    private func field(of variable: String) throws -> (entity: Catalog.Entity, field: Record.Field)? {
        var (record, names) = start(variable)
        while let name = names.popFirst() {
            guard let value = record[name] else { return nil }
            if names.isEmpty { return access.catalog.entity(record.entity).map { ($0, Record.Field(name, value)) } }
            guard let next = try target(name, of: record, value) else { return nil }
            record = next
        }
        return nil
    }

    /// The records that a variable leads through.
    func path(of variable: String) throws -> [OutboxRecord] {
        var (record, names) = start(variable)
        var found: [OutboxRecord] = []
        while let name = names.popFirst() {
            guard let value = record[name], let next = try target(name, of: record, value) else { return found }
            found.append(OutboxRecord(next.entity, next.key))
            record = next
        }
        return found
    }

    private func start(_ variable: String) -> (Record, ArraySlice<String>) {
        let names = variable.split(separator: ".").map(String.init)
        if let member, names.count > 1, names[0] == "member" { return (member, names.dropFirst()) }
        return (record, names[...])
    }

    /// The record that a to-one relationship refers to, as the server has it.
    private func target(_ name: String, of record: Record, _ value: Value) throws -> Record? {
        guard case .reference(let key) = value, let entity = access.catalog.entity(record.entity),
            case .reference(let reference)? = entity.field(name)?.kind,
            let destination = access.catalog.entity(id: reference.destination)
        else { return nil }
        return try access.serverRecord(destination, key)?.record
            ?? Record(entity: destination.name, key: key, fields: []).withKeyFields(destination)
    }
}

extension StoreAccess {
    /// A stored record, with the attributes of its key.
    func storedRecord(_ entity: Catalog.Entity, _ key: RecordKey) throws -> Record? {
        try record(ListedRecord(entity: entity.root, storageKey: key.storageKey))?.withKeyFields(entity)
    }

    /// A stored record without the changes that have not reached the server.
    func serverRecord(_ entity: Catalog.Entity, _ key: RecordKey) throws -> ServerRecord? {
        let listed = ListedRecord(entity: entity.root, storageKey: key.storageKey)
        guard var found = try outbox.serverRecord(listed) else { return nil }
        found.record = found.record.withKeyFields(entity)
        return found
    }
}

extension Record {
    /// Sets a field; nil makes it absent.
    mutating func set(_ name: String, _ value: Value?) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            if let value { fields[index].value = value } else { fields.remove(at: index) }
        } else if let value {
            fields.append(Field(name, value))
        }
    }

    /// The record with the attributes of its key, if they are not among its fields.
    ///
    /// A key that is known by its digest alone has none.
    func withKeyFields(_ entity: Catalog.Entity) -> Record {
        if case .digest? = key.components.first { return self }
        var record = self
        for (id, value) in entity.keyValues(key) {
            if let name = entity.field(id: id)?.name, self[name] == nil { record.fields.append(Field(name, value)) }
        }
        return record
    }
}

extension Catalog.Entity {
    /// The fields of a key that the server has to assign.
    func temporaryFields(of recordKey: RecordKey) -> Set<String> {
        let values = keyValues(recordKey)
        let isSingle = recordKey.components.count == 1
        return Set(
            key.compactMap { id in
                guard let name = field(id: id)?.name, let value = values[id] else { return nil }
                return isSingle || value.isTemporary ? name : nil
            })
    }
}

extension Value {
    /// Whether a component of a key has the form of temporary ones, which any UUID has.
    fileprivate var isTemporary: Bool {
        if case .uuid = self { return true }
        return hasTemporaryKey
    }

    /// Whether the value is or contains a key, or a part of one, that the server has not assigned:
    /// a temporary integer or text. A temporary UUID has no form of its own.
    var hasTemporaryKey: Bool {
        switch self {
        case .int(let number): number > Int64.min && number < Int64.min + 1 << 48
        case .string(let text): text.hasPrefix("tarn:new:")
        case .reference(let key): key.hasTemporaryPart
        case .references(let keys): keys.contains(where: \.hasTemporaryPart)
        default: false
        }
    }

    /// Whether the value is or contains the key of a missing record that is known by its digest
    /// alone.
    var hasUnknownKey: Bool {
        switch self {
        case .reference(let key): key.isDigest
        case .references(let keys): keys.contains(where: \.isDigest)
        default: false
        }
    }
}

extension RecordKey {
    fileprivate var hasTemporaryPart: Bool {
        components.contains { component in
            switch component {
            case .int(let number): Value.int(number).hasTemporaryKey
            case .string(let text): Value.string(text).hasTemporaryKey
            default: false
            }
        }
    }
}
