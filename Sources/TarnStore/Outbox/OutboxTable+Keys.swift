// Keys and values of changes to queue: temporary keys, and keys that were replaced meanwhile.

import Foundation

extension OutboxTable {
    /// Finds a record to change. A temporary key that was replaced leads to the record, too.
    func existing(_ entity: String, _ key: RecordKey) throws -> (ListedRecord, RecordKey, WholeRow) {
        let found = try access.state.entity(entity)
        try access.checkForm(of: key, found)
        var key = key
        for _ in 0..<2 {
            let storageKey = key.storageKey
            let row = try storageKey.withUnsafeBytes { bytes in
                try access.lending {
                    try access.rowOfKey(found, bytes, key).map { try access.wholeRow($0, found, bytes) }
                }
            }
            if let row { return (ListedRecord(entity: found.root, storageKey: storageKey), key, row) }
            key = try resolved(found, key)
        }
        throw OutboxError.recordMissing(entity: entity, key: key.description)
    }

    /// Returns values in which references to temporary keys that were replaced have the new keys,
    /// and so have attributes by which joined relationships lead to records.
    func resolving(_ values: [Record.Field], _ entity: Catalog.Entity) throws -> [Record.Field] {
        let joins = access.state.outboxSchema.keyJoins.filter {
            access.catalog.isKind(entity.id, of: $0.entity) && !entity.key.contains($0.field)
        }
        let hasKeys = values.contains { field in
            switch field.value {
            case .reference, .references: true
            case .int, .string, .uuid: !joins.isEmpty
            default: false
            }
        }
        guard hasKeys, try counters.aliases > 0 else { return values }
        return try values.map { value in
            guard let field = entity.field(value.name) else { return value }
            guard let join = joins.first(where: { $0.field == field.id }) else {
                return Record.Field(value.name, try access.resolving(value.value, field))
            }
            return Record.Field(value.name, try resolving(value.value, join))
        }
    }

    /// Returns the value of an attribute that contains a key; the new one if that was replaced.
    private func resolving(_ value: Value, _ join: KeyJoin) throws -> Value {
        guard let target = access.catalog.entity(id: join.target), let component = KeyComponent(value) else {
            return value
        }
        let key = RecordKey([component]), present = try resolved(target, key)
        guard present != key, let replaced = present.components.first, present.components.count == 1 else {
            return value
        }
        return Value(replaced)
    }

    func resolving(_ records: [OutboxRecord]) throws -> [ListedRecord] {
        try records.map { record in
            let entity = try access.state.entity(record.entity)
            try access.checkForm(of: record.key, entity)
            return ListedRecord(
                entity: entity.root, storageKey: try resolved(entity, record.key).storageKey)
        }
    }

    /// Encodes and checks the values of an update. Fields of the key must not change it.
    func encoded(_ values: [Record.Field], _ key: RecordKey, _ entity: Catalog.Entity) throws -> [UInt16: [UInt8]] {
        let known = entity.keyValues(key)
        var result: [UInt16: [UInt8]] = [:]
        for value in values {
            guard let field = entity.field(value.name) else {
                throw StoreError.unknownField(entity: entity.name, name: value.name, known: entity.fields.map(\.name))
            }
            if let part = known[field.id] {
                guard Value.haveSameBytes(part, value.value) else {
                    throw StoreError.wrongKey(
                        entity: entity.name, expected: "the record's key \(key), which cannot be changed",
                        found: "\(value.name): \(value.value.plainText)")
                }
                continue
            }
            result[field.id] = try value.value.withEncoded { encoded in
                try access.catalog.check(encoded, fits: field, of: entity)
                return Array(encoded.bytes)
            }
        }
        return result
    }

    /// The key of a record that is created locally.
    struct NewKey {
        var key: RecordKey
        /// The attributes of the key whose values are temporary.
        var temporaryFields: Set<UInt16> = []
        /// The number of the last temporary integer.
        var lastTemporary: UInt64?
    }

    /// Makes the key of a new record.
    func newKey(_ key: OutboxKey, _ entity: Catalog.Entity, _ values: [Record.Field]) throws -> NewKey {
        var parts: [KeyComponent?]
        switch key {
        case .client(let key): return NewKey(key: try withPresentOwners(key, entity))
        case .partial(let given): parts = given
        case .temporary: parts = Array(repeating: nil, count: entity.keyTypes.count)
        }
        guard parts.count == entity.keyTypes.count else {
            throw StoreError.wrongKey(
                entity: entity.name, expected: entity.keyForm, found: "\(parts.count) components")
        }
        try takeParts(of: values, entity, &parts)
        var made = NewKey(key: RecordKey([])), start = 0
        for part in entity.keyParts {
            let end = min(parts.count, start + part.count)
            if parts[start..<end].contains(where: { $0 == nil }) { made.temporaryFields.insert(part.field) }
            start = end
        }
        for (index, type) in entity.keyTypes.enumerated() where parts[index] == nil {
            switch type {
            case .int:
                let next = try (made.lastTemporary ?? counters.lastTemporary) &+ 1
                made.lastTemporary = next
                parts[index] = .int(Int64.min &+ Int64(clamping: next))
            case .string: parts[index] = .string("tarn:new:" + UUID().uuidString.lowercased())
            default: parts[index] = .uuid(UUID())
            }
        }
        made.key = try withPresentOwners(RecordKey(parts.compactMap(\.self)), entity)
        return made
    }

    /// Takes the components of a key that the values contain.
    private func takeParts(
        of values: [Record.Field], _ entity: Catalog.Entity, _ parts: inout [KeyComponent?]
    ) throws {
        var start = 0
        for part in entity.keyParts {
            defer { start += part.count }
            guard let name = entity.field(id: part.field)?.name,
                let value = values.last(where: { $0.name == name })?.value
            else { continue }
            let components: [KeyComponent?] =
                switch value {
                case .int(let x): [.int(x)]
                case .string(let x): [.string(x)]
                case .uuid(let x): [.uuid(x)]
                case .reference(let key) where part.isReference: key.components
                default: []
                }
            guard components.count == part.count else { continue }
            for (index, component) in components.enumerated() where parts[start + index] == nil {
                parts[start + index] = component
            }
        }
    }
}

extension StoreAccess {
    /// Returns a value in which references to temporary keys that were replaced have the new keys.
    func resolving(_ value: Value, _ field: Catalog.Field) throws -> Value {
        guard case .reference(let reference) = field.kind, let destination = catalog.entity(id: reference.destination)
        else { return value }
        switch value {
        case .reference(let key): return .reference(try outbox.resolved(destination, key))
        case .references(let keys): return .references(try keys.map { try outbox.resolved(destination, $0) })
        default: return value
        }
    }
}

extension KeyComponent {
    /// The component with the value of an attribute; nil if no key attribute has such a value.
    fileprivate init?(_ value: Value) {
        switch value {
        case .int(let number): self = .int(number)
        case .string(let text): self = .string(text)
        case .uuid(let uuid): self = .uuid(uuid)
        default: return nil
        }
    }
}
