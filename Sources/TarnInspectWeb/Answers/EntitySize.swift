import TarnInspect
import TarnStore

/// The space of an entity's records: its rows and its indexes.
///
/// Descendants share the rows of their root.
struct EntitySize: Encodable {
    var name: String
    var parent: String?
    var records: Int
    /// The bytes of the rows; nil for an entity whose rows are those of its root.
    var rows: Int?
    /// The bytes of the indexes that the entity declares.
    var indexes: Int

    /// Returns the sizes of all entities, in the order of the catalog.
    static func all(_ statistics: StoreStatistics, _ catalog: Catalog) -> [EntitySize] {
        let bytes = Dictionary(statistics.tables.map { ($0.name, $0.bytes) }) { first, _ in first }
        let records = Dictionary(statistics.entities.map { ($0.name, $0.records) }) { first, _ in first }
        return catalog.entities.map { entity in
            let parent = entity.parent.flatMap { catalog.entity(id: $0) }
            let inherited = parent.map(indexIDs) ?? []
            return EntitySize(
                name: entity.name, parent: parent?.name, records: records[entity.name] ?? 0,
                rows: parent == nil ? bytes[TableName.records(entity.id)] ?? 0 : nil,
                indexes: indexIDs(entity).subtracting(inherited).reduce(0) {
                    $0 &+ (bytes[TableName.index($1)] ?? 0)
                })
        }
    }

    private static func indexIDs(_ entity: Catalog.Entity) -> Set<UInt32> {
        Set(entity.fields.compactMap(\.index) + entity.indexes.map(\.id) + [entity.members].compactMap(\.self))
    }
}
