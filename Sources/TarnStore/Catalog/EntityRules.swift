// The rules for writing records of an entity, such as indexes and defaults, compiled once per
// generation.

/// The rules of one entity, including inherited ones. Immutable.
package final class EntityRules: Sendable {
    let entity: Catalog.Entity
    // Copies of values that every row needs: a read from `entity` would retain all of its parts.
    let id: UInt16
    let root: UInt16
    let isCompressed: Bool
    /// The ids of the fields that a complete record has, ascending.
    private let required: [UInt16]
    /// The ids of fields removed from the entity's tree.
    ///
    /// Rows may still have them, as null or with a value written after the removal.
    package let removed: Set<UInt16>
    /// The indexes of attributes and references, and the declared ones.
    package let indexes: [CompiledIndex]
    /// Small outlines of `indexes`, which let a query skip most of them.
    let indexOutlines: [IndexOutline]
    /// The indexes of the members of this entity, its parent, and so on. A root has none.
    let members: [UInt32]
    /// The defaults as a row body; nil if there are none.
    private let defaults: [UInt8]?
    /// Whether an index of the entity's tree is unique.
    ///
    /// Indexes of the other entities count: a record of this one may become one of theirs.
    let hasUnique: Bool
    /// Whether a record can have a list of references, which may be long.
    let hasLists: Bool
    /// The one-to-one references, whose target belongs to one record only, with their indexes.
    let exclusive: [(field: UInt16, index: UInt32)]

    package init(_ entity: Catalog.Entity, _ catalog: Catalog) {
        self.entity = entity
        id = entity.id
        root = entity.root
        isCompressed = entity.isCompressed
        removed = Set(catalog.entity(id: entity.root)?.removed ?? [])
        required = entity.fields.filter { !$0.isOptional }.map(\.id)
        var indexes: [CompiledIndex] = []
        for field in entity.fields {
            guard let id = field.index else { continue }
            indexes.append(CompiledIndex(id: id, name: field.name, isUnique: field.isUnique, source: .field(field)))
        }
        for index in entity.indexes { indexes.append(CompiledIndex(index, entity)) }
        self.indexes = indexes
        indexOutlines = indexes.map { IndexOutline(id: $0.id, firstField: $0.firstField, isPartial: $0.isPartial) }
        hasUnique = catalog.entities.contains {
            $0.root == entity.root && ($0.fields.contains(where: \.isUnique) || $0.indexes.contains(where: \.isUnique))
        }
        hasLists = entity.fields.contains {
            if case .reference(let reference) = $0.kind { reference.isToMany } else { false }
        }
        exclusive = entity.fields.compactMap { field in
            guard case .reference(let reference) = field.kind, reference.isOneToOne, let index = field.index,
                !entity.key.contains(field.id)
            else { return nil }
            return (field.id, index)
        }
        members = ([entity.id] + catalog.ancestors(of: entity.id)).compactMap { catalog.entity(id: $0)?.members }
        var builder = BodyBuilder()
        for field in entity.fields {
            if let value = field.defaultValue { builder.field(field.id) { $0.appendValue(value) } }
        }
        if builder.isEmpty || builder.isWide {
            defaults = nil
        } else {
            var bytes = ByteWriter()
            builder.finish(into: &bytes)
            defaults = Array(bytes.bytes)
        }
    }

    /// Returns the index of an attribute.
    func index(of attribute: UInt16) -> CompiledIndex? {
        indexes.first { $0.field == attribute }
    }

    var hasDefaults: Bool { defaults != nil }

    /// Returns whether a body lacks a field that a complete record has.
    func isLacking(_ body: RowBody) -> Bool {
        for id in required where body.value(of: id) == nil { return true }
        return false
    }

    /// Calls a closure with the defaults as a row body, if there are any.
    func withDefaults(_ body: (RowBody) -> Void) {
        defaults?.withUnsafeBytes { bytes in
            if let row = RowBody(bytes, isWide: false) { body(row) }
        }
    }

    /// Returns the fields of the tree's other entities, which a record of this one cannot have.
    func foreignFields(in catalog: Catalog) -> Set<UInt16> {
        let own = Set(entity.fields.map(\.id))
        return Set(catalog.entities.filter { $0.root == entity.root }.flatMap { $0.fields.map(\.id) }).subtracting(own)
    }
}
