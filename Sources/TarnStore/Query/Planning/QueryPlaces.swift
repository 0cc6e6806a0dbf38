/// The places of a query, each once.
struct QueryPlaces {
    /// The catalog and the entity, shared.
    ///
    /// It is a class, since places are copied often and a catalog has many reference-counted
    /// fields.
    private final class Scope: Sendable {
        let catalog: Catalog
        let entity: Catalog.Entity

        init(_ catalog: Catalog, _ entity: Catalog.Entity) {
            self.catalog = catalog
            self.entity = entity
        }
    }

    private let scope: Scope
    var catalog: Catalog { scope.catalog }
    var entity: Catalog.Entity { scope.entity }
    private(set) var places: [QueryPlace] = []
    private(set) var steps: [QueryStep] = []
    /// The paths of the places; nil for a field that no path leads to.
    private var paths: [FieldPath?] = []

    init(_ catalog: Catalog, _ entity: Catalog.Entity) {
        scope = Scope(catalog, entity)
    }

    subscript(index: Int) -> QueryPlace { places[index] }

    func path(_ index: Int) -> FieldPath {
        paths[index]
            ?? FieldPath([places[index].owner, places[index].name], ignoringCase: places[index].isFolded)
    }

    /// Returns the index of the place of a field that only a kind of the entity has.
    mutating func place(of field: Catalog.Field, _ kind: Catalog.Entity, ignoringCase: Bool) -> Int? {
        guard case .attribute(let type) = field.kind, let rank = kind.fields.firstIndex(where: { $0.id == field.id })
        else { return nil }
        let known = places.indices.first {
            paths[$0] == nil && places[$0].field == field.id && places[$0].isFolded == ignoringCase
        }
        if let known { return known }
        places.append(
            QueryPlace(
                owner: kind.name, name: field.name, origin: 0, source: .stored(field.id), kind: .attribute(type),
                isFolded: ignoringCase, rank: rank))
        paths.append(nil)
        return places.count - 1
    }

    /// Returns the index of the place of a path.
    ///
    /// - Throws: `.unknownField`; `.leadsToSeveral` if a relationship before the last name is
    ///   to-many; `.wrongType` if a name before the last is an attribute, or if a value that
    ///   ignores case is not text.
    mutating func place(_ path: FieldPath) throws(StoreError) -> Int {
        if let known = paths.firstIndex(of: path) { return known }
        var origin = 0, owner = entity
        for name in path.names.dropLast() { (origin, owner) = try step(name, origin, owner) }
        let name = path.names.last ?? ""
        let (source, rank, kind) = try resolve(name, owner)
        if path.ignoresCase {
            let type: AttributeType? = if case .attribute(let type) = kind { type } else { nil }
            let element: AttributeType? = if case .array(let element)? = type { element } else { type }
            guard element?.isText ?? false else {
                throw .wrongType(
                    entity: owner.name, field: name, expected: type?.description ?? "a relationship",
                    found: "case-insensitive text")
            }
        }
        places.append(
            QueryPlace(
                owner: owner.name, name: name, origin: origin, source: source, kind: kind, isFolded: path.ignoresCase,
                rank: rank))
        paths.append(path)
        return places.count - 1
    }

    private mutating func step(
        _ name: String, _ origin: Int, _ owner: Catalog.Entity
    ) throws(StoreError) -> (Int, Catalog.Entity) {
        if let known = steps.firstIndex(where: { $0.origin == origin && $0.name == name }) {
            return (known + 1, steps[known].destination)
        }
        let (source, rank, kind) = try resolve(name, owner)
        switch kind {
        case .attribute(let type):
            throw .wrongType(entity: owner.name, field: name, expected: "a relationship", found: type.description)
        case .toMany: throw .leadsToSeveral(entity: owner.name, relationship: name)
        case .toOne(let destination):
            steps.append(
                QueryStep(
                    origin: origin, source: source, rank: rank, owner: owner, destination: destination, name: name))
            return (steps.count, destination)
        }
    }

    private func resolve(
        _ name: String, _ owner: Catalog.Entity
    ) throws(StoreError) -> (QueryPlace.Source, Int, QueryPlace.Kind) {
        if let rank = owner.fields.firstIndex(where: { $0.name == name }) {
            let field = owner.fields[rank]
            switch field.kind {
            case .attribute(let type): return (.stored(field.id), rank, .attribute(type))
            case .reference(let reference):
                if let destination = catalog.entity(id: reference.destination) {
                    return (.stored(field.id), rank, reference.isToMany ? .toMany(destination) : .toOne(destination))
                }
            }
        }
        let relationships = catalog.relationships(of: owner)
        if let relationship = relationships.first(where: { $0.name == name }),
            let destination = catalog.entity(id: relationship.destination)
        {
            return (.followed(relationship), 0, relationship.isToMany ? .toMany(destination) : .toOne(destination))
        }
        let fields = owner.fields.map(\.name)
        let known = fields + relationships.map(\.name).filter { !fields.contains($0) }
        throw .unknownField(entity: owner.name, name: name, known: known)
    }
}
