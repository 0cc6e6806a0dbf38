// What is wrong with a mapping for a schema, whoever wrote it.

public import TarnStore

extension Mapping {
    /// Everything in this mapping that does not fit the schema; empty if it does.
    public func problems(for schema: Schema) -> [SchemaError] {
        var problems: [SchemaError] = []
        for (name, mapping) in entities.sorted(by: { $0.key < $1.key }) {
            guard let entity = schema.entities.first(where: { $0.name == name }) else {
                let message = Spelling.unknown("entity", name, among: schema.entities.map(\.name))
                problems.append(SchemaError(entity: name, field: nil, message))
                continue
            }
            problems += mapping.problems(for: entity)
        }
        return problems
    }
}

extension EntityMapping {
    fileprivate func problems(for entity: EntityDefinition) -> [SchemaError] {
        var problems: [SchemaError] = []
        let fields = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        for (field, paths) in paths.sorted(by: { $0.key < $1.key }) {
            if !fields.contains(field) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, Spelling.unknown("field", field, among: fields)))
            }
            if paths.contains(where: \.keys.isEmpty) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, "$ is the whole record: name a key of it"))
            }
            if paths.contains(where: { $0.keys.contains("") }) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, "a key path has an empty key: remove it"))
            }
        }
        for relationship in entity.relationships where relationship.join != nil && paths[relationship.name] != nil {
            problems.append(
                SchemaError(
                    entity: entity.name, field: relationship.name,
                    "a joined relationship takes nothing from JSON, its attribute does: remove its paths"))
        }
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
            let type = entity.attributes.first { $0.name == field }?.type
            if rules.dates != nil, let type, type != .date, type != .array(.date) {
                problems.append(
                    SchemaError(entity: entity.name, field: field, "only a date has formats, and this is \(type.word): remove them"))
            }
            if rules.dates?.isEmpty == true {
                problems.append(SchemaError(entity: entity.name, field: field, "there are no formats: name one, or leave them nil"))
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
                        "only a date counts from an epoch, and this is \(attribute.type.word): remove epoch, or make it a date"
                    ))
            }
        }
        return problems
    }
}
