import TarnStore

/// The parts of a catalog as text, under names that do not depend on ids.
///
/// Two catalogs with equal outlines describe equal schemas, also if their ids differ.
struct SchemaOutline {
    /// A part of a schema: an entity, a field, a relationship or an index.
    struct Part: Hashable {
        /// The path: `Issue`, `Issue.title`, `Issue index byName`.
        var path: String
        /// The description: `string, unique`.
        var text: String
    }

    private(set) var parts: [Part] = []

    init(_ catalog: Catalog) {
        for entity in catalog.entities { add(entity, catalog) }
    }

    private mutating func add(_ entity: Catalog.Entity, _ catalog: Catalog) {
        let parent = entity.parent.flatMap { catalog.entity(id: $0) }
        let key = entity.key.map { entity.field(id: $0)?.name ?? "#\($0)" }.joined(separator: ", ")
        var texts = parent.map { ["a \($0.name)"] } ?? ["key \(key)"]
        if !entity.isCompressed { texts.append("not compressed") }
        parts.append(Part(path: entity.name, text: texts.joined(separator: ", ")))
        for field in entity.fields where parent?.field(id: field.id) == nil {
            parts.append(Part(path: "\(entity.name).\(field.name)", text: SchemaOutline.text(field, entity, catalog)))
        }
        for join in entity.joins where !(parent?.joins.contains { $0.name == join.name } ?? false) {
            parts.append(Part(path: "\(entity.name).\(join.name)", text: SchemaOutline.text(join, entity, catalog)))
        }
        for index in entity.indexes where !(parent?.indexes.contains { $0.id == index.id } ?? false) {
            parts.append(Part(path: "\(entity.name) index \(index.name)", text: SchemaOutline.text(index, entity)))
        }
    }

    private static func text(_ field: Catalog.Field, _ entity: Catalog.Entity, _ catalog: Catalog) -> String {
        var texts: [String] = []
        switch field.kind {
        case .attribute(let type):
            texts.append("\(type)" + (field.isOptional ? "?" : ""))
            switch type {
            case .enumeration(let values), .array(.enumeration(let values)):
                texts.append("one of " + values.map(listed).joined(separator: ", "))
            default: break
            }
            if field.isUnique { texts.append("unique") } else if field.index != nil { texts.append("indexed") }
            if let value = field.defaultValue { texts.append("default \(value.jsonText)") }
        case .reference(let reference):
            let target = catalog.entity(id: reference.destination)?.name ?? "#\(reference.destination)"
            texts.append("to " + (reference.isToMany ? "[\(target)]" : target))
            if reference.isOrdered { texts.append("ordered") }
            if let inverse = reference.inverse {
                texts.append(
                    "inverse \(inverse)" + (reference.inverseIsToMany ? "" : " (one)")
                        + (reference.inverseIsOrdered ? " (ordered)" : ""))
            }
            if let rule = reference.rule, rule != .none { texts.append("on delete \(rule.rawValue)") }
            if let rule = reference.inverseRule, rule != .none { texts.append("inverse on delete \(rule.rawValue)") }
        }
        return texts.joined(separator: ", ")
    }

    /// A value of an enumeration; in quotes if it has a character of the list.
    private static func listed(_ value: String) -> String {
        let isPlain = !value.isEmpty && !value.utf8.contains { $0 < 0x20 || ",\"".utf8.contains($0) }
        return isPlain ? value : Value.string(value).jsonText
    }

    private static func text(_ join: Catalog.Join, _ entity: Catalog.Entity, _ catalog: Catalog) -> String {
        let destination = catalog.entity(id: join.destination), target = destination?.name ?? "#\(join.destination)"
        let own = entity.field(id: join.own)?.name ?? "#\(join.own)"
        let theirs = destination?.field(id: join.theirs)?.name ?? "#\(join.theirs)"
        var texts = ["to " + (join.isToMany ? "[\(target)]" : target), "by \(own) == \(theirs)"]
        if let inverse = join.inverse { texts.append("inverse \(inverse)" + (join.inverseIsToMany ? "" : " (one)")) }
        if join.rule != .none { texts.append("on delete \(join.rule.rawValue)") }
        if join.inverseRule != .none { texts.append("inverse on delete \(join.inverseRule.rawValue)") }
        return texts.joined(separator: ", ")
    }

    private static func text(_ index: Catalog.Index, _ entity: Catalog.Entity) -> String {
        func name(_ id: UInt16) -> String { entity.field(id: id)?.name ?? "#\(id)" }
        let components = index.components.map { name($0.field) + ($0.folding == nil ? "" : " ignoring case") }
        var texts = ["on " + components.joined(separator: ", ")]
        if index.isUnique { texts.append("unique") }
        if !index.conditions.isEmpty {
            let conditions = index.conditions.map { "\(name($0.field)) \($0.comparison.rawValue) \($0.value.jsonText)" }
            texts.append("where " + conditions.joined(separator: " and "))
        }
        return texts.joined(separator: ", ")
    }
}
