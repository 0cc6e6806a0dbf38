import TarnStore

/// The entities of a store with their fields and indexes, as a diagram needs them.
struct SchemaAnswer: Encodable {
    struct Field: Encodable {
        var name: String, type: String
        var isKey: Bool, isOptional: Bool, isIndexed: Bool
        /// The destination of a relationship.
        var target: String?
        var isToMany: Bool?
        var inverse: String?
    }
    struct Entity: Encodable {
        var name: String
        var parent: String?
        var fields: [Field]
        var indexes: [String]
    }

    var entities: [Entity]

    init(_ catalog: Catalog) {
        entities = catalog.entities.map { entity in
            let parent = entity.parent.flatMap { catalog.entity(id: $0) }
            let own = entity.fields.filter { parent?.field(id: $0.id) == nil }
            var fields = own.map { Self.field($0, entity, catalog) }
            for join in entity.joins where !(parent?.joins.contains { $0.name == join.name } ?? false) {
                let target = catalog.entity(id: join.destination)?.name
                fields.append(
                    Field(
                        name: join.name, type: "by value", isKey: false, isOptional: true, isIndexed: true,
                        target: target, isToMany: join.isToMany, inverse: join.inverse))
            }
            return Entity(
                name: entity.name, parent: parent?.name, fields: fields,
                indexes: entity.indexes.filter { index in !(parent?.indexes.contains { $0.id == index.id } ?? false) }
                    .map(\.name))
        }
    }

    private static func field(_ field: Catalog.Field, _ entity: Catalog.Entity, _ catalog: Catalog) -> Field {
        let isKey = entity.key.contains(field.id), isIndexed = field.index != nil
        switch field.kind {
        case .attribute(let type):
            return Field(
                name: field.name, type: "\(type)", isKey: isKey, isOptional: field.isOptional, isIndexed: isIndexed)
        case .reference(let reference):
            return Field(
                name: field.name, type: "reference", isKey: isKey, isOptional: field.isOptional, isIndexed: isIndexed,
                target: catalog.entity(id: reference.destination)?.name, isToMany: reference.isToMany,
                inverse: reference.inverse)
        }
    }
}
