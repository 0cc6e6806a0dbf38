/// A JSON value that is sent.
public indirect enum JSONBody: Sendable, Hashable {
    case null
    case bool(Bool)
    /// As it is written.
    case number(String)
    case string(String)
    case array([JSONBody])
    /// In this order.
    case object([Member])

    /// A key and its value.
    public struct Member: Sendable, Hashable {
        public var key: String
        public var value: JSONBody

        public init(_ key: String, _ value: JSONBody) {
            self.key = key
            self.value = value
        }
    }

    /// What a scalar says; nil for null and what is no scalar.
    var scalarText: String? {
        switch self {
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case .null, .array, .object: nil
        }
    }

    /// The value that keys lead to. What is set takes the place of whatever is in the way.
    package subscript(path: [String]) -> JSONBody? {
        get {
            guard let key = path.first else { return self }
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key == key }?.value[Array(path.dropFirst())]
        }
        set {
            guard let key = path.first else {
                self = newValue ?? .null
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

    /// Compact JSON.
    public var text: String {
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

    /// RFC 8259 §7.
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
