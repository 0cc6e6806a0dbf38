// Validation of a mapping against a schema.

package import TarnStore

extension Mapping {
    /// Returns everything in this mapping that does not fit the schema; empty if it fits.
    package func problems(for schema: Schema) -> [SchemaError] {
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
