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
    /// A mapping with fixed keys: beside `like`, a key without a value removes the template's.
    case expandable([Property])
    /// A mapping with any content.
    case mapping
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
        case .expandable(let properties): SchemaNode.json(expandable: properties)
        case .mapping: .object([("type", "object")])
        case .either(let nodes): .object([("anyOf", .list(nodes.map(\.json)))])
        case .reference(let name): .object([("$ref", .text("#/$defs/\(name)"))])
        case .without(let key, let node): SchemaNode.json(node, without: key)
        }
    }

    /// Whether null is a value.
    private var acceptsNull: Bool {
        switch self {
        case .any, .null, .map: true
        case .oneOrMore(let node): node.acceptsNull
        case .either(let nodes): nodes.contains(where: \.acceptsNull)
        default: false
        }
    }

    /// The node, or null.
    private var orNull: SchemaNode {
        switch self {
        case _ where acceptsNull: self
        case .oneOrMore(let node): .either([node, .list(node), .null])
        case .either(let nodes): .either(nodes + [.null])
        default: .either([self, .null])
        }
    }

    private static func json(expandable properties: [Property]) -> SchemaJSON {
        let never: SchemaJSON = .object([("not", SchemaNode.null.json)])
        var nullable = properties, exempt: [(String, SchemaJSON)] = []
        for (index, property) in properties.enumerated() where property.name != "like" {
            nullable[index].node = property.node.orNull
            guard property.node.acceptsNull else { continue }
            if case .map(let value) = property.node, TemplateExpander.mergedKeys.contains(property.name) {
                nullable[index].node = .map(value.orNull)
                exempt.append(
                    (property.name, value.acceptsNull ? .object([]) : .object([("additionalProperties", never)])))
            } else {
                exempt.append((property.name, .object([])))
            }
        }
        guard case .object(let members) = json(nullable, []) else { return .object([]) }
        let plain: SchemaJSON = .object([("properties", .object(exempt)), ("additionalProperties", never)])
        return .object(members + [("anyOf", .list([.object([("required", .list(["like"]))]), plain]))])
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
