// Records and queries as JSON, for services: from rows to bytes.

extension StoreReader {
    /// Appends a record as a JSON object in UTF-8, with the fields of a struct.
    ///
    /// ```swift
    /// var body: [UInt8] = []
    /// let isThere = try store.read { try $0.writeJSON(Issue.self, id, into: &body) }
    /// ```
    ///
    /// - Returns: false if the record does not exist; then nothing is appended.
    /// - Throws: `StoreError` as ``row(_:_:)``. ``Row/writeJSON(into:)`` has the form.
    public func writeJSON<Record: StoredRecord>(
        _ type: Record.Type, _ key: Record.Key, into bytes: inout [UInt8]
    ) throws(StoreError) -> Bool {
        let mark = rowMark
        defer { release(to: mark) }
        let plan = try plan(type)
        let row = try key.withStorageKey { storageKey throws(StoreError) in
            try find(storageKey, plan, borrowed: false) { key.recordKey }
        }
        guard let row else { return false }
        try Row<Record>(row).writeJSON(into: &bytes)
        return true
    }

    /// Appends a record as a JSON object in UTF-8, with the targets of relationships nested.
    ///
    /// ```swift
    /// let isThere = try store.read {
    ///     try $0.writeJSON(Issue.self, id, including: \.author, \.labels, into: &body)
    /// }
    /// ```
    ///
    /// This is the fastest way to an answer of a service: rows are written as they are found. The
    /// form is that of ``writeJSON(_:into:)-(IncludingQuery<Record,_>,_)``.
    ///
    /// - Returns: false if the record does not exist; then nothing is appended.
    /// - Throws: `StoreError` as ``row(_:_:)``; `.unknownField` if there is no such relationship,
    ///   `.wrongType` if it leads to another entity.
    public func writeJSON<Record: TypedRecord, First: RelationshipColumn, each Included: RelationshipColumn>(
        _ type: Record.Type, _ key: Record.Key, including first: KeyPath<Record.Columns, First>,
        _ columns: repeat KeyPath<Record.Columns, each Included>, into bytes: inout [UInt8]
    ) throws -> Bool {
        let mark = rowMark
        defer { release(to: mark) }
        let plan = try plan(type), access = access
        var nested = [try NestedJSON(access, plan, Record.columns[keyPath: first])]
        for column in repeat each columns {
            nested.append(try NestedJSON(access, plan, Record.columns[keyPath: column]))
        }
        var text = JSONText()
        let isFound = try key.withStorageKey { storageKey throws -> Bool in
            guard let row = try find(storageKey, plan, borrowed: false, { key.recordKey }) else { return false }
            var hasMembers = try row.appendJSON(to: &text, leavingOut: nested.map(\.name), isOpen: true)
            let view = row.view, entity = plan._withUnsafeGuaranteedRef { $0.entity }
            // Derived relationships are found by the key that has replaced a temporary one.
            let known = try replacement(of: storageKey, plan)
            for one in nested {
                if hasMembers { text.append(UInt8(ascii: ",")) }
                hasMembers = true
                text.append(name: one.name)
                if let known {
                    try known.withUnsafeBytes { try one.append(of: $0, view, entity, to: &text) }
                } else {
                    try one.append(of: storageKey, view, entity, to: &text)
                }
            }
            text.append(UInt8(ascii: "}"))
            return true
        }
        if isFound { bytes.append(contentsOf: text.writer.bytes) }
        return isFound
    }

    /// Appends the records of a query as a JSON array in UTF-8, in the query's order.
    ///
    /// - Returns: the number of records.
    /// - Throws: `StoreError` as ``fetch(_:)-(TypedQuery<Record>)``.
    @discardableResult
    public func writeJSON<Record: StoredRecord>(
        _ query: TypedQuery<Record>, into bytes: inout [UInt8]
    ) throws -> Int {
        var text = JSONText(), count = 0
        text.append(UInt8(ascii: "["))
        let plan = try plan(Record.self), access = access
        try QueryRun(access, CompiledQuery(query.query, access.state)).forEach { key, view in
            if count > 0 { text.append(UInt8(ascii: ",")) }
            count += 1
            try access.records.lent(view, plan, key).appendJSON(to: &text)
            return true
        }
        text.append(UInt8(ascii: "]"))
        bytes.append(contentsOf: text.writer.bytes)
        return count
    }

    /// Appends the records of a query as a JSON array in UTF-8, with included targets nested.
    ///
    /// A target is a member with the name of its relationship, instead of its key: an object or
    /// null for a to-one relationship, an array for a to-many one. The names of a longer path are
    /// joined with dots: `milestone.creator`. Missing targets are left out, or null.
    ///
    /// - Returns: the number of records.
    /// - Throws: as ``fetch(_:)-(IncludingQuery<Record,_>)``.
    @discardableResult
    public func writeJSON<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>, into bytes: inout [UInt8]
    ) throws -> Int {
        try writeJSON(query, into: &bytes) { query, body in
            try QueryRun(access, CompiledQuery(query, access.state)).forEach { key, view in
                try body(key, view)
                return true
            }
            return nil
        }.count
    }

    /// Appends a page of a query as a JSON array, as
    /// ``writeJSON(_:into:)-(IncludingQuery<Record,_>,_)`` does, and returns the next page's token.
    ///
    /// - Returns: the token; nil if this is the last page, or the query has no limit.
    /// - Throws: as ``page(_:)-(TypedQuery<Record>)``.
    public func writeJSONPage<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>, into bytes: inout [UInt8]
    ) throws -> ContinuationToken? {
        try writeJSON(query, into: &bytes) { query, body in
            try page(query) { _, key, view in try body(key, view) }
        }.next
    }

    private func writeJSON<Record: TypedRecord, each Column: RelationshipColumn>(
        _ query: IncludingQuery<Record, repeat each Column>, into bytes: inout [UInt8],
        _ forEach: (Query, (Bytes, EncodedRow) throws -> Void) throws -> ContinuationToken?
    ) throws -> (count: Int, next: ContinuationToken?) {
        let plan = try plan(Record.self), access = access
        var included: [IncludedJSON] = []
        for column in repeat each query.columns {
            included.append(try IncludedJSON(self, plan, column))
        }
        let left = included.map(\.name)
        // The records are written before their targets are known: each is an object that is still
        // open.
        var records = JSONText(), ends: [(end: Int, hasMembers: Bool)] = []
        let next = try forEach(query.records.query) { key, view in
            let hasMembers = try access.records.lent(view, plan, key)
                .appendJSON(to: &records, leavingOut: left, isOpen: true)
            ends.append((records.count, hasMembers))
            for one in included { try one.first.add(key, view) }
        }
        for place in included.indices { try included[place].load() }
        var text = JSONText(), start = 0
        text.append(UInt8(ascii: "["))
        for (position, record) in ends.enumerated() {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            text.append(json: records.writer.bytes(start..<record.end))
            start = record.end
            for (place, one) in included.enumerated() {
                if record.hasMembers || place > 0 { text.append(UInt8(ascii: ",")) }
                text.append(name: one.name)
                one.append(of: position, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
        text.append(UInt8(ascii: "]"))
        bytes.append(contentsOf: text.writer.bytes)
        return (ends.count, next)
    }
}
