// Operands: values of a query, converted to the field's type once, in the encodings that
// comparisons need.

import Foundation

/// A value that a condition compares a field with.
struct Operand {
    /// The encoding in rows: a tag and a payload. Text is folded if case is ignored.
    let value: [UInt8]
    /// The encoding in indexes, not cut.
    let tuple: [UInt8]

    init(_ value: Value, folded: Bool = false) {
        var value = value
        if folded {
            switch value {
            case .string(let text): value = .string(CaseFolding.fold(text))
            case .url(let text): value = .url(CaseFolding.fold(text))
            case .json(let text): value = .json(CaseFolding.fold(text))
            default: break
            }
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

    /// The storage key of a reference, or the bytes of a text, a UUID and so on.
    var payload: ArraySlice<UInt8> { value[1...] }
}

extension AttributeType {
    /// Converts a value to this type; nil if the type has no value with the same meaning.
    func converting(_ value: Value) -> Value? {
        switch (self, value) {
        case (.bool, .bool), (.int, .int), (.double, .double), (.decimal, .decimal), (.string, .string),
            (.bytes, .bytes),
            (.date, .date), (.uuid, .uuid), (.url, .url), (.json, .json):
            return value
        // Integers compare by value, so one outside the field's range is greater or less than all
        // in it.
        case (.int, .uint), (.uint, .int), (.uint, .uint):
            return value.normalInteger
        case (.int, .double(let x)), (.uint, .double(let x)):
            return Int64(exactly: x).map(Value.int) ?? UInt64(exactly: x).map(Value.uint)
        case (.int, .decimal(let x)), (.uint, .decimal(let x)):
            let text = x.description
            return Int64(text).map(Value.int) ?? UInt64(text).map(Value.uint)
        case (.double, .int(let x)): return Double(exactly: x).map(Value.double)
        case (.double, .uint(let x)): return Double(exactly: x).map(Value.double)
        case (.double, .decimal(let x)): return Double(x.description).map(Value.double)
        case (.decimal, .int(let x)): return ExactDecimal(String(x)).map(Value.decimal)
        case (.decimal, .uint(let x)): return ExactDecimal(String(x)).map(Value.decimal)
        case (.decimal, .double(let x)): return x.isFinite ? ExactDecimal("\(x)").map(Value.decimal) : nil
        case (.decimal, .string(let x)): return ExactDecimal(x).map(Value.decimal)
        case (.date, .string(let x)): return (Timestamp(x) ?? Timestamp("\(x)T00:00:00Z")).map(Value.date)
        case (.uuid, .string(let x)): return UUID(uuidString: x).map(Value.uuid)
        case (.bytes, .string(let x)): return Data(base64Encoded: x).map { .bytes(Array($0)) }
        case (.url, .string(let x)): return .url(x)
        case (.string, .url): if case .url(let x) = value { return .string(x) } else { return nil }
        case (.json, .string(let x)): return .json(x)
        case (.enumeration(let values), .string(let x)):
            return values.contains { $0.utf8.elementsEqual(x.utf8) } ? value : nil
        default: return nil
        }
    }

    /// Whether the type's values are texts, which have prefixes, parts and case.
    var isText: Bool {
        switch self {
        case .string, .url, .json, .enumeration: true
        default: false
        }
    }

    /// The expected value, for messages.
    var expectation: String {
        switch self {
        case .enumeration(let values): "one of " + values.joined(separator: ", ")
        case .date: "a date (2025-01-31 or 2025-01-31T09:00:00Z)"
        default: description
        }
    }
}

extension Value {
    /// An integer in the form that rows store.
    fileprivate var normalInteger: Value {
        if case .uint(let x) = self, let signed = Int64(exactly: x) { return .int(signed) }
        return self
    }

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
