// Queries with included relationships: the targets are read together, not with a query for each.

extension StoredRecord {
    /// Returns an inclusion of a relationship, to follow it from the records of a query.
    ///
    /// It is a parameter of ``StoreReader/fetch(_:including:)-(TypedQuery<Record>,_)``.
    public static func related<Target: StoredRecord>(_ relationship: Field, to target: Target.Type) -> Inclusion<
        Self, Target
    > {
        Inclusion(relationship: relationship.name)
    }

    /// Returns an inclusion of a relationship that the struct does not have, such as a derived one.
    public static func related<Target: StoredRecord>(_ relationship: String, to target: Target.Type) -> Inclusion<
        Self, Target
    > {
        Inclusion(relationship: relationship)
    }
}

extension StoreReader {
    /// Returns copies of the records of a query in its order, and the targets of relationships.
    ///
    /// ```swift
    /// let (issues, authors) = try r.fetch(open, including: Issue.related(.author, to: User.self))
    /// ```
    ///
    /// The rows are read once. Then the targets of each relationship are read in the order of their
    /// keys and decoded once, however many records refer to them. Relationships of the targets are
    /// followed with ``include(_:of:)``.
    ///
    /// A target that is partial and lacks what its struct requires is left out and listed in
    /// ``Included/partial``.
    ///
    /// - Returns: the records, and the targets of each relationship by the positions of the
    ///   records.
    /// - Throws: as ``fetch(_:_:)``; `StoreError.unknownField` if there is no such relationship;
    ///   `.wrongType` if it leads to another entity.
    @inlinable
    public func fetch<Record: StoredRecord, each Target: StoredRecord>(
        _ query: TypedQuery<Record>, including inclusion: repeat Inclusion<Record, each Target>
    ) throws -> (records: [Record], included: (repeat Included<each Target>)) {
        let plan = try plan(Record.self)
        let related = (repeat try relatedRecords(plan, each inclusion))
        var all: [RelatedKeys] = []
        for one in repeat each related { all.append(one.keys) }
        var records: [Record] = []
        if let limit = query.query.limit { records.reserveCapacity(min(limit, 256)) }
        try forEachLent(plan, query.query, addingTo: all) { row in records.append(try Row<Record>(row).copy()) }
        return (records, (repeat try (each related).load()))
    }

    @usableFromInline
    func relatedRecords<Owner: StoredRecord, Target: StoredRecord>(
        _ owner: Unmanaged<RowPlan>, _ inclusion: Inclusion<Owner, Target>
    ) throws -> RelatedRecords<Target> {
        try RelatedRecords(access, owner._withUnsafeGuaranteedRef { $0.entity }, inclusion)
    }

    /// The entry point of inlined code.
    @usableFromInline
    func forEachLent(
        _ plan: Unmanaged<RowPlan>, _ query: Query, addingTo related: [RelatedKeys], _ body: (RowView) throws -> Void
    ) throws {
        let access = access
        try QueryRun(access, CompiledQuery(query, access.state)).forEach { key, view in
            try body(access.records.lent(view, plan, key))
            for keys in related { try keys.add(key, view) }
            return true
        }
    }

    /// Returns the targets of a relationship of included records.
    ///
    /// The owners are given by their positions in ``Included/records``.
    ///
    /// ```swift
    /// let (issues, milestones) = try r.fetch(
    ///     open, including: Issue.related(.milestone, to: Milestone.self))
    /// let creators = try r.include(Milestone.related(.creator, to: User.self), of: milestones)
    /// ```
    ///
    /// - Throws: as ``fetch(_:including:)-(TypedQuery<Record>,_)``.
    public func include<Owner: StoredRecord, Target: StoredRecord>(
        _ inclusion: Inclusion<Owner, Target>, of owners: Included<Owner>
    ) throws -> Included<Target> {
        let entity = try access.plan(Owner.self)._withUnsafeGuaranteedRef { $0.entity }
        let related = try RelatedRecords(access, entity, inclusion)
        try related.keys.add(owners.keys, entity)
        return try related.load()
    }

    /// Returns copies of the records of a query in its order, and the targets of relationships.
    ///
    /// - Parameter paths: names of relationships, stored or derived. `milestone.creator` is the
    ///   `creator` of the targets of `milestone`, which are included as well.
    /// - Throws: as ``fetch(_:)-(Query)``; `StoreError.unknownField` if there is no such
    ///   relationship.
    public func fetch(_ query: Query, including paths: [String]) throws -> IncludingResult {
        let compiled = try CompiledQuery(query, access.state), access = access
        let wanted = paths.map { FieldPath($0).names }
        var names: [String] = []
        for name in wanted.compactMap(\.first) where !names.contains(name) { names.append(name) }
        let related = try names.map { try RelatedKeys(access, compiled.entity, $0) }
        var result = IncludingResult()
        try QueryRun(access, compiled).forEach { key, view in
            result.records.append(try access.record(compiled.entity, key, view))
            for keys in related { try keys.add(key, view) }
            return true
        }
        for (name, keys) in zip(names, related) {
            let rest = wanted.filter { $0.first == name }.map { Array($0.dropFirst()) }
            try include(rest, of: keys, as: name, in: &result)
        }
        return result
    }

    private func include(
        _ paths: [[String]], of related: RelatedKeys, as path: String, in result: inout IncludingResult
    ) throws {
        let access = access
        var records: [Record] = []
        let places = try related.load { key, view in
            records.append(try access.record(related.destination, key, view))
            return true
        }
        let included = Included(records, places)
        result.included[path] = included
        var names: [String] = []
        for name in paths.compactMap(\.first) where !names.contains(name) { names.append(name) }
        for name in names {
            let next = try RelatedKeys(access, related.destination, name)
            try next.add(included.keys, related.destination)
            try include(
                paths.filter { $0.first == name }.map { Array($0.dropFirst()) }, of: next, as: "\(path).\(name)",
                in: &result)
        }
    }
}
