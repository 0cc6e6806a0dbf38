// The `entities` section: the schema of the records and the mapping of their values.

import TarnImport
import TarnStore

extension DescriptionReader {
    mutating func entities(_ top: Section) -> (Schema, Mapping) {
        var schema = Schema()
        var mapping = readAPI(nil).mapping
        mapping.transformers = transformers
        let entries = entries(top, "entities", of: "names to entities")
        if let value = top["entities"], entries.isEmpty, !isReported("entities") {
            report("entities", value.mark, "no entities: describe at least one kind of record")
        }
        for entry in entries {
            let (definition, itsMapping) = entity(entry)
            schema.entities.append(definition)
            mapping.entities[entry.key] = itsMapping
            if let api = entityAPIs[entry.key] { mapping.entities[entry.key]?.adopt(readAPI(api).mapping) }
        }
        // Conditions have values of attributes, which a later parent entity may declare.
        for entry in entries { indexes(of: entry, in: &schema) }
        report(schema.locatedProblems())
        checkWrites(schema)
        checkWebPages(schema)
        for problem in mapping.problems(for: schema) { report(problem, schema, mapping) }
        return (schema, mapping)
    }

    private mutating func entity(_ entry: YAMLValue.Entry) -> (EntityDefinition, EntityMapping) {
        let field = "entities.\(entry.key)"
        var definition = EntityDefinition(entry.key, key: [], attributes: [])
        var mapping = EntityMapping()
        guard
            let section = section(
                entry.value, field,
                keys: [
                    "parent", "key", "attributes", "relationships", "indexes", "compression", "was", "open", "api",
                    "like", "each", "write",
                ]
                    + DescriptionReader.mappingKeys,
                required: entry.value.hasKey("parent") ? [] : ["key", "attributes"],
                example: ["key": "key: id", "attributes": "attributes: { id: int, … }"])
        else { return (definition, mapping) }
        rules(ofEntity: section, into: &mapping)
        definition.parent = text(section, "parent")
        if section["api"] != nil, definition.parent != nil {
            report(section, "api", "a kind belongs to the API of its parent: remove the line")
        } else {
            entityAPIs[entry.key] = apiName(section)
        }
        definition.renamedFrom = text(section, "was")
        definition.key = texts(section, "key").map(\.text)
        for entry in entries(section, "attributes", of: "names to types") {
            let path = "\(field).attributes.\(entry.key)"
            definition.attributes.append(attribute(entry, path, &mapping))
        }
        for entry in entries(section, "relationships", of: "names to entities") {
            let path = "\(field).relationships.\(entry.key)"
            if let relationship = relationship(entry, path, &mapping) { definition.relationships.append(relationship) }
        }
        mapping.ignored = texts(section, "ignore").compactMap { plainKeyPath($0.text, section.path("ignore"), $0.mark) }
        webPage(section, of: entry.key)
        if let writes = writes(section) { writeRequests[entry.key] = writes }
        if let text = text(section, "compression") {
            if let compression = EntityDefinition.Compression(rawValue: text) {
                definition.compression = compression
            } else {
                let known = EntityDefinition.Compression.allCases.map(\.rawValue)
                report(section, "compression", Spelling.unknown("compression", text, among: known))
            }
        }
        return (definition, mapping)
    }

    // MARK: Attributes

    private mutating func attribute(
        _ entry: YAMLValue.Entry, _ field: String, _ mapping: inout EntityMapping
    ) -> AttributeDefinition {
        guard case .mapping = entry.value.content else {
            record("\(field).type", of: entry)
            let read = attributeType(entry.value, "\(field).type", values: nil)
            return AttributeDefinition(entry.key, read.type, optional: read.isOptional)
        }
        // An unreadable type is reported already; string replaces it, so that the rest can be
        // checked.
        var attribute = AttributeDefinition(entry.key, .string)
        let optional = "write a ? after the type instead, such as type: string?"
        guard
            let section = section(
                entry.value, field,
                keys: [
                    "type", "from", "index", "unique", "default", "epoch", "values", "was", "coercion", "format",
                    "nulls", "absent",
                    "fallback", "transform", "value", "naming",
                ],
                required: ["type"],
                instead: ["optional": optional, "required": optional, "nullable": optional],
                example: ["type": "type: string"])
        else { return attribute }
        let values = enumerationValues(section)
        if let value = section["type"] {
            let read = attributeType(value, section.path("type"), values: values)
            attribute.type = read.type
            attribute.isOptional = read.isOptional
            if values != nil, !read.isEnumeration, !isReported(section.path("type")) {
                report(section, "values", "only an enum can have values: remove them, or write type: enum")
            }
        }
        attribute.renamedFrom = text(section, "was")
        attribute.isUnique = flag(section, "unique")
        attribute.isIndexed = flag(section, "index") || attribute.isUnique
        if let value = section["default"], !isReported(section.path("type")) {
            attribute.defaultValue = constant(value, section.path("default"), attribute.type)
        }
        let paths = sources(section, attribute.type)
        if !paths.isEmpty { mapping.paths[entry.key] = paths }
        let rules = rules(ofAttribute: section, attribute.type)
        if rules != FieldRules() { mapping.fields[entry.key] = rules }
        if let text = text(section, "epoch") {
            if let unit = EpochUnit(rawValue: text) {
                mapping.epochs[entry.key] = unit
            } else {
                report(section, "epoch", Spelling.unknown("unit", text, among: EpochUnit.allCases.map(\.rawValue)))
            }
        }
        return attribute
    }

