// What a program declares about its records, by name. `Catalog` is the same with the ids that the store gave.

/// The entities of a store: what their records hold, how they are identified, how they relate.
///
/// A schema names things; ids are given by the store when the schema is first applied and never change after that.
public struct Schema: Sendable, Hashable {
    public var entities: [EntityDefinition]

    public init(_ entities: [EntityDefinition] = []) {
        self.entities = entities
    }
}
