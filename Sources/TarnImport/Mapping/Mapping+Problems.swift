// Validation of a mapping against a schema.

public import TarnStore

extension Mapping {
    /// Returns everything in this mapping that does not fit the schema; empty if it fits.
    public func problems(for schema: Schema) -> [SchemaError] {
        var problems: [SchemaError] = []
        for (name, mapping) in entities.sorted(by: { $0.key < $1.key }) {
            guard let entity = schema.entities.first(where: { $0.name == name }) else {
                let message = Spelling.unknown("entity", name, among: schema.entities.map(\.name))
                problems.append(SchemaError(entity: name, field: nil, message))
                continue
            }
            problems += mapping.problems(for: entity, schema)
            for (field, rules) in mapping.fields.sorted(by: { $0.key < $1.key }) {
                for transformer in rules.transformers ?? [] where self.transformer(transformer) == nil {
                    let known = transformers.map(\.name) + ValueTransformer.builtInNames
                    problems.append(
                        SchemaError(
                            entity: name, field: field, Spelling.unknown("transformer", transformer, among: known)))
                }
            }
        }
        return problems
    }
}

extension EntityMapping {
    fileprivate func problems(for entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        // Inherited fields count as the entity's own.
        var entity = entity
        for ancestor in schema.ancestors(of: entity) {
            entity.attributes += ancestor.attributes
            entity.relationships += ancestor.relationships
            if entity.key.isEmpty { entity.key = ancestor.key }
        }
        var problems: [SchemaError] = []
        let fields = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        for (field, paths) in paths.sorted(by: { $0.key < $1.key }) {
            if !fields.contains(field) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, Spelling.unknown("field", field, among: fields)))
            }
            for source in paths {
                guard let message = problem(of: source, field, entity) else { continue }
                problems.append(SchemaError(entity: entity.name, field: field, message))
            }
        }
        for relationship in entity.relationships where relationship.join != nil && paths[relationship.name] != nil {
            problems.append(
                SchemaError(
                    entity: entity.name, field: relationship.name,
                    "a joined relationship has no value in JSON, only its attribute has: remove its paths"))
        }
        problems += choiceProblems(for: entity, schema)
        let relationships = entity.relationships.map(\.name)
        for field in declared.sorted() where !relationships.contains(field) {
            let message = Spelling.unknown("relationship", field, among: relationships)
            problems.append(SchemaError(entity: entity.name, field: field, message))
        }
        for (field, rules) in self.fields.sorted(by: { $0.key < $1.key }) {
            if !fields.contains(field) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, Spelling.unknown("field", field, among: fields)))
            }
            if rules.transformers != nil,
                entity.key.contains(field) || entity.relationships.contains(where: { $0.name == field })
            {
                problems.append(
                    SchemaError(
                        entity: entity.name, field: field,
                        "only attributes outside of the key can have transformers: remove them"))
            }
            let type = entity.attributes.first { $0.name == field }?.type
            if rules.dates != nil, let type, type != .date, type != .array(.date) {
                problems.append(
                    SchemaError(
                        entity: entity.name, field: field,
                        "only a date can have formats, but the type is \(type.word): remove them"))
            }
            if let fallback = rules.fallback, let type {
                if case .enumeration(let values) = type {
                    if !values.contains(fallback) {
                        problems.append(
                            SchemaError(
                                entity: entity.name, field: field, Spelling.unknown("value", fallback, among: values)))
                    }
                } else {
                    problems.append(
                        SchemaError(
                            entity: entity.name, field: field,
                            "only an enum can have a fallback, but the type is \(type.word): remove it"))
                }
            }
            if rules.dates?.isEmpty == true {
                problems.append(
                    SchemaError(entity: entity.name, field: field, "the list of formats is empty: add one, or use nil"))
            }
        }
        if let version {
            let types: [AttributeType] = [.int, .uint, .double, .decimal, .date, .string]
            if let attribute = entity.attributes.first(where: { $0.name == version }) {
                if !types.contains(attribute.type) {
                    problems.append(
                        SchemaError(
                            entity: entity.name, field: nil,
                            "a version must be a number, a date or a text, but \(version) is \(attribute.type.word)"))
                }
            } else if entity.parent == nil {
                let message = Spelling.unknown("attribute", version, among: entity.attributes.map(\.name))
                problems.append(SchemaError(entity: entity.name, field: nil, message))
            }
        }
        if let rest {
            let attribute = entity.attributes.first { $0.name == rest }
            if attribute?.type != .json, attribute != nil || entity.parent == nil {
                problems.append(
                    SchemaError(
                        entity: entity.name, field: nil,
                        "unmapped values can only be kept in an attribute of type json: there is no such attribute \(rest)"
                    ))
            }
        }
        for field in epochs.keys.sorted() {
            guard let attribute = entity.attributes.first(where: { $0.name == field }) else {
                let message = Spelling.unknown("attribute", field, among: entity.attributes.map(\.name))
                problems.append(SchemaError(entity: entity.name, field: field, message))
                continue
            }
            if attribute.type != .date, attribute.type != .array(.date) {
                problems.append(
                    SchemaError(
                        entity: entity.name, field: field,
                        "only a date can have an epoch, but the type is \(attribute.type.word): remove epoch, or make it a date"
                    ))
            }
        }
        return problems
    }

    /// Returns the choice rules whose entity is neither this one nor a descendant.
    private func choiceProblems(for entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        let kinds =
            [entity.name]
            + schema.entities.filter { schema.ancestors(of: $0).contains { $0.name == entity.name } }.map(\.name)
        return (choice?.entities ?? []).filter { !kinds.contains($0) }.map { name in
            let message =
                schema.entities.contains { $0.name == name }
                ? "\(name) does not descend from \(entity.name): declare parent: \(entity.name) there, or remove it here"
                : Spelling.unknown("entity", name, among: kinds)
            return SchemaError(entity: entity.name, field: "kinds.\(name)", message)
        }
    }

    /// Returns the problem of a source, independent of any JSON; nil if there is none.
    private func problem(of source: ValueSource, _ field: String, _ entity: EntityDefinition) -> String? {
        let relationship = entity.relationships.first { $0.name == field }
        for path in source.paths {
            if path.steps.contains(.key("")) { return "empty key in a key path: remove it" }
            switch path.origin {
            case .record:
                if path.steps.isEmpty { return "$ is the whole record: use a key of it" }
                if case .key? = path.steps.first { continue }
                return "\(path): a record is an object, not a list: start with a key"
            case .parent where path.steps.isEmpty && relationship?.isToMany == true:
                return "@parent is one record: use a key of it, or make this a to-one relationship"
            case .position where relationship != nil && relationship?.isToMany != false,
                .relationship where relationship?.isToMany == true:
                return "\(path) is a single value, but a list is required"
            default: continue
            }
        }
        guard case .constant(let value) = source else { return nil }
        guard (try? JSONValue(value.text)) == value else { return "the constant is not valid JSON" }
        guard let relationship else { return nil }
        let isKey = { (value: JSONValue) in
            switch value {
            case .string, .number: true
            default: false
            }
        }
        if relationship.isToMany, case .array(let values) = value, values.allSatisfy(isKey) { return nil }
        if !relationship.isToMany, isKey(value) { return nil }
        return relationship.isToMany
            ? "a constant of a to-many relationship must be a list of keys"
            : "a constant of a relationship must be a key"
    }
}
