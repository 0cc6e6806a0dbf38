import TarnStore

/// The schema in a store's catalog, by names and ids.
package struct StoreSchema: Sendable, Encodable {
    /// A kind of record, without what it has from its parent.
    package struct Entity: Sendable, Encodable {
        var name: String
        var id: UInt16
        var parent: String?
        var key: [String]
        var isCompressed: Bool
        var attributes: [Attribute] = []
        var relationships: [Relationship] = []
        var indexes: [Index] = []
        /// The ids of fields that were removed, whose values rows may still have.
        var retired: [UInt16]
        var formerNames: [String]
    }

    struct Attribute: Sendable, Encodable {
        var name: String
        var id: UInt16
        var type: String
        var values: [String]?
        var isOptional: Bool
        var isUnique: Bool
        /// The default value as JSON.
        var defaultValue: String?
        /// The id of the attribute's own index.
        var index: UInt32?
        /// The unfinished work on the index; nil if it is complete.
        var indexState: String?
        var formerNames: [String]
    }

    struct Relationship: Sendable, Encodable {
        var name: String
        /// The id of the stored field; nil for a derived side and for a join.
        var id: UInt16?
        var to: String
        var isToMany: Bool
        var isOrdered = false
        var inverse: String?
        var deleteRule: String?
        /// The attributes that join the records: the own one, and that of the target.
        var join: [String]?
        /// Whether the other side is stored; then the declaration adds what that one cannot tell.
        var isDerived = false
        var index: UInt32?
        var indexState: String?
        var formerNames: [String] = []
    }

    struct Index: Sendable, Encodable {
        var name: String
        var id: UInt32
        var on: [String]
        var ignoringCase: [String]
        var isUnique: Bool
        var conditions: [Condition]
        var state: String?
        var formerNames: [String]
    }

    struct Condition: Sendable, Encodable {
        var attribute: String
        var comparison: IndexCondition.Comparison
        /// The operand as text; nil for null.
        var value: String?
    }

    var path: String
    var incarnation: String
    /// The commit sequence; 0 if it is unreadable.
    var commit: UInt64
    var format: Int
    var entities: [Entity] = []
    /// The faults of the parts that were read.
    package var findings: [Finding] { faults }
    private var faults: [Finding] = []
    /// The reason why no read transaction held the file; nil if one did.
    package var aloneBecause: String?

    private enum CodingKeys: String, CodingKey { case path, incarnation, commit, format, entities }

    init(_ path: String, _ file: StoreFile) {
        self.path = path
        incarnation = file.text(MetaKey.incarnation) ?? ""
        commit = file.number(MetaKey.sequence) ?? 0
        format = file.format
        for entity in file.catalog.entities { entities.append(StoreSchema.entity(entity, file)) }
        addDerivedSides(file.catalog)
        faults = file.findings.list
        aloneBecause = file.aloneBecause
    }

    private static func state(_ index: UInt32?, _ file: StoreFile) -> String? {
        switch index.flatMap({ file.marks[$0] })?.phase {
        case .building: "being built"
        case .checking: "being checked"
        case nil: nil
        }
    }

    private static func entity(_ entity: Catalog.Entity, _ file: StoreFile) -> Entity {
        let catalog = file.catalog, parent = entity.parent.flatMap { catalog.entity(id: $0) }
        func name(_ field: UInt16) -> String { entity.field(id: field)?.name ?? "#\(field)" }
        func entityName(_ id: UInt16) -> String { catalog.entity(id: id)?.name ?? "#\(id)" }
        var result = Entity(
            name: entity.name, id: entity.id, parent: parent?.name, key: entity.key.map(name),
            isCompressed: entity.isCompressed, retired: entity.removed ?? [], formerNames: entity.was ?? [])
        for field in entity.fields where parent?.field(id: field.id) == nil {
            switch field.kind {
            case .attribute(let type):
                result.attributes.append(attribute(field, type, state(field.index, file)))
            case .reference(let to):
                result.relationships.append(
                    Relationship(
                        name: field.name, id: field.id, to: entityName(to.destination), isToMany: to.isToMany,
                        isOrdered: to.isOrdered, inverse: to.inverse, deleteRule: text(to.rule), index: field.index,
                        indexState: state(field.index, file), formerNames: field.was ?? []))
            }
        }
        for join in entity.joins where !(parent?.joins.contains { $0.name == join.name } ?? false) {
            let theirs = catalog.entity(id: join.destination)?.field(id: join.theirs)?.name ?? "#\(join.theirs)"
            result.relationships.append(
                Relationship(
                    name: join.name, to: entityName(join.destination), isToMany: join.isToMany,
                    inverse: join.inverse, deleteRule: text(join.rule), join: [name(join.own), theirs],
                    formerNames: join.was ?? []))
        }
        for index in entity.indexes where !(parent?.indexes.contains { $0.id == index.id } ?? false) {
            result.indexes.append(
                Index(
                    name: index.name, id: index.id, on: index.components.map { name($0.field) },
                    ignoringCase: index.components.filter { $0.folding != nil }.map { name($0.field) },
                    isUnique: index.isUnique,
                    conditions: index.conditions.map { condition in
                        Condition(
                            attribute: name(condition.field), comparison: condition.comparison,
                            value: condition.value == .null ? nil : condition.value.plainText)
                    }, state: state(index.id, file), formerNames: index.was ?? []))
        }
        return result
    }

    private static func attribute(_ field: Catalog.Field, _ type: AttributeType, _ state: String?) -> Attribute {
        let values: [String]? =
            switch type {
            case .enumeration(let values), .array(.enumeration(let values)): values
            default: nil
            }
        return Attribute(
            name: field.name, id: field.id, type: "\(type)", values: values, isOptional: field.isOptional,
            isUnique: field.isUnique, defaultValue: field.defaultValue?.jsonText, index: field.index,
            indexState: state, formerNames: field.was ?? [])
    }

    private static func text(_ rule: RelationshipDefinition.DeleteRule?) -> String? {
        rule.flatMap { $0 == .none ? nil : $0.rawValue }
    }

    /// Adds the derived sides that say more than the name in `inverse`: without a declaration a
    /// derived side is to-many, not ordered, and without a delete rule.
    private mutating func addDerivedSides(_ catalog: Catalog) {
        for owner in catalog.entities {
            let parent = owner.parent.flatMap { catalog.entity(id: $0) }
            for field in owner.fields where parent?.field(id: field.id) == nil {
                guard case .reference(let to) = field.kind, let inverse = to.inverse else { continue }
                let rule = StoreSchema.text(to.inverseRule)
                guard !to.inverseIsToMany || to.inverseIsOrdered || rule != nil else { continue }
                add(
                    Relationship(
                        name: inverse, to: owner.name, isToMany: to.inverseIsToMany, isOrdered: to.inverseIsOrdered,
                        inverse: field.name, deleteRule: rule, isDerived: true), to: to.destination)
            }
            for join in owner.joins where !(parent?.joins.contains { $0.name == join.name } ?? false) {
                let rule = StoreSchema.text(join.inverseRule)
                guard let inverse = join.inverse, !join.inverseIsToMany || rule != nil,
                    let theirs = catalog.entity(id: join.destination)?.field(id: join.theirs)?.name,
                    let own = owner.field(id: join.own)?.name
                else { continue }
                add(
                    Relationship(
                        name: inverse, to: owner.name, isToMany: join.inverseIsToMany, inverse: join.name,
                        deleteRule: rule, join: [theirs, own], isDerived: true), to: join.destination)
            }
        }
    }

    private mutating func add(_ relationship: Relationship, to entity: UInt16) {
        guard let position = entities.firstIndex(where: { $0.id == entity }) else { return }
        entities[position].relationships.append(relationship)
    }
}

extension StoreInspector {
    /// Reads the schema of a store from its catalog.
    ///
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func schema() throws -> StoreSchema {
        try open { file in
            try checkIsReadable(file)
            return StoreSchema(path, file)
        }
    }
}
