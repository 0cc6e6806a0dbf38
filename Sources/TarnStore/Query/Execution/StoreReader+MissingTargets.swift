// Missing targets: records that others refer to and the store does not have, for fetching next.

internal import LMDB

extension StoreReader {
    /// Returns the targets of a relationship for which there is no record, each once.
    ///
    /// A skip-scan of the relationship's index steps from one target to the next, however many
    /// records refer to it. It reads no rows but those of the targets. A derived relationship has
    /// no missing targets: it leads to records that exist. Of a join, either side has some: the
    /// values of the records of `entity` that no record of the other side has.
    ///
    /// - Parameters:
    ///   - limit: the largest number of targets; nil for all.
    ///   - after: the token of an earlier part of the same list.
    /// - Throws: `StoreError.unknownEntity`, `.unknownField`, also for a join whose index was
    ///   withdrawn, since records have equal values; `.indexIncomplete`, `.wrongToken`,
    ///   `.damagedRow`.
    package func missingTargets(
        of entity: String, _ relationship: String, limit: Int? = nil, after: ContinuationToken? = nil
    ) throws -> MissingTargets {
        precondition(limit ?? 0 >= 0, "the limit must not be negative")
        let entity = try access.state.entity(entity)
        guard let found = catalog.relationship(relationship, of: entity) else {
            throw StoreError.unknownField(
                entity: entity.name, name: relationship, known: catalog.relationships(of: entity).map(\.name))
        }
        // The fingerprint cannot be that of a real query: no entity has a name with a space.
        let fingerprint = Query("\(entity.name) \(relationship)").fingerprint
        if let after, after.fingerprint != fingerprint { throw StoreError.wrongToken(entity: entity.name) }
        guard let walk = try MissingWalk(access, entity, found) else {
            return MissingTargets(targets: [], unnamedCount: 0, next: nil)
        }
        var result = MissingTargets(targets: [], unnamedCount: 0, next: nil), last: [UInt8] = []
        try walk.run(after: after.map { Array($0.position) } ?? []) { entry, value in
            // Values that are too long for the index share one position there, so a part never ends
            // between them.
            if let limit, result.targets.count >= limit, !last.elementsEqual(entry) {
                result.next =
                    last.isEmpty
                    ? after
                    : last.withUnsafeBytes {
                        ContinuationToken(fingerprint: fingerprint, position: $0, sortKeyLength: 0)
                    }
                return false
            }
            last = Array(entry)
            if let value { result.targets.append(value) } else { result.unnamedCount += 1 }
            return true
        }
        return result
    }
}

/// A skip-scan of the index of a relationship, from one target to the next.
private struct MissingWalk {
    let access: StoreAccess
    let entity: Catalog.Entity
    let destination: Catalog.Entity
    let field: Catalog.Field
    let join: Catalog.Join?
    let index: UInt32
    let isPositioned: Bool
    /// Whether the index also has records of other entities.
    let isShared: Bool

    /// Returns nil if the relationship is derived, or joined by a key that has no index.
    ///
    /// - Throws: `.unknownField` if it is joined by another attribute without an index.
    init?(_ access: StoreAccess, _ entity: Catalog.Entity, _ relationship: Catalog.Relationship) throws {
        let id = relationship.join?.own ?? relationship.field
        // A join has the attributes as seen from the entity, also from the inverse side.
        guard relationship.isStored || relationship.join != nil,
            let destination = access.catalog.entity(id: relationship.destination), let field = entity.field(id: id)
        else { return nil }
        guard let index = field.index ?? (relationship.join == nil ? nil : access.indexes.ofAttribute(id, entity))
        else {
            guard relationship.join != nil, entity.key != [id] else { return nil }
            throw StoreError.unknownField(
                entity: entity.name, name: "index \(field.name)", known: entity.indexes.map(\.name))
        }
        self.access = access
        self.entity = entity
        self.destination = destination
        self.field = field
        self.index = index
        join = relationship.join
        isPositioned = if case .reference(let reference) = field.kind { reference.inverseIsOrdered } else { false }
        isShared = !access.catalog.declares(entity, field.id)
    }

