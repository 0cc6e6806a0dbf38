// A query resolved against the catalog: names as ids, values as operands, an order that compares as
// bytes.

/// A compiled query.
///
/// It is a class, since planning and execution share it and its fields are reference-counted.
final class CompiledQuery {
    struct Order {
        let place: Int
        let isDescending: Bool
    }

    let entity: Catalog.Entity
    private(set) var places: QueryPlaces
    let node: QueryNode
    let order: [Order]
    let partials: Query.Partials
    let limit: Int
    let offset: Int
    let after: ContinuationToken?

    /// Resolves a query against the catalog of a state.
    ///
    /// - Throws: `.unknownEntity`, `.unknownField`, `.wrongType`, `.leadsToSeveral`, `.wrongToken`.
    init(_ query: Query, _ state: StoreState) throws(StoreError) {
        precondition(query.limit ?? 0 >= 0 && query.offset >= 0, "limit and offset must not be negative")
        let entity = try state.entity(query.entity)
        var places = QueryPlaces(state.catalog, entity)
        node = try places.node(query.condition)
        var order: [Order] = []
        for part in query.order {
            let place = try places.place(part.path)
            try places.checkIsSingle(place)
            order.append(Order(place: place, isDescending: part.isDescending))
        }
        if let after = query.after, after.fingerprint != query.fingerprint { throw .wrongToken(entity: entity.name) }
        self.entity = entity
        self.places = places
        self.order = order
        partials = query.partials
        limit = query.limit ?? .max
        after = query.after
        offset = query.after == nil ? query.offset : 0
    }

    /// Creates a query for a part of another one: records that meet one condition.
    init(_ entity: Catalog.Entity, _ places: QueryPlaces, _ node: QueryNode, limit: Int) {
        self.entity = entity
        self.places = places
        self.node = node
        self.limit = limit
        order = []
        partials = .included
        offset = 0
        after = nil
    }

    /// Copies a query with an equivalent condition.
    init(_ query: CompiledQuery, _ places: QueryPlaces, _ node: QueryNode) {
        entity = query.entity
        self.places = places
        self.node = node
        order = query.order
        partials = query.partials
        limit = query.limit
        offset = query.offset
        after = query.after
    }

    /// Returns a place that the query itself does not name.
    ///
    /// - Throws: `.unknownField`; `.wrongType` if the place has several values.
    func place(_ path: FieldPath) throws(StoreError) -> Int {
        let place = try places.place(path)
        try places.checkIsSingle(place)
        return place
    }

    /// The number of leading records of the result that matter.
    var reach: Int {
        let (sum, overflow) = limit.addingReportingOverflow(offset)
        return overflow ? .max : sum
    }
}

extension QueryEvaluation {
    /// Appends the position of a record in an order.
    ///
    /// The byte order of positions is the order of the result.
    ///
    /// For each part it appends the whole value as a tuple element, or null, and 00, all
    /// complemented if the part descends. The storage key follows.
    ///
    /// The 00 is needed since only the next byte tells the end of a text from an escaped NUL,
    /// complemented or not.
    ///
    /// - Returns: the length of the sort key, without the storage key.
    func appendPosition(
        _ order: [CompiledQuery.Order], _ key: Bytes, _ row: RowBody, to writer: inout ByteWriter
    ) throws -> Int {
        let beginning = writer.count
        for part in order {
            let start = writer.count
            try appendTuple(part.place, key, row, to: &writer)
            writer.append(0)
            if part.isDescending { writer.complement(from: start) }
        }
        defer { writer.append(key) }
        return writer.count - beginning
    }

    /// Appends the value at a place as a whole tuple element; null if it is missing.
    func appendTuple(_ index: Int, _ key: Bytes, _ row: RowBody, to writer: inout ByteWriter) throws {
        guard let value = try value(at: index, key, row) else { return writer.appendTupleNull() }
        if let target = value.reference { return writer.appendTuple(bytes: target) }
        IndexEntry.appendWholeValue(isFolded(index) ? fold(value) : value, to: &writer)
    }
}
