// Operands: values of a query, converted to the field's type once, in the encodings that
// comparisons need.

/// A value that a condition compares a field with.
struct Operand {
    /// The encoding in rows: a tag and a payload. Text is folded if case is ignored.
    let value: [UInt8]
    /// The encoding in indexes, not cut.
    let tuple: [UInt8]

    init(_ value: Value, folded: Bool = false) {
        var value = value
        if folded {
            value = value.mappingText(CaseFolding.fold)
        }
        var bytes = ByteWriter(capacity: 64), tuple = ByteWriter(capacity: 64)
        bytes.appendValue(value)
        IndexEntry.appendWholeValue(EncodedValue(bytes.bytes), to: &tuple)
        self.value = Array(bytes.bytes)
        self.tuple = Array(tuple.bytes)
    }

    /// Encodes the key of a record, as relationships have it.
    init(_ key: RecordKey) { self.init(storageKey: key.storageKey) }

    init(storageKey: [UInt8]) {
        value = [ValueTag.reference] + storageKey
        var tuple = ByteWriter(capacity: 64)
        storageKey.withUnsafeBytes { tuple.appendTuple(bytes: $0) }
        self.tuple = Array(tuple.bytes)
    }

    /// Returns operands in ascending order, each once.
    static func distinct(_ operands: [Operand]) -> [Operand] {
        var distinct: [Operand] = []
        for operand in operands.sorted(by: { a, b in a.tuple.lexicographicallyPrecedes(b.tuple) })
        where operand.tuple != distinct.last?.tuple {
            distinct.append(operand)
        }
        return distinct
    }

    /// The storage key of a reference, or the bytes of a text, a UUID and so on.
    var payload: ArraySlice<UInt8> { value[1...] }
}

extension Value {
    /// The name of the value's type, for messages.
    var typeName: String { withEncoded { $0.typeName } }
}

extension RecordKey {
    /// Converts a value to a key of an entity: a reference, or the components as separate values.
    init?(_ value: Value, of entity: Catalog.Entity) {
        let types = entity.keyTypes
        switch value {
        case .reference(let key) where key.isDigest && key.components.count == 1: self = key
        case .reference(let key):
            guard key.components.count == types.count else { return nil }
            let values = zip(types, key.components).compactMap { type, component in KeyComponent(Value(component), type)
            }
            guard values.count == types.count else { return nil }
            self.init(values)
        case .array(let values):
            guard values.count == types.count else { return nil }
            let components = zip(types, values).compactMap { type, value in KeyComponent(value, type) }
            guard components.count == types.count else { return nil }
            self.init(components)
        default:
            guard types.count == 1, let component = KeyComponent(value, types[0]) else { return nil }
            self.init([component])
        }
    }
}

extension KeyComponent {
    fileprivate init?(_ value: Value, _ type: AttributeType) {
        switch type.converting(value) {
        case .int(let x): self = .int(x)
        case .string(let x): self = .string(x)
        case .uuid(let x): self = .uuid(x)
        default: return nil
        }
    }
}
