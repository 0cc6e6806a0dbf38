// Values in the catalog (defaults, conditions of indexes) as JSON that is readable in a plain dump.

import Foundation

extension Catalog {
    /// A value with its type, as `{"int": "5"}`.
    ///
    /// Null is `{"null": ""}`, a list `{"array": [{"int": "5"}]}`.
    struct Constant: Sendable, Hashable, Codable {
        var value: Value

        init(_ value: Value) { self.value = value }

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
            guard let value = Constant.parse(text, name.stringValue) else {
                throw DecodingError.dataCorruptedError(
                    forKey: name, in: container,
                    debugDescription: "\"\(text)\" is not a valid \(name.stringValue)")
            }
            self.value = value
        }

        private static func parse(_ text: String, _ type: String) -> Value? {
            switch type {
            case "null": .null
            case "bool": text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
            case "int": Int64(text).map(Value.int)
            case "uint": UInt64(text).map(Value.uint)
            // The bits in hexadecimal digits are exact.
            case "double": UInt64(text, radix: 16).map { .double(Double(bitPattern: $0)) }
            case "decimal": ExactDecimal(text).map(Value.decimal)
            case "string": .string(text)
            case "bytes": Data(base64Encoded: text).map { .bytes(Array($0)) }
            case "date": Int64(text).map { .date(Timestamp(microseconds: $0)) }
            case "uuid": UUID(uuidString: text).map(Value.uuid)
            case "url": .url(text)
            case "json": .json(text)
            default: nil
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            func put(_ type: String, _ text: String) throws {
                try container.encode(text, forKey: Name(stringValue: type))
            }
            switch value {
            case .null: try put("null", "")
            case .bool(let x): try put("bool", x ? "true" : "false")
            case .int(let x): try put("int", String(x))
            case .uint(let x): try put("uint", String(x))
            case .double(let x): try put("double", String(x.bitPattern, radix: 16))
            case .decimal(let x): try put("decimal", x.description)
            case .string(let x): try put("string", x)
            case .bytes(let x): try put("bytes", Data(x).base64EncodedString())
            case .date(let x): try put("date", String(x.microseconds))
            case .uuid(let x): try put("uuid", x.uuidString.lowercased())
            case .url(let x): try put("url", x)
            case .json(let x): try put("json", x)
            case .array(let values): try container.encode(values.map(Constant.init), forKey: Name(stringValue: "array"))
            case .reference, .references:
                throw EncodingError.invalidValue(
                    value, .init(codingPath: encoder.codingPath, debugDescription: "a reference cannot be a constant"))
            }
        }
    }
}

extension Value {
    /// Returns whether two values have the same encoding in a row. Texts compare by their bytes.
    static func haveSameBytes(_ a: Value, _ b: Value) -> Bool {
        a.withEncoded { a in b.withEncoded { Bytes.equal(a.bytes, $0.bytes) } }
    }

    /// Calls a closure with the value in the encoding of rows.
    func withEncoded<Result>(_ body: (EncodedValue) throws -> Result) rethrows -> Result {
        var writer = ByteWriter()
        writer.appendValue(self)
        return try body(EncodedValue(writer.bytes))
    }
}
