// A value of a record, copied out of the store.

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

extension RecordKey {
    /// Appends the key as JSON: a number or a string, or an array for a composite key.
    /// If ``isDigest``, it becomes `{"digest": "…"}` with the storage key in hexadecimal.
    package func appendJSON(to text: inout String) {
        if components.count > 1 { text += "[" }
        for (index, component) in components.enumerated() {
            if index > 0 { text += "," }
            switch component {
            case .int(let x): text += String(x)
            case .string(let x): text.appendJSONString(x)
            case .uuid(let x): text.appendJSONString(x.uuidString.lowercased())
            case .digest(let x): text += "{\"digest\":\"\(x.hexadecimal)\"}"
            }
        }
        if components.count > 1 { text += "]" }
    }
}

extension String {
    /// Appends a JSON string (RFC 8259 §7). Only characters that must be escaped are escaped.
    package mutating func appendJSONString(_ string: String) {
        self += "\""
        // Most strings need no escape at all.
        if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }) {
            self += string
        } else {
            for scalar in string.unicodeScalars {
                switch scalar {
                case "\"": self += "\\\""
                case "\\": self += "\\\\"
                case "\n": self += "\\n"
                case "\r": self += "\\r"
                case "\t": self += "\\t"
                case _ where scalar.value < 0x20:
                    let hex = String(scalar.value, radix: 16)
                    self += "\\u" + String(repeating: "0", count: 4 - hex.utf8.count) + hex
                default: unicodeScalars.append(scalar)
                }
            }
        }
        self += "\""
    }
}
