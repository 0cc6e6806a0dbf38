// Reading records by their values in an index.

internal import LMDB

extension StoreReader {
    /// Iterates over the records with given values in an index, until the closure returns false.
    ///
    /// The order is that of the index.
    ///
    /// - Parameters:
    ///   - index: The name of an indexed attribute or of a declared index.
    ///   - values: The values of the index's components, in their order. With fewer values than
    ///     components, all records that begin with them are found. Null finds records in which the
    ///     attribute is null or absent. If the index ignores case, so does the search.
    /// - Throws: The errors of the closure; `StoreError.unknownEntity`; `.unknownField` if there is
    ///   no such index; `.wrongType` if a value does not have its attribute's type;
    ///   `.indexIncomplete` while the index is being built; `.damagedRow`.
    public func forEach(
        _ entity: String, index: String, equalTo values: [Value], _ body: (TarnStore.Record) throws -> Bool
    ) throws {
        let entity = try access.state.entity(entity)
        try access.walk(entity, index: index, equalTo: values) { key, row in try body(access.record(entity, key, row)) }
    }

    /// Returns the first record with given values in an index. Nil if there is none.
    ///
    /// In a unique index it is the only one.
    ///
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``.
    public func first(_ entity: String, index: String, equalTo values: [Value]) throws -> TarnStore.Record? {
        var found: TarnStore.Record?
        try forEach(entity, index: index, equalTo: values) { record in
            found = record
            return false
        }
        return found
    }

    /// Iterates over borrowed rows with given values in an index, until the closure returns false.
    ///
    /// The order is that of the index.
    ///
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``. Also an error if the
    ///   type does not fit the catalog.
    public func forEach<Record: StoredRecord>(
        _ type: Record.Type, index: String, equalTo values: [Value], _ body: (Row<Record>) throws -> Bool
    ) throws {
        let plan = try access.plan(type), entity = plan._withUnsafeGuaranteedRef { $0.entity }
        try access.walk(entity, index: index, equalTo: values) { key, view in
            try body(Row(access.lent(view, plan, key)))
        }
    }

    /// Returns copies of the records with given values in an index, in its order.
    ///
    /// - Parameter limit: The largest number of records.
    /// - Throws: The errors of ``forEach(_:index:equalTo:_:)-(String,_,_,_)``. Also an error if the
    ///   type does not fit the catalog.
    public func fetch<Record: StoredRecord>(
        _ type: Record.Type, index: String, equalTo values: [Value], limit: Int = .max
    ) throws -> [Record] {
        var records: [Record] = []
        guard limit > 0 else { return records }
        try forEach(type, index: index, equalTo: values) { row in
            records.append(try row.copy())
            return records.count < limit
        }
        return records
    }
}

extension StoreAccess {
    /// Iterates over the rows of an entity that have given values in one of its indexes.
    fileprivate func walk(
        _ entity: Catalog.Entity, index name: String, equalTo values: [Value],
        _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        let rules = try state.rules(of: entity.id)
        guard let index = rules.indexes.first(where: { $0.name == name && $0.isOfValues }) else {
            let known = rules.indexes.filter(\.isOfValues).map(\.name)
            throw StoreError.unknownField(entity: entity.name, name: "index \(name)", known: known)
        }
        let wanted = try sought(values, index, entity)
        try wanted.withUnsafeBytes { try walk(entity, index, beginningWith: $0, components: values.count, body) }
    }

    /// Iterates over the rows of an entity whose values in an index begin with encoded values.
    ///
    /// - Parameters:
    ///   - wanted: The encoding of the values, not cut.
    ///   - components: The number of these values.
    func walk(
        _ entity: Catalog.Entity, _ index: CompiledIndex, beginningWith wanted: Bytes, components: Int,
        _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws {
        try checkComplete(index.id, index.name, entity)
        let isExact = wanted.count < IndexEntry.longestValue
        let cursor = try raw.cursor(state.index(index.id)), records = try state.records(of: entity.root)
        defer { cursor.close() }
        let start = wanted.slice(0..<min(wanted.count, IndexEntry.longestValue))
        var entry = start.isEmpty ? try cursor.first() : try cursor.seek(start)
        while let (key, _) = entry, key.hasPrefix(start) {
            if !isExact || IndexEntry.begins(key, with: wanted) {
                let goesOn = try lending {
                    guard let owner = index.owner(in: key), let bytes = try raw.get(records, owner) else {
                        throw StoreError.damagedCatalog(
                            path: "", detail: "an entry of \(TableName.index(index.id)) refers to a missing record")
                    }
                    let row = try view(bytes, entity, owner)
                    guard try isOf(entity, row), isExact || index.begins(row.body, with: wanted, count: components)
                    else { return true }
                    return try body(owner, row)
                }
                guard goesOn else { return }
            }
            entry = try cursor.next()
        }
    }

    /// Requires that an index is complete.
    ///
    /// - Throws: `.indexIncomplete`.
    func checkComplete(_ id: UInt32, _ name: String, _ entity: Catalog.Entity) throws {
        guard !state.isComplete(id) else { return }
        throw StoreError.indexIncomplete(
            entity: entity.name, index: name, done: try IndexMark.of(id, raw, state.meta)?.count ?? 0,
            total: try raw.statistics(state.records(of: entity.root)).entries)
    }

    /// Returns the encoding of the values for an index, not cut.
    private func sought(_ values: [Value], _ index: CompiledIndex, _ entity: Catalog.Entity) throws -> [UInt8] {
        var writer = ByteWriter()
        let components = index.components
        guard values.count <= components.count else {
            throw StoreError.wrongType(
                entity: entity.name, field: index.name, expected: "at most \(components.count) values",
                found: "\(values.count) values")
        }
        for (value, component) in zip(values, components) {
            guard let field = entity.field(id: component.field) else { continue }
            try value.withEncoded { encoded in
                try catalog.check(encoded, fits: field, of: entity)
                IndexEntry.append(encoded.isNull ? nil : encoded, component, to: &writer, limit: .max / 8)
            }
        }
        return Array(writer.bytes)
    }
}

extension CompiledIndex {
    /// Indicates that entries begin with values. Those of a reference's index begin with targets.
    fileprivate var isOfValues: Bool {
        if case .field(let field) = source, case .reference = field.kind { return false }
        return true
    }

    fileprivate var components: [Component] {
        switch source {
        case .field(let field): [Component(field: field.id, isReference: false, foldsCase: false)]
        case .declared(let components, _): components
        }
    }

    /// Returns the storage key after the values of an entry.
    func owner(in entry: Bytes) -> Bytes? {
        let length = IndexEntry.values(of: entry, components: components.count).length
        return length < entry.count ? entry.slice(length..<entry.count) : nil
    }

    /// Returns whether the values of a row, not cut, begin with `count` encoded values.
    fileprivate func begins(_ row: RowBody, with wanted: Bytes, count: Int) -> Bool {
        var writer = ByteWriter()
        for component in components.prefix(count) {
            IndexEntry.append(row.value(of: component.field), component, to: &writer, limit: .max / 8)
        }
        return Bytes.equal(writer.bytes, wanted)
    }
}
