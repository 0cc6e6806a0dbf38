/// The parts of the JSON objects of an entity that are the same in each.
final class JSONMembers {
    let entity: Catalog.Entity
    /// The opening brace with the kind; empty without it.
    let opening: [UInt8]
    /// Whether the objects have every field; ``fields`` then are in ascending order of ids.
    let isWhole: Bool
    let fields: [Field]
    /// The included relationships.
    let relations: [Relation]
    /// The fields whose values are no members.
    let removed: Set<UInt16>
    /// The names of all fields, each as JSON between a comma and a colon.
    private let names: [UInt8]

    /// A field. Trivial, so that a loop over the fields of a row counts no references.
    struct Field {
        let id: UInt16
        /// The place of the name; empty for a field that is no member.
        let name: Range<Int>
    }

    struct Relation {
        let relationship: Catalog.Relationship
        let destination: Catalog.Entity
    }

    init(_ entity: Catalog.Entity, _ shape: JSONShape, _ access: StoreAccess) throws {
        self.entity = entity
        isWhole = shape.fields == nil
        removed = try access.removedFields(of: entity.id)
        relations = try shape.included.map { name in
            guard let relationship = access.catalog.relationship(name, of: entity),
                let destination = access.catalog.entity(id: relationship.destination)
            else {
                throw StoreError.unknownField(
                    entity: entity.name, name: name, known: access.catalog.relationships(of: entity).map(\.name))
            }
            return Relation(relationship: relationship, destination: destination)
        }
        var text = JSONText()
        if let kindName = shape.kindName {
            text.append(UInt8(ascii: "{"))
            text.append(name: kindName)
            var name = entity.name
            name.withUTF8 { text.append(string: Bytes($0)) }
        }
        opening = Array(text.bytes)
        text.removeAll()
        let chosen = shape.fields.map { $0.compactMap { entity.field($0) } } ?? entity.fields
        fields = chosen.map { field in
            let start = text.count
            if !shape.included.contains(field.name) {
                text.append(UInt8(ascii: ","))
                text.append(name: field.name)
            }
            return Field(id: field.id, name: start..<text.count)
        }
        names = Array(text.bytes)
    }

    /// Appends a comma, and a name with a colon.
    @inline(__always)
    func append(_ name: Range<Int>, to text: inout JSONText) {
        names.withUnsafeBytes { text.append(json: $0.slice(name)) }
    }

    /// The members of each entity whose rows have been met.
    struct OfEntities {
        private let shape: JSONShape
        private var known: [UInt16: JSONMembers] = [:]
        /// Those of the last row's entity: most often also the next one's.
        private var last: JSONMembers?

        init(_ shape: JSONShape) { self.shape = shape }

        mutating func of(
            _ id: UInt16, _ access: StoreAccess, else entity: @autoclosure () -> Catalog.Entity
        ) throws -> JSONMembers {
            if let last, last.entity.id == id { return last }
            let found = try known[id] ?? JSONMembers(access.catalog.entity(id: id) ?? entity(), shape, access)
            known[id] = found
            last = found
            return found
        }
    }
}
