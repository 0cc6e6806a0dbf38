// What a request for a page sends along, as a value in which a cursor can be set. Pure.

/// The body of a request, for APIs that are asked with POST.
public enum RequestBody: Sendable, Hashable {
    case json(JSONBody)
    /// `application/x-www-form-urlencoded`.
    case form([FormField])

    /// A name and its value, not encoded yet.
    public struct FormField: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What the request's `Content-Type` says.
    public var contentType: String {
        switch self {
        case .json: "application/json"
        case .form: "application/x-www-form-urlencoded"
        }
    }

    /// As it is sent; the same for equal bodies.
    public var text: String {
        switch self {
        case .json(let value): value.text
        case .form(let fields):
            fields.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(separator: "&")
        }
    }

    /// The value at a path of keys; of a form only the first key counts. Nil if there is none.
    func value(at path: [String]) -> String? {
        switch self {
        case .json(let value): value[path]?.scalarText
        case .form(let fields): fields.first { $0.name == path.first }?.value
        }
    }

    /// Sets the value at a path of keys; objects on the way are made.
    mutating func set(_ path: [String], to value: JSONBody) {
        switch self {
        case .json(var body):
            body[path] = value
            self = .json(body)
        case .form(var fields):
            guard let name = path.first, let text = value.scalarText else { return }
            if let index = fields.firstIndex(where: { $0.name == name }) {
                fields[index].value = text
            } else {
                fields.append(FormField(name, text))
            }
            self = .form(fields)
        }
    }
}

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
