// A value of a record, copied out of the store.

import Foundation

/// A value of a field. What is absent from a record has none.
public enum Value: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    /// An integer above `Int64.max`.
    case uint(UInt64)
    case double(Double)
    case decimal(ExactDecimal)
    case string(String)
    case bytes([UInt8])
    case date(Timestamp)
    case uuid(UUID)
    case url(String)
    /// Compact JSON text.
    case json(String)
    case array([Value])
    /// The key of one record of another entity.
    case reference(RecordKey)
    case references([RecordKey])
}

extension Value {
    /// Appends the value as JSON (RFC 8259): dates as RFC 3339 text, UUIDs in lower case, bytes as base64, a reference as its key. Doubles
    /// that JSON cannot say (NaN, infinities) become null.
    public func appendJSON(to text: inout String) {
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

    public var jsonText: String {
        var text = ""
        appendJSON(to: &text)
        return text
    }

    /// For people: text without quotes, everything else as JSON.
    public var plainText: String {
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
    /// A number or a string; an array for a composite key; `{"digest": "…"}` with the storage key in hexadecimal for ``isDigest``.
    public func appendJSON(to text: inout String) {
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
    /// Appends a JSON string (RFC 8259 §7): only what must be escaped is.
    public mutating func appendJSONString(_ string: String) {
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
