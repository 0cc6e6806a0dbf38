// What is known about the records of a query altogether: how many, the least and the greatest value, groups.

internal import LMDB

extension StoreReader {
    /// The number of records that ``fetch(_:)-(Query)`` would give.
    ///
    /// All records of an entity are LMDB's own count; where an index answers the condition, no row is read.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func count(_ query: Query) throws -> Int {
        var query = query
        if query.after == nil { query.order = [] }
        let compiled = try CompiledQuery(query, access.state)
        let run = try QueryRun(access, compiled)
        var count = 0
        if case .always = compiled.node, compiled.partials == .included, compiled.after == nil {
            count = try access.count(compiled.entity)
        } else {
            try run.forEachUnordered { _, _ in
                count += 1
                return count < compiled.reach
            }
        }
        return max(0, min(count - compiled.offset, compiled.limit))
    }

    /// The least value at a path among the records that meet a query's condition; nil if none has one. The query's order,
    /// limit, offset and token do not matter.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func minimum(of path: FieldPath, _ query: Query) throws -> Value? { try extreme(of: path, query, greatest: false) }

    /// The greatest value at a path among the records that meet a query's condition; nil if none has one. The query's order,
    /// limit, offset and token do not matter.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``.
    public func maximum(of path: FieldPath, _ query: Query) throws -> Value? { try extreme(of: path, query, greatest: true) }

    private func extreme(of path: FieldPath, _ query: Query, greatest: Bool) throws -> Value? {
        let wanted = Query(
            query.entity, where: .and([query.condition, .not(.isMissing(path))]),
            sortedBy: [Query.Order(path, descending: greatest)], limit: 1, partials: query.partials)
        let run = try QueryRun(access, CompiledQuery(wanted, access.state))
        var result: Value?
        try run.forEach { key, row in
            run.evaluation.begin()
            result = try run.decodedValue(at: run.query.order[0].place, key, row.body)
            return false
        }
        return result
    }

    /// How many of the records that meet a query's condition have which value at a path, in ascending order of the values; those
    /// in which it is missing come first, with `.null`. The query's order, limit, offset and token do not matter.
    ///
    /// - Throws: as ``fetch(_:)-(Query)``; `.sortTooLarge` if there are too many different values to hold.
    public func counts(by path: FieldPath, _ query: Query) throws -> [(value: Value, count: Int)] {
        let wanted = Query(query.entity, where: query.condition, partials: query.partials)
        var compiled = try CompiledQuery(wanted, access.state)
        let place = try compiled.place(path)
        let run = try QueryRun(access, compiled)
        var groups: [[UInt8]: Int] = [:], values: [(tuple: [UInt8], value: Value, count: Int)] = [], held = 0
        var writer = ByteWriter(capacity: 256)
        try run.forEachUnordered { key, row in
            writer.removeAll()
            try run.evaluation.appendTuple(place, key, row.body, to: &writer)
            let tuple = Array(writer.bytes)
            if let group = groups[tuple] {
                values[group].count += 1
            } else {
                held += tuple.count * 2 + 64
                if held > SortBuffer.limit {
                    throw StoreError.sortTooLarge(entity: compiled.entity.name, bytes: SortBuffer.limit)
                }
                groups[tuple] = values.count
                values.append((tuple, try run.decodedValue(at: place, key, row.body) ?? .null, 1))
            }
            return true
        }
        values.sort { $0.tuple.lexicographicallyPrecedes($1.tuple) }
        return values.map { ($0.value, $0.count) }
    }
}

extension CompiledQuery {
    /// A place that the query itself does not name.
    ///
    /// - Throws: `.unknownField`; `.wrongType` if there are several values at the place.
    mutating func place(_ path: FieldPath) throws(StoreError) -> Int {
        let place = try places.place(path)
        try places.checkIsSingle(place)
        return place
    }
}

extension QueryRun {
    /// A copy of the value at a place. Nil if it is missing.
    func decodedValue(at place: Int, _ key: Bytes, _ row: RowBody) throws -> Value? {
        guard let value = try evaluation.value(at: place, key, row) else { return nil }
        let destination: Catalog.Entity? = if case .toOne(let entity) = query.places[place].kind { entity } else { nil }
        let encoded = evaluation.isFolded(place) ? evaluation.fold(value) : value
        return try access.decoded(encoded) { digest in
            guard let destination, let row = try? access.row(destination, digest) else { return nil }
            return access.key(destination, digest, row)
        }
    }
}
