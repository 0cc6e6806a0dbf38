// The schema as a description file, and as JSON.

import Foundation
import TarnStore

extension StoreSchema {
    /// The schema as one JSON object, without a line break.
    package var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    /// The lines of a description file (`tarn.yaml`). What only the store knows is in comments.
    package var yaml: [String] {
        var lines = [
            "# The schema of \(StoreSchema.oneLine(path)), as of commit \(commit)"
                + (incarnation.isEmpty ? "" : ", incarnation \(incarnation)") + ", format \(format).",
            "# A store does not know the address of its API, the endpoints, the sources of values in",
            "# JSON (`from`), and the rules of imports and conversions. Replace the address.",
            "api:",
            "  base: https://api.invalid",
            entities.isEmpty ? "entities: {}" : "entities:",
        ]
        for entity in entities { lines += self.lines(entity) }
        return lines
    }

    private func lines(_ entity: Entity) -> [String] {
        var comment = "id \(entity.id)"
        if !entity.retired.isEmpty {
            comment += "; retired fields: " + entity.retired.map { "\($0)" }.joined(separator: ", ")
        }
        var lines = ["  \(StoreSchema.scalar(entity.name)):" + StoreSchema.comment(comment, entity.formerNames)]
        if let parent = entity.parent {
            lines.append("    parent: \(StoreSchema.scalar(parent))")
        } else {
            let key = entity.key.map(StoreSchema.scalar)
            lines.append("    key: " + (key.count == 1 ? key[0] : "[" + key.joined(separator: ", ") + "]"))
        }
        // The compression is one of the whole tree.
        if entity.parent == nil, !entity.isCompressed { lines.append("    compression: none") }
        if !entity.attributes.isEmpty {
            lines.append("    attributes:")
            lines += entity.attributes.map(StoreSchema.line)
        } else if entity.parent == nil {
            lines.append("    attributes: {}")
        }
        if !entity.relationships.isEmpty {
            lines.append("    relationships:")
            lines += entity.relationships.map(StoreSchema.line)
        }
        if !entity.indexes.isEmpty {
            lines.append("    indexes:")
            lines += entity.indexes.map(StoreSchema.line)
        }
        return lines
    }

    private static func line(_ attribute: Attribute) -> String {
        let type = scalar(attribute.type + (attribute.isOptional ? "?" : ""))
        var members: [String] = []
        if let values = attribute.values {
            members.append("values: [" + values.map(quoted).joined(separator: ", ") + "]")
        }
        if attribute.isUnique {
            members.append("unique: true")
        } else if attribute.index != nil {
            members.append("index: true")
        }
        // The default of a JSON attribute is a text with JSON in a description, also if it is null.
        if let value = attribute.defaultValue {
            members.append("default: \(attribute.type == "json" ? quoted(value) : value)")
        }
        let state = [attribute.index.map { "index \($0)" }, attribute.indexState].compactMap(\.self)
        return "      \(scalar(attribute.name)): "
            + (members.isEmpty ? type : "{ type: \(type), " + members.joined(separator: ", ") + " }")
            + comment((["id \(attribute.id)"] + state).joined(separator: ", "), attribute.formerNames)
    }

    private static func line(_ relationship: Relationship) -> String {
        let target = scalar(relationship.to)
        var members = ["to: " + (relationship.isToMany ? "[\(target)]" : target)]
        if let join = relationship.join { members.append("join: { \(scalar(join[0])): \(scalar(join[1])) }") }
        if relationship.isOrdered { members.append("ordered: true") }
        if let inverse = relationship.inverse { members.append("inverse: \(scalar(inverse))") }
        if let rule = relationship.deleteRule { members.append("on_delete: \(rule)") }
        let notes = [
            relationship.id.map { "id \($0)" }, relationship.index.map { "index \($0)" }, relationship.indexState,
            relationship.isDerived ? "derived from the other side" : nil,
        ].compactMap(\.self)
        return "      \(scalar(relationship.name)): { " + members.joined(separator: ", ") + " }"
            + comment(notes.joined(separator: ", "), relationship.formerNames)
    }

    private static func line(_ index: Index) -> String {
        func list(_ names: [String]) -> String { "[" + names.map(scalar).joined(separator: ", ") + "]" }
        var members = ["on: " + list(index.on)]
        if index.isUnique { members.append("unique: true") }
        if !index.ignoringCase.isEmpty { members.append("ignore_case: " + list(index.ignoringCase)) }
        if !index.conditions.isEmpty { members.append("where: " + text(index.conditions)) }
        let notes = ["id \(index.id)", index.state].compactMap(\.self)
        return "      \(scalar(index.name)): { " + members.joined(separator: ", ") + " }"
            + comment(notes.joined(separator: ", "), index.formerNames)
    }

    /// Returns conditions as a mapping, or as one text if the mapping cannot express them.
    private static func text(_ conditions: [Condition]) -> String {
        let isMapping =
            Set(conditions.map(\.attribute)).count == conditions.count && conditions.allSatisfy(isExpressibleAlone)
        guard isMapping else {
            let texts = conditions.map { IndexComparison.text($0.attribute, $0.comparison, $0.value) }
            return quoted(texts.joined(separator: " and "))
        }
        let members = conditions.map { condition in
            let name = scalar(condition.attribute), comparison = condition.comparison
            guard comparison != .equal else { return "\(name): \(condition.value.map(quoted) ?? "null")" }
            return "\(name): \(quoted("\(comparison.rawValue) \(condition.value ?? "null")"))"
        }
        return "{ " + members.joined(separator: ", ") + " }"
    }

    /// Whether a mapping tells the operand from null, from an operator, and from space around it.
    private static func isExpressibleAlone(_ condition: Condition) -> Bool {
        guard let value = condition.value else { return true }
        if value == "null" { return false }
        return condition.comparison == .equal
            ? !IndexCondition.Comparison.allCases.contains { value.hasPrefix($0.rawValue) }
            : value == value.trimmingCharacters(in: .whitespaces)
    }

    private static func comment(_ text: String, _ formerNames: [String]) -> String {
        let names = formerNames.map(oneLine).joined(separator: ", ")
        let texts = [text, names.isEmpty ? "" : "formerly \(names)"].filter { !$0.isEmpty }
        return texts.isEmpty ? "" : "  # " + texts.joined(separator: "; ")
    }

    /// Returns a text as a plain scalar if it is a name, else in double quotes.
    private static func scalar(_ text: String) -> String {
        let words: Set = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
        var name = text.utf8[...]
        if name.last == UInt8(ascii: "?") { name.removeLast() }
        let isName = name.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x5F }
        guard isName, let first = name.first, first &- 0x30 >= 10, !words.contains(text.lowercased()) else {
            return quoted(text)
        }
        return text
    }

    /// Returns a text in double quotes. A JSON string is a scalar of YAML.
    private static func quoted(_ text: String) -> String {
        var quoted = ""
        quoted.appendJSONString(text)
        return quoted
    }

    /// A comment ends at a line break.
    private static func oneLine(_ text: String) -> String {
        let scalars = text.unicodeScalars.map {
            $0.properties.generalCategory == .control || $0.value == 0x2028 || $0.value == 0x2029 ? "?" : $0
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
