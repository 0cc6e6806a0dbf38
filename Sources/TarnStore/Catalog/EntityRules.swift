// What writing a record of an entity has to keep up: its indexes and defaults, compiled once for each generation.

internal import LMDB

/// The rules of one entity, those that it inherits among them. Immutable.
package final class EntityRules: Sendable {
    package let entity: Catalog.Entity
    // What is asked for every row: to read it out of the entity would retain all that an entity is made of.
    package let id: UInt16
    package let root: UInt16
    let isCompressed: Bool
    /// The fields that a complete record has, in ascending order.
    private let required: [UInt16]
    /// Fields of its tree that are no more: rows may still have them, as null or with what came too late.
    package let removed: Set<UInt16>
    /// Of attributes and references, and declared ones.
    package let indexes: [CompiledIndex]
    /// The same, in as few words as it takes to pass over one.
    let indexOutlines: [IndexOutline]
    /// The indexes of the records that are of this entity, of its parent, and so on: empty for a root, which needs none.
    package let members: [UInt32]
    /// A body of the defaults; nil if there are none.
    private let defaults: [UInt8]?
    /// Whether a value may stand in one record only, in some index of this entity or of another one of its tree, which a
    /// record of this one may become.
    let hasUnique: Bool
    /// Whether a record can have a list of references, which may become long.
    let hasLists: Bool

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
        hasLists = entity.fields.contains { if case .reference(let reference) = $0.kind { reference.isToMany } else { false } }
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

    /// The index of an attribute.
    func index(of attribute: UInt16) -> CompiledIndex? {
        indexes.first { if case .field(let field) = $0.source { field.id == attribute } else { false } }
    }

    var hasDefaults: Bool { defaults != nil }

    /// Whether a body does not have a field that a complete record has.
    func isLacking(_ body: RowBody) -> Bool {
        for id in required where body.value(of: id) == nil { return true }
        return false
    }

    /// Calls the closure with a body of the defaults, if there are any.
    func withDefaults(_ body: (RowBody) -> Void) {
        defaults?.withUnsafeBytes { bytes in
            if let row = RowBody(bytes, isWide: false) { body(row) }
        }
    }

    /// Fields of the other entities of the same tree, which a record of this one cannot have.
    func foreignFields(in catalog: Catalog) -> Set<UInt16> {
        let own = Set(entity.fields.map(\.id))
        return Set(catalog.entities.filter { $0.root == entity.root }.flatMap { $0.fields.map(\.id) }).subtracting(own)
    }
}
