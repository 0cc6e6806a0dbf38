// A value of a record, copied out of the store. Every exhaustive switch over the cases is here.

import Foundation

/// The value of a field. An absent field has none.
public enum Value: Sendable, Hashable {
    /// A field that is present without a value, as JSON's `null`.
    case null
    /// A Boolean value.
    case bool(Bool)
    /// A signed integer.
    case int(Int64)
    /// An integer above `Int64.max`.
    case uint(UInt64)
    /// A double-precision number.
    case double(Double)
    /// A decimal number of any length.
    case decimal(ExactDecimal)
    /// A text, or the case of an enumeration.
    case string(String)
    /// Raw bytes.
    case bytes([UInt8])
    /// A point in time.
    case date(Timestamp)
    /// A UUID.
    case uuid(UUID)
    /// A URL as text.
    case url(String)
    /// Compact JSON text.
    case json(String)
    /// A list of scalar values.
    case array([Value])
    /// The key of one record of another entity.
    case reference(RecordKey)
    /// The keys of the records of a to-many relationship.
    case references([RecordKey])

    /// Texts are compared by their UTF-8 bytes, never by canonical equivalence.
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.uint(let x), .uint(let y)): x == y
        case (.double(let x), .double(let y)): x == y
        case (.decimal(let x), .decimal(let y)): x == y
        case (.bytes(let x), .bytes(let y)): x == y
        case (.date(let x), .date(let y)): x == y
        case (.uuid(let x), .uuid(let y)): x == y
        case (.string(let x), .string(let y)), (.url(let x), .url(let y)), (.json(let x), .json(let y)):
            ExactText(x) == ExactText(y)
        case (.array(let x), .array(let y)): x == y
        case (.reference(let x), .reference(let y)): x == y
        case (.references(let x), .references(let y)): x == y
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .bool(let x): hasher.combine(x)
        case .int(let x): hasher.combine(x)
        case .uint(let x): hasher.combine(x)
        case .double(let x): hasher.combine(x)
        case .decimal(let x): hasher.combine(x)
        case .bytes(let x): hasher.combine(x)
        case .date(let x): hasher.combine(x)
        case .uuid(let x): hasher.combine(x)
        case .string(let x), .url(let x), .json(let x): ExactText(x).hash(into: &hasher)
        case .array(let x): hasher.combine(x)
        case .reference(let x): hasher.combine(x)
        case .references(let x): hasher.combine(x)
        }
    }
}

extension Value {
    /// Appends the value as JSON (RFC 8259).
    ///
    /// Dates become RFC 3339 text, UUIDs lowercase text, bytes base64, references their keys.
    /// Doubles that JSON cannot represent (NaN, infinities) become null.
    package func appendJSON(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let x): text += x ? "true" : "false"
        case .int(let x): text += String(x)
        case .uint(let x): text += String(x)
        case .double(let x): text += x.isFinite ? "\(x)" : "null"
        case .decimal(let x): text += x.description
        case .bytes(let x): text.appendJSONString(Data(x).base64EncodedString())
        case .string(let x), .url(let x): text.appendJSONString(x)
        case .date(let x): text.appendJSONString(x.description)
        case .uuid(let x): text.appendJSONString(x.uuidString.lowercased())
        case .json(let x): text += x
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.appendJSON(to: &text)
            }
            text += "]"
        case .reference(let key): key.appendJSON(to: &text)
        case .references(let keys):
            text += "["
            for (index, key) in keys.enumerated() {
                if index > 0 { text += "," }
                key.appendJSON(to: &text)
            }
            text += "]"
        }
    }

    /// The value as JSON.
    public var jsonText: String {
        var text = ""
        appendJSON(to: &text)
        return text
    }

    /// The value for people: texts, dates, UUIDs and base64 without quotes, other values as JSON.
    package var plainText: String {
        switch self {
        case .null: ""
        case .string(let x), .url(let x): x
        case .date(let x): x.description
        case .uuid(let x): x.uuidString.lowercased()
        case .bytes(let x): Data(x).base64EncodedString()
        case .reference(let key): key.description
        default: jsonText
        }
    }
}

extension Value {
    /// The type of a scalar; nil for null, lists and references.
    ///
    /// A URL, for example, has the type `url`; the values of enumerations are strings.
    var scalarType: AttributeType? {
        switch self {
        case .bool: .bool
        case .int: .int
        case .uint: .uint
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .bytes: .bytes
        case .date: .date
        case .uuid: .uuid
        case .url: .url
        case .json: .json
        case .null, .array, .reference, .references: nil
        }
    }

