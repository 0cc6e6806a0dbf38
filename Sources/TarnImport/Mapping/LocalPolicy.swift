// What an import does with records that were changed here and not yet at the server.

public import TarnStore

/// What counts where a response says something about a record that is marked as changed locally (`LocalChange`).
public enum LocalPolicy: String, Sendable, Hashable, CaseIterable {
    /// Fields that were changed here keep their value, the others take what the response says. The default.
    case fields
    /// A marked record stays as it is, with all of its fields.
    case keep
    /// What the response says counts; the mark is cleared.
    case server
}

extension Mapping {
    /// The policy of an entity: its own, that of the nearest one that it descends from, or the API's.
    public func local(of entity: String, in schema: Schema) -> LocalPolicy {
        let definition = schema.entities.first { $0.name == entity }
        let names = [entity] + (definition.map { schema.ancestors(of: $0).map(\.name) } ?? [])
        return names.lazy.compactMap { entities[$0]?.local }.first ?? local ?? .fields
    }
}
