internal import Foundation

extension Record: Encodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Encodes the fields by name, those that are absent left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for field in fields { try container.encode(field.value, forKey: Name(field.name)) }
    }
}

extension Value: Encodable {
    /// Encodes the value: dates as RFC 3339 text, UUIDs in lower case, bytes in base64, references
    /// as keys.
    ///
    /// A decimal is encoded as Foundation's `Decimal` if that holds all of its digits, else as
    /// text. A number of more than 38 digits inside of a `json` value is rounded by Foundation, to
    /// a double if its exponent is beyond those of `Decimal`, and throws if it is beyond those of a
    /// double: ``Row/writeJSON(into:)`` writes it as it is stored.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .double(let value): if value.isFinite { try container.encode(value) } else { try container.encodeNil() }
        case .decimal(let value):
            let text = value.description
            if let decimal = Decimal(string: text), ExactDecimal("\(decimal)") == value {
                try container.encode(decimal)
            } else {
                try container.encode(text)
            }
        case .string(let value), .url(let value): try container.encode(value)
        case .bytes(let value): try container.encode(Data(value).base64EncodedString())
        case .date(let value): try container.encode(value.description)
        case .uuid(let value): try container.encode(value.lowercasedText)
        case .json(let text): try container.encode(JSONDecoder().decode(AnyJSON.self, from: Data(text.utf8)))
        case .array(let values): try container.encode(values)
        case .reference(let key): try container.encode(key)
        case .references(let keys): try container.encode(keys)
        }
    }
}

extension RecordKey: Encodable {
    /// Encodes the key: a number or a text, or a list for a composite key.
    public func encode(to encoder: any Encoder) throws {
        if components.count == 1 {
            try components[0].encode(to: encoder)
        } else {
            var container = encoder.unkeyedContainer()
            for component in components { try component.encode(to: container.superEncoder()) }
        }
    }
}

extension KeyComponent {
    fileprivate func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .int(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .uuid(let value): try container.encode(value.lowercasedText)
        case .digest(let bytes): try container.encode(["digest": bytes.hexadecimal])
        }
    }
}

/// Any JSON value, for an encoder that takes no text.
private enum AnyJSON: Codable {
    case null, bool(Bool), int(Int64), uint(UInt64), number(Decimal), double(Double), string(String), array([AnyJSON])
    case object([String: AnyJSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .uint(value)
        } else if let value = try? container.decode(Decimal.self) {
            self = .number(value)
        } else if let value = try? container.decode(Double.self) {
            // An exponent beyond those of `Decimal`.
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([AnyJSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: AnyJSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
