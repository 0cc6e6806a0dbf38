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

    /// The text of a key: of a number or string, or of an ObjectId of MongoDB, `{"$oid": "…"}`.
    var keyText: String? {
        guard case .object(let members) = self, members.count == 1, members[0].key == JSONValue.objectID else {
            return scalarText
        }
        return members[0].value.scalarText
    }

    /// The only key of an ObjectId in MongoDB's Extended JSON.
    static let objectID = "$oid"

    var isObject: Bool { if case .object = self { true } else { false } }
}
