// The plan of a struct: its names, resolved once per generation of the catalog.

internal import LMDB

/// A `StoredRecord` type resolved against the catalog: its fields by id.
///
/// It is immutable and lives as long as the state that it was made for.
@usableFromInline
final class RowPlan: Sendable {
    /// A field of the struct: its id, and its position in the directory of a row with every field.
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
    /// The state, which owns the plan.
    unowned(unsafe) let state: StoreState
    /// The slots by the raw values of the struct's fields; freed only in `deinit`.
    nonisolated(unsafe) let slots: UnsafeMutableBufferPointer<Slot>
    /// The raw values of the fields in ascending order of ids, as in a row.
    let ascending: [Int]
    let fields: [Catalog.Field]
    /// For each field the tag of text, and the tag that alone proves that a value fits.
    ///
    /// The second is 255 if the value itself has to be checked.
    let tags: [(text: UInt8, sufficient: UInt8)]
    /// The names of the fields as members of a JSON object: `"title":`, each after a comma.
    let members: [UInt8]
    /// The end of each field's name in ``members``.
    let memberEnds: [Int]
    /// The attribute of the key if the key is a single `int`.
    let intKey: UInt16?
    /// Whether the struct has every field that the catalog requires.
    let isComplete: Bool
    let relationships: [RelationshipPlan]
    /// Whether each key has to be checked, since its type admits keys of other forms.
    let checksEveryKey: Bool

    /// A relationship of the entity, with the data that is needed to follow it.
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
            precondition(
                field.rawValue == position,
                "the raw values of a RecordField must be 0, 1, 2, … in the order of its cases")
            guard let known = entity.field(field.name) else {
                throw .unknownField(entity: entity.name, name: field.name, known: entity.fields.map(\.name))
            }
            fields.append(known)
        }
        if let type = Record.Key.attributeType, entity.keyTypes != [type] {
            throw .wrongKey(entity: entity.name, expected: entity.keyForm, found: "\(type)")
        }
        try RowPlan.checkKey(type, entity)
        var relationships: [RelationshipPlan] = []
        for relationship in state.catalog.relationships(of: entity) {
            guard let destination = state.catalog.entity(id: relationship.destination) else { continue }
            guard relationship.join == nil else {
                relationships.append(
                    RelationshipPlan(
                        relationship: relationship, destination: destination, index: nil, isPositioned: false))
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
        (members, memberEnds) = RowPlan.members(fields)
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

    /// Checks that a record type declares the key of the entity, its parts in the same order.
    ///
    /// Otherwise a key of the struct would be that of another record. A `RecordKey` has the
    /// entity's order, whatever the type declares.
    private static func checkKey<Record: StoredRecord>(
        _ type: Record.Type, _ entity: Catalog.Entity
    ) throws(StoreError) {
        guard Record.Key.self != RecordKey.self, let typed = type as? any TypedRecord.Type else { return }
        let declared = typed.keyNames, names = entity.key.compactMap { entity.field(id: $0)?.name }
        guard declared.isEmpty || declared == names else {
            throw .wrongKey(
                entity: entity.name,
                expected: names.joined(separator: ", ") + (names.count > 1 ? ", in this order" : ""),
                found: declared.joined(separator: ", ") + " in \(type)")
        }
    }

    /// The names of fields as members of a JSON object, and the end of each.
    private static func members(_ fields: [Catalog.Field]) -> ([UInt8], ends: [Int]) {
        var text = JSONText(), ends: [Int] = []
        for field in fields {
            text.append(UInt8(ascii: ","))
            text.append(name: field.name)
            ends.append(text.count)
        }
        return (Array(text.writer.bytes), ends)
    }

    func relationship(_ name: String) throws(StoreError) -> RelationshipPlan {
        for plan in relationships where plan.relationship.name == name { return plan }
        throw .unknownField(entity: entity.name, name: name, known: relationships.map(\.relationship.name))
    }
}

extension Catalog.Entity {
    /// The form of the key for messages: `int`, or `[string, int]`.
    var keyForm: String {
        let types = keyTypes
        return types.count == 1 ? "\(types[0])" : "[" + types.map(\.description).joined(separator: ", ") + "]"
    }
}

extension StoreAccess {
    /// Returns the plan of a type at this state. It lives as long as the state.
    ///
    /// - Throws: `.unknownEntity`, `.unknownField`, `.wrongKey` if the type does not fit the
    ///   catalog.
    func plan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        if let plan = state.plans._withUnsafeGuaranteedRef({ $0.find(ObjectIdentifier(type)) }) { return plan }
        return try addPlan(type)
    }

    /// Adds the plan of a type.
    ///
    /// It is a function of its own, since it takes references that the fast path would count as
    /// well.
    @inline(never)
    private func addPlan<Record: StoredRecord>(_ type: Record.Type) throws(StoreError) -> Unmanaged<RowPlan> {
        let plan = try RowPlan(type, state)
        return state.plans._withUnsafeGuaranteedRef { $0.add(ObjectIdentifier(type), plan) }
    }
}
