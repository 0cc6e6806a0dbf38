// What a struct's names mean at one generation of the catalog: resolved once, then only read.

internal import LMDB
import Synchronization

/// A `StoredRecord` type met the catalog: its fields by their ids. Immutable, and alive as long as the state it was made for.
@usableFromInline
final class RowPlan: Sendable {
    /// A field of the struct: its id, and its place in the directory of a row that has every field of the catalog.
    @usableFromInline
    struct Slot: Sendable {
        @usableFromInline let id: UInt16
        @usableFromInline let rank: UInt16
    }

    let entity: Catalog.Entity
    let entityID: UInt16
    let rules: EntityRules
    let table: Table
    /// The id of the entity's root.
    let root: UInt16
    /// The state owns the plan.
    unowned(unsafe) let state: StoreState
    /// By the raw value of the struct's fields; freed in `deinit` only.
    nonisolated(unsafe) let slots: UnsafeMutableBufferPointer<Slot>
    /// The same fields in ascending order of their ids: as they stand in a row.
    let ascending: [Int]
    let fields: [Catalog.Field]
    /// For each field: how text is stored in it, and the tag that alone says that a value fits; 255 if more has to be looked at.
    let tags: [(text: UInt8, sufficient: UInt8)]
    /// The attribute of the key, if it is one number.
    let intKey: UInt16?
    /// Whether a record that the struct holds lacks nothing that the catalog requires.
    let isComplete: Bool
    let relationships: [RelationshipPlan]
    /// Whether the type of the keys does not say that they are of the entity's form.
    let checksEveryKey: Bool

    /// A relationship of the entity, with what following it needs.
    struct RelationshipPlan: Sendable {
        let relationship: Catalog.Relationship
        let destination: Catalog.Entity
        /// The index through which a derived relationship is followed.
        let index: UInt32?
        let isPositioned: Bool
    }

    init<Record: StoredRecord>(_ type: Record.Type, _ state: StoreState) throws(StoreError) {
        let entity = try state.entity(Record.entity)
        var fields: [Catalog.Field] = []
        for (position, field) in Record.Field.allCases.enumerated() {
            precondition(field.rawValue == position, "the raw values of a RecordField are 0, 1, 2, … in the order of its cases")
            guard let known = entity.field(field.name) else {
                throw .unknownField(entity: entity.name, name: field.name, known: entity.fields.map(\.name))
            }
            fields.append(known)
        }
        if let type = Record.Key.attributeType, entity.keyTypes != [type] {
            throw .wrongKey(entity: entity.name, expected: entity.keyForm, found: "\(type)")
        }
        var relationships: [RelationshipPlan] = []
        for relationship in state.catalog.relationships(of: entity) {
            guard let destination = state.catalog.entity(id: relationship.destination) else { continue }
            guard relationship.join == nil else {
                relationships.append(
                    RelationshipPlan(relationship: relationship, destination: destination, index: nil, isPositioned: false))
                continue
            }
            guard
                let field = state.catalog.entity(id: relationship.owner)?.field(id: relationship.field),
                case .reference(let reference) = field.kind
            else { continue }
            relationships.append(
                RelationshipPlan(
                    relationship: relationship, destination: destination,
                    index: relationship.isStored ? nil : field.index,
                    isPositioned: reference.inverseIsOrdered))
        }
        self.entity = entity
        entityID = entity.id
        self.state = state
        self.fields = fields
        tags = fields.map { ($0.textTag, $0.sufficientTag ?? 0xFF) }
        intKey = entity.keyTypes == [.int] ? entity.key.first : nil
        self.relationships = relationships
        checksEveryKey = Record.Key.attributeType == nil
        table = try state.records(of: entity.root)
        root = entity.root
        rules = try state.rules(of: entity.id)
        ascending = fields.indices.sorted { fields[$0].id < fields[$1].id }
        let named = Set(fields.map(\.id))
        isComplete = entity.fields.allSatisfy { $0.isOptional || named.contains($0.id) }
        let ranks = entity.fields.map(\.id)
        slots = .allocate(capacity: fields.count)
        _ = slots.initialize(
            from: fields.map { Slot(id: $0.id, rank: UInt16(clamping: ranks.firstIndex(of: $0.id) ?? 0)) })
    }

    deinit { slots.deallocate() }

    func relationship(_ name: String) throws(StoreError) -> RelationshipPlan {
        for plan in relationships where plan.relationship.name == name { return plan }
        throw .unknownField(entity: entity.name, name: name, known: relationships.map(\.relationship.name))
    }
}

extension Catalog.Entity {
    /// For messages: `int`, or `[string, int]`.
    var keyForm: String {
        let types = keyTypes
        return types.count == 1 ? "\(types[0])" : "[" + types.map(\.description).joined(separator: ", ") + "]"
    }
}

extension StoreAccess {
    /// The plan of a type at this state. It lives as long as the state.
    ///
    /// - Throws: `.unknownEntity`, `.unknownField`, `.wrongKey` if the type does not fit the catalog.
    func plan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        if let plan = state.plans._withUnsafeGuaranteedRef({ $0.find(ObjectIdentifier(type)) }) { return plan }
        return try addPlan(type)
    }

    /// By itself: making a plan takes references, which finding one would count as well.
    @inline(never)
    private func addPlan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        let plan = try RowPlan(type, state)
        return state.plans._withUnsafeGuaranteedRef { $0.add(ObjectIdentifier(type), plan) }
    }
}
