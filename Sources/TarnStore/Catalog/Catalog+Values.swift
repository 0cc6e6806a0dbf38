// Values in the catalog (defaults, conditions of indexes) as JSON that is readable in a plain dump.

extension Catalog {
    /// A value with its type, as `{"int": "5"}`.
    ///
    /// Null is `{"null": ""}`, a list `{"array": [{"int": "5"}]}`.
    struct Constant: Sendable, Hashable, Codable {
        var value: Value

        init(_ value: Value) { self.value = value }

        /// Texts are compared by their bytes, as in rows.
        static func == (a: Constant, b: Constant) -> Bool { Value.haveSameBytes(a.value, b.value) }

        func hash(into hasher: inout Hasher) {
            value.withEncoded { encoded in hasher.combine(bytes: encoded.bytes) }
        }

        private struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            guard let name = container.allKeys.first, container.allKeys.count == 1 else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath, debugDescription: "expected one key, the type of the constant"))
            }
            if name.stringValue == "array" {
                value = .array(try container.decode([Constant].self, forKey: name).map(\.value))
                return
            }
            let text = try container.decode(String.self, forKey: name)
            guard let value = Constant.value(text, name.stringValue) else {
                throw DecodingError.dataCorruptedError(
                    forKey: name, in: container,
                    debugDescription: "\"\(text)\" is not a valid \(name.stringValue)")
            }
            self.value = value
        }

        private static func value(_ text: String, _ type: String) -> Value? {
            if type == "null" { return .null }
            return AttributeType(named: type)?.descriptor.value(catalogText: text)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            switch value {
            case .null: try container.encode("", forKey: Name(stringValue: "null"))
            case .array(let values): try container.encode(values.map(Constant.init), forKey: Name(stringValue: "array"))
            default:
                guard let type = value.scalarType?.descriptor else {
                    throw EncodingError.invalidValue(
                        value,
                        .init(codingPath: encoder.codingPath, debugDescription: "a reference cannot be a constant"))
                }
                try container.encode(type.catalogText(value), forKey: Name(stringValue: type.name))
            }
        }
    }
}

extension Catalog.Kind {
    /// The values of enumerations are compared by their bytes, as in rows: a schema may correct the
    /// encoding of one.
    package static func == (a: Catalog.Kind, b: Catalog.Kind) -> Bool {
        switch (a, b) {
        case (.attribute(let a), .attribute(let b)): a == b && a.hasSameTexts(as: b)
        case (.reference(let a), .reference(let b)): a == b
        default: false
        }
    }
}

extension AttributeType {
    /// Returns whether the values of an equal type have the same bytes.
    func hasSameTexts(as other: AttributeType) -> Bool {
        switch (self, other) {
        case (.enumeration(let a), .enumeration(let b)): a.elementsEqual(b) { $0.utf8.elementsEqual($1.utf8) }
        case (.array(let a), .array(let b)): a.hasSameTexts(as: b)
        default: true
        }
    }
}

extension Value {
    /// Returns whether two values have the same encoding in a row. Texts compare by their bytes.
    package static func haveSameBytes(_ a: Value, _ b: Value) -> Bool {
        a.withEncoded { a in b.withEncoded { Bytes.equal(a.bytes, $0.bytes) } }
    }

    /// Calls a closure with the value in the encoding of rows.
    package func withEncoded<Result>(_ body: (EncodedValue) throws -> Result) rethrows -> Result {
        var writer = ByteWriter()
        writer.appendValue(self)
        return try body(EncodedValue(writer.bytes))
    }
}
