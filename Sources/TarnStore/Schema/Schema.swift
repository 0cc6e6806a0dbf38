// The declaration of a program's records, by name. `Catalog` adds the ids of the store.

/// The entities of a store: the content, the identity and the relationships of their records.
///
/// A schema has only names. The store assigns ids when a schema is first applied, and they never
/// change.
public struct Schema: Sendable, Hashable {
    /// The entities.
    package var entities: [EntityDefinition]

    /// Creates a schema of entities.
    public init(_ entities: [EntityDefinition] = []) {
        self.entities = entities
    }
}
