// Request bodies, as values in which a cursor can be set. Pure.

/// The body of a request, for APIs that use POST.
public enum TransportBody: Sendable, Hashable {
    /// `application/json`.
    case json(JSONBody)
    /// `application/x-www-form-urlencoded`.
    case form([FormField])

    /// A name and its value, before encoding.
    public struct FormField: Sendable, Hashable {
        /// The name, not encoded.
        package var name: String
        /// The value, not encoded.
        package var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .json: "application/json"
        case .form: "application/x-www-form-urlencoded"
        }
    }

    /// The encoded body. Equal bodies have equal texts.
    package var text: String {
        switch self {
        case .json(let value): value.text
        case .form(let fields):
            fields.map { PercentEncoding.encode($0.name) + "=" + PercentEncoding.encode($0.value) }.joined(
                separator: "&")
        }
    }

    /// Returns the scalar at a path of keys, or nil. In a form only the first key counts.
    func value(at path: [String]) -> String? {
        switch self {
        case .json(let value): value[path]?.scalarText
        case .form(let fields): fields.first { $0.name == path.first }?.value
        }
    }

    /// Sets the value at a path of keys and creates missing objects on the way.
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
