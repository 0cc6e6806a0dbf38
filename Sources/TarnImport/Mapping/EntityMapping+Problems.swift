// Validation of the mapping of an entity.

internal import TarnStore

extension EntityMapping {
    /// Returns everything in this mapping that does not fit the entity; empty if it fits.
    func problems(for entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        // Inherited fields count as the entity's own.
        var entity = entity
        for ancestor in schema.ancestors(of: entity) {
            entity.attributes += ancestor.attributes
            entity.relationships += ancestor.relationships
            if entity.key.isEmpty { entity.key = ancestor.key }
        }
        var problems = pathProblems(entity)
        problems += choiceProblems(for: entity, schema)
        problems += declarationProblems(entity)
        problems += ruleProblems(entity)
        problems += versionProblems(entity)
        problems += restProblems(entity)
        problems += epochProblems(entity)
        problems += urlProblems(entity, schema)
        problems += referenceURLProblems(entity, schema)
        if let path = tombstone?.path, path.origin != .record || path.steps.isEmpty || path.hasWildcard {
            problems.append(
                SchemaError(
                    entity: entity.name, field: nil,
                    "the mark of deleted records, \(path), is not a single value of the record: use a key of it"))
        }
        return problems
    }

    // MARK: Sources

    private func pathProblems(_ entity: EntityDefinition) -> [SchemaError] {
        let fields = entity.fieldNames
        var problems: [SchemaError] = []
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
        return problems
    }

    private func epochProblems(_ entity: EntityDefinition) -> [SchemaError] {
        epochs.keys.sorted().compactMap { field -> SchemaError? in
            guard let attribute = entity.attributes.first(where: { $0.name == field }) else {
                let message = Spelling.unknown("attribute", field, among: entity.attributes.map(\.name))
                return SchemaError(entity: entity.name, field: field, message)
            }
            guard attribute.type != .date, attribute.type != .array(.date) else { return nil }
            return SchemaError(
                entity: entity.name, field: field,
                "only a date can have an epoch, but the type is \(attribute.type): remove epoch, or make it a date"
            )
        }
    }

    /// Returns the problem of a source, independent of any JSON; nil if there is none.
    private func problem(of source: ValueSource, _ field: String, _ entity: EntityDefinition) -> String? {
        let relationship = entity.relationships.first { $0.name == field }
        for path in source.paths {
            if path.steps.contains(.key("")) { return "empty key in a key path: remove it" }
            switch path.origin {
            case .record:
                if path.steps.isEmpty, relationship != nil { return "$ is the whole record: use a key of it" }
            case .parent where path.steps.isEmpty && relationship?.isToMany == true:
                return "@parent is one record: use a key of it, or make this a to-one relationship"
            case .position where relationship != nil && relationship?.isToMany != false,
                .relationship where relationship?.isToMany == true,
                .memberName where relationship?.isToMany == true:
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

    /// The field of problems of ``url``; no attribute has this name.
    package static let urlField = "@url"

    /// Returns the problems of the URLs: the key is taken from them, and other values.
    private func urlProblems(_ entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        guard let url else { return [] }
        func problem(_ message: String) -> SchemaError {
            SchemaError(entity: entity.name, field: EntityMapping.urlField, message)
        }
        if !url.problems.isEmpty { return url.problems.map(problem) }
        if url.templates.isEmpty { return [problem("no template: write one, such as /users/{id}")] }
        var problems: [SchemaError] = []
        for name in url.variables {
            if let attribute = entity.attributes.first(where: { $0.name == name }) {
                switch attribute.type {
                case .json, .array, .bytes:
                    problems.append(problem("{\(name)} is of type \(attribute.type), which is no part of a URL"))
                default: continue
                }
            } else if !entity.key.contains(name) {
                let known = entity.attributes.map(\.name)
                problems.append(problem("{\(name)}: \(Spelling.unknown("attribute", name, among: known))"))
            }
        }
        for template in url.templates {
            let variables = template.variables
            if let missing = entity.key.first(where: { !variables.contains($0) }) {
                problems.append(problem("\(template) lacks {\(missing)}, which is part of the key: add it"))
            }
        }
        for part in entity.key {
            guard let owner = entity.relationships.first(where: { $0.name == part }),
                let target = schema.entities.first(where: { $0.name == owner.destination })
            else { continue }
            let isOne = target.key.count == 1 && !target.relationships.contains { $0.name == target.key[0] }
            if !isOne {
                problems.append(
                    problem("{\(part)} is a \(target.name), whose key is not one attribute: a URL cannot name it"))
            }
        }
        return problems
    }

    /// Returns the problems of ``referenceURLs``: their variables are the key of the target.
    private func referenceURLProblems(_ entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        referenceURLs.sorted { $0.key < $1.key }.flatMap { name, url -> [SchemaError] in
            func problem(_ message: String) -> SchemaError {
                SchemaError(entity: entity.name, field: name, message)
            }
            guard let relationship = entity.relationships.first(where: { $0.name == name }) else {
                return [problem(Spelling.unknown("relationship", name, among: entity.relationships.map(\.name)))]
            }
            if !url.problems.isEmpty { return url.problems.map(problem) }
            guard relationship.join == nil else {
                return [problem("a joined relationship has no value in JSON: a URL cannot name its target")]
            }
            // An unknown target is reported elsewhere.
            guard var target = schema.entities.first(where: { $0.name == relationship.destination }) else { return [] }
            for ancestor in schema.ancestors(of: target) where target.key.isEmpty { target.key = ancestor.key }
            return url.templates.flatMap { template in
                let variables = template.variables
                let missing = target.key.filter { !variables.contains($0) }.map {
                    problem("\(template) lacks {\($0)}, which is part of the key of \(target.name): add it")
                }
                let unknown = variables.filter { !target.key.contains($0) }.map {
                    problem("{\($0)}: \(Spelling.unknown("part of the key of \(target.name)", $0, among: target.key))")
                }
                return missing + unknown
            }
        }
    }

    // MARK: Relationships and kinds

    /// Returns the problems of ``declared``.
    private func declarationProblems(_ entity: EntityDefinition) -> [SchemaError] {
        let relationships = entity.relationships.map(\.name)
        return declared.sorted().filter { !relationships.contains($0) }.map { field in
            let message = Spelling.unknown("relationship", field, among: relationships)
            return SchemaError(entity: entity.name, field: field, message)
        }
    }

    /// Returns the choice rules whose entity is neither this one nor a descendant.
    private func choiceProblems(for entity: EntityDefinition, _ schema: Schema) -> [SchemaError] {
        guard let choice else { return [] }
        let kinds =
            [entity.name]
            + schema.entities.filter { schema.ancestors(of: $0).contains { $0.name == entity.name } }.map(\.name)
        return choice.entities.filter { !kinds.contains($0) }.map { name in
            let message =
                schema.entities.contains { $0.name == name }
                ? "\(name) does not descend from \(entity.name): declare parent: \(entity.name) there, or remove it here"
                : Spelling.unknown("entity", name, among: kinds)
            return SchemaError(entity: entity.name, field: "kinds.\(name)", message)
        }
    }

    // MARK: Rules

    /// Returns the problems of the rules of fields.
    private func ruleProblems(_ entity: EntityDefinition) -> [SchemaError] {
        let fields = entity.fieldNames
        var problems: [SchemaError] = []
        for (field, rules) in self.fields.sorted(by: { $0.key < $1.key }) {
            if !fields.contains(field) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, Spelling.unknown("field", field, among: fields)))
            }
            problems += rules.problems(ofField: field, entity)
        }
        return problems
    }

