internal import TarnStore

/// The place of one field in a body, and the conversion of its value.
struct BodyField {
    let name: String
    let place: Place
    let content: Content

    enum Place {
        /// Keys of the body, outermost first.
        case keys([String])
        /// Keys that lead to a list, and the steps from there to the value, or to each value.
        case list(keys: [String], steps: [JSONPath.Step])
        /// A text of which the field's value is the whole: `prefix`, the sent text, `suffix`.
        case part(keys: [String], prefix: String, suffix: String)
        /// The members of the body that no other field has.
        case rest
        /// None, with the reason.
        case none(String)
    }

    enum Content {
        case attribute(AttributeRule)
        /// A reference, or a list of them, and the destination entity.
        case reference(destination: UInt16, isToMany: Bool)
    }

    /// Whether the field is in a list, which a server replaces as a whole.
    var isInList: Bool { if case .list = place { true } else { false } }

    /// The keys that lead to the field; nil if it has no place of its own.
    var keys: [String]? {
        switch place {
        case .keys(let keys), .part(let keys, _, _), .list(let keys, _): keys
        case .rest, .none: nil
        }
    }
}

/// The conversion of an attribute's value to JSON: the rule of its import, read backwards.
struct AttributeRule {
    /// The declared formats of dates; the first that can express a date is used.
    let dates: [DateFormat]
    let transformers: [ValueTransformer]

    /// The rule of attributes of a key, which are always imported in the same way.
    static let plain = AttributeRule(dates: [], transformers: [])

    /// The reason for which a value cannot be sent.
    struct Refusal: Error {
        let reason: String
    }

    func json(of value: Value) throws(Refusal) -> JSONValue {
        var json = try plainJSON(of: value)
        for transformer in transformers.reversed() where json != .null {
            guard let next = transformer.encode(json) else {
                throw Refusal(reason: "the transformer \(transformer.name) has no JSON for \(json.text)")
            }
            json = next
        }
        return json
    }

    private func plainJSON(of value: Value) throws(Refusal) -> JSONValue {
        switch value {
        case .null: return .null
        case .bool(let x): return .bool(x)
        case .string(let x), .url(let x): return .string(x)
        case .double(let x) where !x.isFinite: throw Refusal(reason: "JSON has no number \(x)")
        case .int, .uint, .double, .decimal: return .number(value.jsonText)
        case .bytes, .uuid: return .string(value.plainText)
        case .date(let time):
            if let json = (dates.isEmpty ? [.rfc3339] : dates).lazy.compactMap({ $0.json(of: time) }).first {
                return json
            }
            throw Refusal(
                reason: "no declared format expresses \(time): \(dates.map(\.description).joined(separator: ", "))")
        case .json(let text):
            do throws(ImportError) { return try JSONValue(text) } catch { throw Refusal(reason: "\(error)") }
        case .array(let values):
            var list: [JSONValue] = []
            for value in values { list.append(try plainJSON(of: value)) }
            return .array(list)
        case .reference, .references: throw Refusal(reason: "a reference is no value of an attribute")
        }
    }
}
