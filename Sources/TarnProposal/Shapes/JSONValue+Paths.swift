import Tarn

extension JSONValue {
    /// Returns the value at keys, or nil.
    func value(at keys: some Sequence<String>) -> JSONValue? {
        var value = self
        for key in keys {
            guard let next = value[key] else { return nil }
            value = next
        }
        return value
    }

    /// The text of a number or string; nil for other values.
    var scalarText: String? {
        switch self {
        case .number(let text), .string(let text): text
        default: nil
        }
    }

    var isObject: Bool { if case .object = self { true } else { false } }
}