    /// Calls a closure with each missing target and the prefix of its entries in the index.
    func run(after: [UInt8], _ body: (Bytes, Value?) throws -> Bool) throws {
        try access.indexes.checkComplete(index, field.name, entity)
        let cursor = try access.raw.cursor(access.state.index(index))
        defer { cursor.close() }
        var next = after.isEmpty ? after : after + [0xFF]
        while true {
            let entry = next.isEmpty ? try cursor.first() : try next.withUnsafeBytes { try cursor.seek($0) }
            guard let (key, _) = entry else { return }
            let length = try length(of: key)
            let target = key.slice(0..<length)
            next = Array(target) + [0xFF]
            let isCut = join != nil && IndexEntry.isCut(target)
            if isCut {
                // Several values may share the same prefix: the rows tell them apart.
                next = Array(target.slice(0..<IndexEntry.longestValue)) + [0xFF, 0xFF]
                guard try cutValues(cursor, target, body) else { return }
                continue
            }
            if target.first == TupleCode.null, join != nil { continue }
            guard try isMissing(target, owner: key) else { continue }
            if isShared, try !hasReferrer(cursor, target) { continue }
            guard try body(target, named(target)) else { return }
        }
    }

    private func length(of key: Bytes) throws -> Int {
        let length =
            join == nil
            ? StorageKey.length(in: key, components: destination.keyTypes.count)
            : IndexEntry.values(of: key, components: 1).length
        guard let length, length < key.count else {
            throw StoreError.damagedCatalog(path: "", detail: "malformed entry in \(TableName.index(index))")
        }
        return length
    }

    private func isMissing(_ target: Bytes, owner key: Bytes) throws -> Bool {
        guard let join else { return try access.lending { try access.records.row(destination, target) == nil } }
        // The owner's row has the value in the encoding of rows.
        let owner = key.slice(target.count..<key.count)
        return try isMissing(join, owner)
    }

    private func isMissing(_ join: Catalog.Join, _ owner: Bytes) throws -> Bool {
        var isFound = false
        let relationship = Catalog.Relationship(
            name: "", owner: entity.id, field: join.own, isStored: false, destination: destination.id, isToMany: false,
            isOrdered: false, join: join)
        try access.joined(owner, relationship, join) { _ in
            isFound = true
            return false
        }
        return !isFound
    }

    /// Returns whether a record of the entity itself refers to the target.
    private func hasReferrer(_ cursor: RawCursor, _ target: Bytes) throws -> Bool {
        let target = Array(target)
        return try target.withUnsafeBytes { target in
            var entry = try cursor.seek(target)
            while let (key, _) = entry, IndexEntry.begins(key, with: target) {
                if let owner = IndexEntry.owner(in: key, afterValuesOf: target.count, positioned: isPositioned),
                    try access.lending({ try access.records.row(entity, owner) != nil })
                {
                    return true
                }
                entry = try cursor.next()
            }
            return false
        }
    }

    private func named(_ target: Bytes) throws -> Value? {
        guard join != nil else { return RecordKey(reference: target).map(Value.reference) }
        guard case .attribute(let type) = field.kind else { return nil }
        var reader = TupleReader(target)
        return reader.next().flatMap { $0 == .null ? Value.null : type.descriptor.value($0) }
    }

    /// Reports values too long for the index, each once, in the order of their first records.
    private func cutValues(_ cursor: RawCursor, _ target: Bytes, _ body: (Bytes, Value?) throws -> Bool) throws -> Bool
    {
        guard let join else { return true }
        var seen: Set<[UInt8]> = []
        var entry = try cursor.seek(target)
        while let (key, _) = entry, key.hasPrefix(target) {
            let owner = key.slice(target.count..<key.count)
            let value: [UInt8]? = try access.lending {
                guard let row = try access.records.row(entity, owner), let value = row.body.value(of: field.id) else {
                    return nil
                }
                return Array(value.bytes)
            }
            if let value, seen.insert(value).inserted, try isMissing(join, owner) {
                guard try body(target, value.withUnsafeBytes { EncodedValue($0).decoded() }) else { return false }
            }
            entry = try cursor.next()
        }
        return true
    }
}
