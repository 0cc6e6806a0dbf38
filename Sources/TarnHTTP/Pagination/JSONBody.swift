/// A JSON value of a request body.
public indirect enum JSONBody: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number in its literal form.
    case number(String)
    case string(String)
    case array([JSONBody])
    /// An object; the order of its members is kept.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// The key, unescaped.
        package var key: String
        /// The value.
        package var value: JSONBody

        /// Creates a member.
        public init(_ key: String, _ value: JSONBody) {
            self.key = key
            self.value = value
        }
    }

    /// The text of a boolean, number or string; nil for null, arrays and objects.
    package var scalarText: String? {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case .null, .array, .object: nil
        }
    }

    /// The value at a path of keys, and of positions in arrays, such as `[0]`.
    ///
    /// A set replaces every value on the path that is not an object. A position that the array does
    /// not have changes nothing.
    package subscript(path: [String]) -> JSONBody? {
        get {
            guard let key = path.first else { return self }
            switch self {
            case .object(let members): return members.first { $0.key == key }?.value[Array(path.dropFirst())]
            case .array(let elements):
                return JSONBody.position(key, elements).flatMap { elements[$0][Array(path.dropFirst())] }
            default: return nil
            }
        }
        set {
            guard let key = path.first else {
                self = newValue ?? .null
                return
            }
            if case .array(var elements) = self, key.hasPrefix("[") {
                guard let index = JSONBody.position(key, elements) else { return }
                elements[index][Array(path.dropFirst())] = newValue
                self = .array(elements)
                return
            }
            var members: [Member] = if case .object(let members) = self { members } else { [] }
            let index = members.firstIndex { $0.key == key }
            var value = index.map { members[$0].value } ?? .null
            value[Array(path.dropFirst())] = newValue
            if let index { members[index].value = value } else { members.append(Member(key, value)) }
            self = .object(members)
        }
    }

    /// The index that `[0]` names in an array; nil if the array does not have it.
    private static func position(_ key: String, _ elements: [JSONBody]) -> Int? {
        guard key.hasPrefix("["), key.hasSuffix("]"), let index = Int(key.dropFirst().dropLast()) else { return nil }
        return elements.indices.contains(index) ? index : nil
    }

    /// The value as compact JSON.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): JSONBody.quoted(text)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { JSONBody.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
        }
    }

    /// Returns a string literal as RFC 8259 §7 requires.
    private static func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": output += "\\\(scalar)"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        return output + "\""
    }
}
