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
