// A part of a JSON Schema (draft 2020-12), and its text.

/// A node of the schema of description files.
indirect enum SchemaNode {
    /// Any value.
    case any
    /// A single value. The reader takes scalars as they are written, so numbers are texts as well.
    case text
    case flag
    case integer(minimum: Int)
    /// A number of at least zero.
    case number
    case words([String])
    /// A text that matches a regular expression.
    case pattern(String)
    case null
    case list(SchemaNode)
    /// One value or a list of them.
    case oneOrMore(SchemaNode)
    /// A mapping from names that the author chooses; it may be empty.
    case map(SchemaNode)
    /// A mapping with fixed keys.
    case object([Property], required: [String])
    case either([SchemaNode])
    /// A definition under `$defs`.
    case reference(String)
    /// A mapping of another kind that does not have a key.
    case without(key: String, SchemaNode)

    /// A key of a mapping.
    struct Property {
        var name: String
        var about: String
        var node: SchemaNode
    }

    /// The JSON of the node.
    var json: SchemaJSON {
        switch self {
        case .any: .object([])
        case .text: .object([("type", .list(["string", "number", "boolean"]))])
        case .flag: .object([("type", "boolean")])
        case .integer(let minimum): .object([("type", "integer"), ("minimum", .number(minimum))])
        case .number: .object([("type", "number"), ("minimum", .number(0))])
        case .words(let words): .object([("enum", .list(words.map(SchemaJSON.text)))])
        case .pattern(let pattern): .object([("type", "string"), ("pattern", .text(pattern))])
        case .null: .object([("type", "null")])
        case .list(let element): .object([("type", "array"), ("items", element.json)])
        case .oneOrMore(let element): SchemaNode.either([element, .list(element)]).json
        case .map(let value):
            .object([("type", .list(["object", "null"])), ("additionalProperties", value.json)])
        case .object(let properties, let required): SchemaNode.json(properties, required)
        case .either(let nodes): .object([("anyOf", .list(nodes.map(\.json)))])
        case .reference(let name): .object([("$ref", .text("#/$defs/\(name)"))])
        case .without(let key, let node): SchemaNode.json(node, without: key)
        }
    }

    private static func json(_ node: SchemaNode, without key: String) -> SchemaJSON {
        guard case .object(let members) = node.json else { return node.json }
        return .object(members + [("not", .object([("required", .list([.text(key)]))]))])
    }

    private static func json(_ properties: [Property], _ required: [String]) -> SchemaJSON {
        var members: [(String, SchemaJSON)] = [("type", "object")]
        if !required.isEmpty { members.append(("required", .list(required.map(SchemaJSON.text)))) }
        members.append(
            (
                "properties",
                .object(
                    properties.map { property in
                        guard case .object(let members) = property.node.json else {
                            return (property.name, .object([]))
                        }
                        return (property.name, .object([("description", .text(property.about))] + members))
                    })
            ))
        members.append(("additionalProperties", .flag(false)))
        return .object(members)
    }
}

/// JSON with ordered members.
indirect enum SchemaJSON: ExpressibleByStringLiteral {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([SchemaJSON])
    case object([(String, SchemaJSON)])

    init(stringLiteral text: String) { self = .text(text) }

    /// Appends the text, indented by two spaces for each level.
    func append(to text: inout String, indent: Int = 0) {
        let inner = String(repeating: "  ", count: indent + 1), outer = String(repeating: "  ", count: indent)
        switch self {
        case .text(let value): text.appendJSONString(value)
        case .number(let value): text += "\(value)"
        case .flag(let value): text += value ? "true" : "false"
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                text += index > 0 ? ", " : ""
                value.append(to: &text, indent: indent)
            }
            text += "]"
        case .object(let members):
            guard !members.isEmpty else { return text += "{}" }
            text += "{\n"
            for (index, (name, value)) in members.enumerated() {
                text += inner
                text.appendJSONString(name)
                text += ": "
                value.append(to: &text, indent: indent + 1)
                text += index + 1 < members.count ? ",\n" : "\n"
            }
            text += outer + "}"
        }
    }
}
