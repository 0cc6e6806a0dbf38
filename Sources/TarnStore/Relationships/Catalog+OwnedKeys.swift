// Owned keys: primary keys that contain the key of another record, such as `[issue, number]`, where
// `issue` is a relationship. The components of the other key are part of this one, and the row
// stores
// the reference.

extension Catalog {
    /// A field of a key, and the number of the key's components that it provides.
    struct KeyPart: Sendable, Hashable {
        let field: UInt16
        let count: Int
        /// Indicates a relationship, whose target's key is part of this one.
        let isReference: Bool
    }
}

extension Catalog.Entity {
    /// Indicates that a relationship is part of the key.
    package var hasOwner: Bool { keyParts.contains(where: \.isReference) }

    /// The names of the key's attributes, without relationships, in the order of the key.
    package var keyAttributes: [String] {
        keyParts.compactMap { $0.isReference ? nil : field(id: $0.field)?.name }
    }

    /// Returns the values of the key's fields for a record with this key.
    package func keyValues(_ key: RecordKey) -> [UInt16: Value] {
        var values: [UInt16: Value] = [:], rest = key.components[...]
        for part in keyParts {
            let components = Array(rest.prefix(part.count))
            rest = rest.dropFirst(part.count)
            if part.isReference {
                values[part.field] = .reference(RecordKey(components))
            } else if let component = components.first {
                values[part.field] = Value(component)
            }
        }
        return values
    }
}

extension RecordKey {
    /// The whole encoding of the key. The storage key is this encoding, or begins with it.
    package var tuple: [UInt8] {
        var writer = ByteWriter(capacity: 64)
        for component in components { writer.appendTuple(component) }
        return Array(writer.bytes)
    }
}

extension RowBody {
    /// Returns the primary key, from the fields that are its parts.
    /// Nil if a field is missing, or is a reference to a key that is too long for a reference.
    package func key(of entity: Catalog.Entity) -> RecordKey? {
        if entity.hasOwner, let whole = value(of: WholeKey.field), whole.tag == ValueTag.bytes {
            return RecordKey(tuple: whole.payload)
        }
        var components: [KeyComponent] = []
        components.reserveCapacity(entity.keyTypes.count)
        for part in entity.keyParts {
            guard let value = value(of: part.field) else { return nil }
            switch part.isReference ? .null : value.decoded() {
            case .int(let x): components.append(.int(x))
            case .string(let x): components.append(.string(x))
            case .uuid(let x): components.append(.uuid(x))
            default:
                guard part.isReference, let target = value.reference, let key = RecordKey(storageKey: target),
                    key.components.count == part.count
                else { return nil }
                components += key.components
            }
        }
        return components.isEmpty ? nil : RecordKey(components)
    }
}

extension StoreAccess {
    /// Returns the primary key from the fields of a new row.
    /// The whole key of a reference to a long key is read from the target's row.
    func wholeKey(_ entity: Catalog.Entity, _ body: RowBody) throws -> RecordKey? {
        if let key = body.key(of: entity) { return key }
        var components: [KeyComponent] = []
        for part in entity.keyParts {
            guard let value = body.value(of: part.field) else { return nil }
            guard part.isReference else {
                switch value.decoded() {
                case .int(let x): components.append(.int(x))
                case .string(let x): components.append(.string(x))
                case .uuid(let x): components.append(.uuid(x))
                default: return nil
                }
                continue
            }
            guard let target = value.reference, case .reference(let reference)? = entity.field(id: part.field)?.kind,
                let owner = catalog.entity(id: reference.destination)
            else { return nil }
            let key: RecordKey? = try lending {
                if let key = RecordKey(storageKey: target) { return key }
                return try records.row(owner, target).flatMap { self.key(owner, target, $0) }
            }
            guard let key, key.components.count == part.count else { return nil }
            components += key.components
        }
        return components.isEmpty ? nil : RecordKey(components)
    }

    /// Returns whether two rows that are stored under the same digest have the same key.
    /// A key field that the new row does not have is assumed to be equal.
    func saySameKey(_ entity: Catalog.Entity, _ old: RowBody, _ new: RowBody) -> Bool {
        ([WholeKey.field] + entity.key).allSatisfy { id in
            // A change found by the storage key alone, such as through a reference, does not
            // contain the key.
            guard let b = new.value(of: id) else { return true }
            guard let a = old.value(of: id) else { return false }
            // The position of a reference among its siblings is not part of the key.
            if let x = a.reference, let y = b.reference { return Bytes.equal(x, y) }
            return Bytes.equal(a.bytes, b.bytes)
        }
    }
}

extension BodyBuilder {
    /// Adds the whole key if rows under that storage key store it. Must precede all other fields.
    package mutating func wholeKey(_ entity: Catalog.Entity, _ storageKey: Bytes, _ tuple: () -> [UInt8]) {
        guard WholeKey.isKept(entity, storageKey) else { return }
        let tuple = tuple()
        field(WholeKey.field) { writer in tuple.withUnsafeBytes { writer.appendValue(tag: ValueTag.bytes, $0) } }
    }
}
