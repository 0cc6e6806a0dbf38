/// A chain of relationships that leads from the records of a query to included targets.
@usableFromInline
struct IncludedPath<Target: StoredRecord> {
    /// The relationship of the records, whose targets are collected while they are read.
    @usableFromInline let first: RelatedKeys
    private let names: [String]
    /// The entity of the records.
    private let owner: String
    private let access: StoreAccess

    @usableFromInline
    init(_ reader: StoreReader, _ owner: Unmanaged<RowPlan>, _ names: [String]) throws {
        access = reader.access
        let entity = owner._withUnsafeGuaranteedRef { $0.entity }
        first = try RelatedKeys(access, entity, names.first ?? "")
        self.names = names
        self.owner = entity.name
    }

    /// Reads the targets, after the records have been added to ``first``.
    ///
    /// - Throws: `.unknownField`; `.wrongType` if the path leads to another entity than the type's.
    @inlinable
    func load() throws -> IncludedTargets<Target> {
        let (chain, last) = try follow()
        return IncludedTargets(chain: chain, last: try RelatedRecords<Target>(last, plan()).load())
    }

    @usableFromInline
    func plan() throws -> Unmanaged<RowPlan> { try access.plan(Target.self) }

    /// Follows the relationships up to the last one.
    ///
    /// - Returns: the places of the targets in between, and the keys of the last targets.
    @usableFromInline
    func follow() throws -> (chain: [IncludedPlaces], last: RelatedKeys) {
        var chain: [IncludedPlaces] = [], keys = first, owner = owner
        for name in names.dropFirst() {
            let places = try keys.load { _, _ in true }
            let next = try RelatedKeys(access, keys.destination, name)
            try next.add(places.keys, keys.destination)
            chain.append(places)
            owner = keys.destination.name
            keys = next
        }
        guard keys.destination.name == Target.entity else {
            throw StoreError.wrongType(
                entity: owner, field: names.last ?? "", expected: keys.destination.name, found: Target.entity)
        }
        return (chain, keys)
    }
}

/// The targets of a chain of relationships, by the positions of the records of a query.
@usableFromInline
struct IncludedTargets<Target: StoredRecord>: Sendable {
    private let chain: [IncludedPlaces]
    @usableFromInline let last: Included<Target>

    @usableFromInline
    init(chain: [IncludedPlaces], last: Included<Target>) {
        self.chain = chain
        self.last = last
    }

    /// Returns the included targets of the record at a position, in the order of the relationship.
    ///
    /// It is inlinable: the copies of targets are those of their own type.
    @inlinable
    func included<Column: RelationshipColumn>(
        _ column: Column.Type, of position: Int
    ) -> Column.Included where Column.Target == Target {
        let places = places(of: position)
        return Column.included(places.count) { last.records[Int(places[places.startIndex + $0])] }
    }

    /// Returns the places of the targets in the list of all targets.
    @usableFromInline
    func places(of position: Int) -> ArraySlice<Int32> {
        guard !chain.isEmpty else { return last[position].positions }
        var owners = [position]
        for places in chain { owners = owners.flatMap { places.targets(of: $0).map(Int.init) } }
        return owners.flatMap { last[$0].positions }[...]
    }
}

extension IncludedPlaces {
    /// Returns the positions of the targets of an owner.
    func targets(of owner: Int) -> ArraySlice<Int32> {
        targets[(owner == 0 ? 0 : Int(ends[owner - 1]))..<Int(ends[owner])]
    }
}