    /// Returns a text with its content transformed; other values are returned as they are.
    func mappingText(_ transform: (String) -> String) -> Value {
        switch self {
        case .string(let text): .string(transform(text))
        case .url(let text): .url(transform(text))
        case .json(let text): .json(transform(text))
        default: self
        }
    }
}

extension ByteWriter {
    /// Appends a value in the encoding of rows.
    package mutating func appendValue(_ value: Value) {
        switch value {
        case .null: appendValueNull()
        case .bool(let x): appendValue(x)
        case .int(let x): appendValue(x)
        case .uint(let x): appendValue(x)
        case .double(let x): appendValue(x)
        case .decimal(let x): appendValue(x)
        case .bytes(let x): x.withUnsafeBytes { appendValue(tag: ValueTag.bytes, $0) }
        case .date(let x): appendValue(x)
        case .string(var x): x.withUTF8 { appendValue(tag: ValueTag.string, Bytes($0)) }
        case .url(var x): x.withUTF8 { appendValue(tag: ValueTag.url, Bytes($0)) }
        case .json(var x): x.withUTF8 { appendValue(tag: ValueTag.json, Bytes($0)) }
        case .uuid(let x): withUnsafeBytes(of: x.uuid) { appendValue(tag: ValueTag.uuid, $0) }
        case .array(let values):
            append(ValueTag.array)
            for value in values {
                let start = count
                appendLittleEndian(UInt32(0))
                appendValue(value)
                store(UInt32(count - start - 4), at: start)
            }
        case .reference(let key): key.storageKey.withUnsafeBytes { appendValue(tag: ValueTag.reference, $0) }
        case .references(let keys):
            append(ValueTag.references)
            for key in keys { key.storageKey.withUnsafeBytes { appendReferenceElement($0) } }
        }
    }
}

extension EncodedValue {
    /// Returns a decoded copy, with the digests of long keys. Nil if the value is malformed.
    package func decoded() -> Value? { try? decoded { _ in nil } }

    /// Returns a decoded copy. Nil if the value is malformed.
    ///
    /// - Parameter digestKey: Looks up the whole key of a record that is stored under a digest. If
    ///   it returns nil, the decoded key is the digest.
    func decoded(digestKey: (Bytes) throws -> RecordKey?) throws -> Value? {
        func key(_ bytes: Bytes) throws -> RecordKey? {
            try RecordKey(storageKey: bytes) ?? digestKey(bytes) ?? RecordKey(reference: bytes)
        }
        switch tag {
        case ValueTag.null: return .null
        case ValueTag.false: return .bool(false)
        case ValueTag.true: return .bool(true)
        case ValueTag.int: return int.map(Value.int)
        case ValueTag.uint: return eightBytes.map(Value.uint)
        case ValueTag.double: return eightBytes.map { .double(Double(bitPattern: $0)) }
        case ValueTag.date: return eightBytes.map { .date(Timestamp(microseconds: Int64(bitPattern: $0))) }
        case ValueTag.uuid: return bytes.count == 17 ? .uuid(UUID(bytes: payload)) : nil
        case ValueTag.decimal: return ExactDecimal(ascii: payload).map(Value.decimal)
        case ValueTag.bytes: return .bytes(Array(payload))
        case ValueTag.string: return .string(String(decoding: payload, as: UTF8.self))
        case ValueTag.url: return .url(String(decoding: payload, as: UTF8.self))
        case ValueTag.json: return .json(String(decoding: payload, as: UTF8.self))
        case ValueTag.array:
            var values: [Value?] = []
            guard forEachElement({ values.append($0.decoded()) }) else { return nil }
            let decoded = values.compactMap(\.self)
            return decoded.count == values.count ? .array(decoded) : nil
        case ValueTag.reference, ValueTag.positionedReference:
            return try reference.flatMap(key).map(Value.reference)
        case ValueTag.references:
            var keys: [RecordKey?] = []
            guard try forEachReference({ keys.append(try key($0)) }) else { return nil }
            let decoded = keys.compactMap(\.self)
            return decoded.count == keys.count ? .references(decoded) : nil
        default: return nil
        }
    }
}