    /// Reads `values`; nil if there are none. An element that is not text is reported.
    private mutating func enumerationValues(_ section: Section) -> [String]? {
        guard let value = section["values"] else { return nil }
        guard case .list(let list) = value.content else {
            report(section, "values", "expected a list of texts, found \(value.kind)")
            return []
        }
        return list.compactMap { element in
            switch element.content {
            case .scalar where element.isNull:
                report(
                    section.path("values"), element.mark,
                    "null cannot be listed: write enum? for an optional value, or 'null' in quotes for the text")
            case .scalar(let text, _): return text
            default: report(section.path("values"), element.mark, "expected a text, found \(element.kind)")
            }
            return nil
        }
    }

    /// Type names of other languages, with the ones of this format.
    private static let otherWords = [
        "boolean": "bool", "integer": "int", "long": "int", "number": "double", "float": "double", "text": "string",
        "str": "string", "datetime": "date", "timestamp": "date", "time": "date", "uri": "url", "object": "json",
        "any": "json", "dictionary": "json", "map": "json", "array": "[string]", "list": "[string]",
    ]

    /// Reads a type: `int`, `string?`, `[string]`, `'[string]?'`, `enum`.
    private mutating func attributeType(
        _ value: YAMLValue, _ field: String, values: [String]?
    ) -> (type: AttributeType, isOptional: Bool, isEnumeration: Bool) {
        if case .list(let elements) = value.content {
            guard elements.count == 1 else {
                report(field, value.mark, "a list has exactly one type, such as [string]; found \(elements.count)")
                return (.string, false, false)
            }
            if case .list = elements[0].content {
                report(field, value.mark, "lists of lists are not supported: use json")
                return (.string, false, false)
            }
            let element = attributeType(elements[0], field, values: values)
            if element.isOptional {
                report(
                    field, value.mark,
                    "elements of a list cannot be optional: write [string], or '[string]?' if the whole list is optional"
                )
            }
            return (.array(element.type), false, element.isEnumeration)
        }
        guard var word = text(value, field).map({ $0[...] }) else { return (.string, false, false) }
        let isOptional = word.hasSuffix("?")
        if isOptional { word = word.dropLast() }
        if word.hasPrefix("["), word.hasSuffix("]") {
            let inner = YAMLValue(mark: value.mark, content: .scalar(String(word.dropFirst().dropLast()), plain: false))
            let list = YAMLValue(mark: value.mark, content: .list([inner]))
            let read = attributeType(list, field, values: values)
            return (read.type, isOptional, read.isEnumeration)
        }
        if word == "enum" {
            if values == nil {
                report(
                    field, value.mark, "an enum needs at least one value: write { type: enum, values: [open, closed] }")
                return (.string, isOptional, true)
            }
            return (.enumeration(values ?? []), isOptional, true)
        }
        if let type = AttributeType(named: String(word)) {
            return (type, isOptional, false)
        }
        reportUnknownType(String(word), field, value.mark)
        return (.string, isOptional, false)
    }

    private mutating func reportUnknownType(_ word: String, _ field: String, _ mark: Mark) {
        if let meant = DescriptionReader.otherWords[word.lowercased()] {
            report(field, mark, "unknown type \"\(word)\": did you mean \"\(meant)\"?")
        } else {
            let known = AttributeType.named.map(\.description) + ["enum"]
            report(field, mark, Spelling.unknown("type", word, among: known))
        }
    }

    // MARK: Relationships

    private mutating func relationship(
        _ entry: YAMLValue.Entry, _ field: String, _ mapping: inout EntityMapping
    ) -> RelationshipDefinition? {
        guard case .mapping = entry.value.content else {
            record("\(field).to", of: entry)
            return destination(entry.value, "\(field).to").map {
                RelationshipDefinition(entry.key, to: $0.entity, many: $0.isMany)
            }
        }
        guard
            let section = section(
                entry.value, field,
                keys: [
                    "to", "from", "inverse", "ordered", "on_delete", "join", "was", "nulls", "absent", "to_many",
                    "value", "naming", "by",
                ],
                required: ["to"],
                example: ["to": "to: User, or to: [Label] if there are many"])
        else { return nil }
        let paths = sources(section, nil)
        let inverse = text(section, "inverse")
        let ordered = flag(section, "ordered")
        let rule = deleteRule(section), join = join(section), was = text(section, "was")
        if let url = referenceURL(section) { mapping.referenceURLs[entry.key] = url }
        guard let value = section["to"], let destination = destination(value, section.path("to")) else { return nil }
        if !paths.isEmpty, join == nil { mapping.paths[entry.key] = paths }
        var rules = rules(section, dates: "dates")
        rules.naming = word(section, "naming", "naming style")
        if rules != FieldRules() { mapping.fields[entry.key] = rules }
        if rules.toMany != nil, !destination.isMany {
            report(section, "to_many", "to_many is for to-many relationships only: remove the line")
        }
        return RelationshipDefinition(
            entry.key, to: destination.entity, many: destination.isMany, ordered: ordered, inverse: inverse,
            onDelete: rule,
            joinedBy: join, renamedFrom: was)
    }

    /// Reads a destination: `User` or `[Label]`.
    private mutating func destination(_ value: YAMLValue, _ field: String) -> (entity: String, isMany: Bool)? {
        guard case .list(let elements) = value.content else {
            guard let name = text(value, field) else { return nil }
            if name.hasSuffix("?") {
                report(field, value.mark, "a relationship is always optional: remove the ?")
                return nil
            }
            return (name, false)
        }
        guard elements.count == 1 else {
            report(
                field, value.mark,
                "a relationship has exactly one destination, such as [Label]; found \(elements.count)")
            return nil
        }
        return text(elements[0], field).map { ($0, true) }
    }
}
