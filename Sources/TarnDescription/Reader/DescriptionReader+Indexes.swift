// The `indexes` of an entity, and constants: defaults and operands of conditions.

import Foundation
import TarnStore

extension DescriptionReader {
    /// Reads the indexes of an entity whose attributes have been read.
    mutating func indexes(of entry: YAMLValue.Entry, in schema: inout Schema) {
        let path = "entities.\(entry.key).indexes"
        guard case .mapping(let keys) = entry.value.content,
            let value = keys.first(where: { $0.key == "indexes" })?.value,
            !value.isNull, let position = schema.entities.firstIndex(where: { $0.name == entry.key })
        else { return }
        guard case .mapping(let entries) = value.content else {
            return report(path, value.mark, "expected a mapping from names to attributes, found \(value.kind)")
        }
        for entry in entries {
            let field = "\(path).\(entry.key)"
            record(field, of: entry)
            if let index = index(entry, field, schema.entities[position], schema) {
                schema.entities[position].indexes.append(index)
            }
        }
    }

    private mutating func index(
        _ entry: YAMLValue.Entry, _ field: String, _ entity: EntityDefinition, _ schema: Schema
    ) -> IndexDefinition? {
        guard case .mapping = entry.value.content else {
            let fields = list(entry.value, field)
            if fields.isEmpty, !isReported(field) { report(field, entry.value.mark, DescriptionReader.noAttribute) }
            return fields.isEmpty ? nil : IndexDefinition(entry.key, on: fields.map { IndexDefinition.Component($0) })
        }
        guard
            var section = section(
                entry.value, field, keys: ["on", "unique", "ignore_case", "where", "was"], required: ["on"],
                example: ["on": "on: [state, updatedAt]"])
        else { return nil }
        let fields = texts(section, "on").map(\.text), ignoringCase = texts(section, "ignore_case")
        if fields.isEmpty, section["on"] != nil, !isReported(section.path("on")) {
            report(section, "on", DescriptionReader.noAttribute)
        }
        for (name, mark) in ignoringCase where !fields.contains(name) {
            report(section.path("ignore_case"), mark, Spelling.unknown("attribute", name, among: fields))
        }
        let isUnique = flag(section, "unique"), was = text(section, "was")
        var conditions: [IndexCondition] = []
        if let value = section["where"], case .scalar(let text, let isPlain) = value.content, !value.isNull {
            conditions = self.conditions(text, isPlain, value.mark, section.path("where"), entity, schema)
            section.values["where"] = nil
        }
        for condition in entries(section, "where", of: "attributes to values") {
            let place = "\(section.path("where")).\(condition.key)"
            guard let attribute = schema.attribute(condition.key, of: entity) else {
                report(
                    place, condition.keyMark,
                    Spelling.unknown("attribute", condition.key, among: schema.attributeNames(of: entity)))
                continue
            }
            if let read = self.condition(condition, place, attribute) { conditions.append(read) }
        }
        return fields.isEmpty
            ? nil
            : IndexDefinition(
                entry.key,
                on: fields.map { name in
                    IndexDefinition.Component(name, ignoringCase: ignoringCase.contains { $0.text == name })
                }, unique: isUnique, where: conditions, renamedFrom: was)
    }

    private static let noAttribute = "missing attribute: write one, or remove the index"

    private mutating func list(_ value: YAMLValue, _ field: String) -> [String] {
        let values = if case .list(let list) = value.content { list } else { [value] }
        return values.compactMap { text($0, field) }
    }

    /// Reads the condition of an index from one text: `state = open and votes >= 10`.
    private mutating func conditions(
        _ text: String, _ isPlain: Bool, _ mark: Mark, _ field: String, _ entity: EntityDefinition, _ schema: Schema
    ) -> [IndexCondition] {
        let value = YAMLValue(mark: mark, content: .scalar(text, plain: isPlain))
        func place(_ column: Int) -> Mark { DescriptionReader.place(column, of: text, value) }
        let read: [IndexComparison]
        do throws(QueryTextError) {
            read = try IndexComparison.list(text: text)
        } catch {
            report(field, place(error.column), error.message + (error.expected.map { "; expected \($0)" } ?? ""))
            return []
        }
        var result: [IndexCondition] = []
        for comparison in read {
            guard let attribute = schema.attribute(comparison.attribute, of: entity) else {
                report(
                    field, place(comparison.attributeColumn),
                    Spelling.unknown("attribute", comparison.attribute, among: schema.attributeNames(of: entity)))
                continue
            }
            if comparison.value == .null {
                result.append(IndexCondition(comparison.attribute, comparison.comparison, .null))
            } else if let value = comparison.word.map({ attribute.type.constant($0) }) ?? comparison.value {
                result.append(IndexCondition(comparison.attribute, comparison.comparison, value))
            } else {
                let written = comparison.word ?? comparison.value.plainText
                report(
                    field, place(comparison.valueColumn), "\"\(written)\" is not a valid \(attribute.type)")
            }
        }
        return result
    }

    /// Reads one condition of an index: `open`, `'>= 18'`, `'!= null'`, or nothing.
    private mutating func condition(
        _ entry: YAMLValue.Entry, _ field: String, _ attribute: AttributeDefinition
    ) -> IndexCondition? {
        if entry.value.isNull { return IndexCondition(entry.key, .equal, .null) }
        guard var text = text(entry.value, field) else { return nil }
        var comparison = IndexCondition.Comparison.equal
        if let read = DescriptionReader.comparison(text) { (comparison, text) = read }
        if text == "null" { return IndexCondition(entry.key, comparison, .null) }
        guard let value = attribute.type.constant(text) else {
            report(field, entry.value.mark, "\"\(text)\" is not a valid \(attribute.type)")
            return nil
        }
        return IndexCondition(entry.key, comparison, value)
    }

    /// Splits off a comparison operator, as of `>= 18`; nil if the text does not begin with one.
    static func comparison(_ text: String) -> (IndexCondition.Comparison, String)? {
        // Longer operators first: `<=` begins with `<`.
        let candidates = IndexCondition.Comparison.allCases.sorted { $0.rawValue.count > $1.rawValue.count }
        return candidates.first { text.hasPrefix($0.rawValue) }.map {
            ($0, text.dropFirst($0.rawValue.count).trimmingCharacters(in: .whitespaces))
        }
    }

    /// Reads a constant of a type; nil if it is invalid, with a problem reported.
    mutating func constant(_ value: YAMLValue, _ field: String, _ type: AttributeType) -> Value? {
        if value.isNull { return .null }
        if case .array(let element) = type {
            guard case .list(let values) = value.content else {
                report(field, value.mark, "expected a list, found \(value.kind)")
                return nil
            }
            return .array(values.compactMap { constant($0, field, element) })
        }
        guard let text = text(value, field) else { return nil }
        switch type.constant(text) {
        case let constant? where constant.isJSON: return constant
        default:
            report(field, value.mark, "\"\(text)\" is not a valid \(type)")
            return nil
        }
    }
}

extension YAMLValue {
    func hasKey(_ key: String) -> Bool {
        if case .mapping(let entries) = content { entries.contains { $0.key == key } } else { false }
    }
}

extension Value {
    /// Whether JSON can express the value, which has neither infinity nor NaN.
    fileprivate var isJSON: Bool { if case .double(let number) = self { number.isFinite } else { true } }
}

extension AttributeType {
    /// The value that a text of a description denotes; nil if it is not of this type.
    fileprivate func constant(_ text: String) -> Value? {
        if self == .json, (try? JSONValue(text)) == nil { return nil }
        return value(text: text)
    }
}