    private func versionProblems(_ entity: EntityDefinition) -> [SchemaError] {
        guard let version else { return [] }
        let types: [AttributeType] = [.int, .uint, .double, .decimal, .date, .string]
        guard let attribute = entity.attributes.first(where: { $0.name == version }) else {
            if entity.parent != nil { return [] }
            let message = Spelling.unknown("attribute", version, among: entity.attributes.map(\.name))
            return [SchemaError(entity: entity.name, field: nil, message)]
        }
        if types.contains(attribute.type) { return [] }
        return [
            SchemaError(
                entity: entity.name, field: nil,
                "a version must be a number, a date or a text, but \(version) is \(attribute.type)")
        ]
    }

    private func restProblems(_ entity: EntityDefinition) -> [SchemaError] {
        guard let rest else { return [] }
        let attribute = entity.attributes.first { $0.name == rest }
        guard attribute?.type != .json, attribute != nil || entity.parent == nil else { return [] }
        return [
            SchemaError(
                entity: entity.name, field: nil,
                "unmapped values can only be kept in an attribute of type json: there is no such attribute \(rest)"
            )
        ]
    }
}

extension FieldRules {
    /// Returns everything in the rules that does not fit the field.
    fileprivate func problems(ofField field: String, _ entity: EntityDefinition) -> [SchemaError] {
        var messages: [String] = []
        if transformers != nil,
            entity.key.contains(field) || entity.relationships.contains(where: { $0.name == field })
        {
            messages.append("only attributes outside of the key can have transformers: remove them")
        }
        let type = entity.attributes.first { $0.name == field }?.type
        if dates != nil, let type, type != .date, type != .array(.date) {
            messages.append("only a date can have formats, but the type is \(type): remove them")
        }
        if let fallback, let type {
            if case .enumeration(let values) = type {
                if !values.contains(fallback) {
                    messages.append(Spelling.unknown("value", fallback, among: values))
                }
            } else {
                messages.append("only an enum can have a fallback, but the type is \(type): remove it")
            }
        }
        if dates?.isEmpty == true { messages.append("the list of formats is empty: add one, or use nil") }
        return messages.map { SchemaError(entity: entity.name, field: field, $0) }
    }
}

extension EntityDefinition {
    var fieldNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}
