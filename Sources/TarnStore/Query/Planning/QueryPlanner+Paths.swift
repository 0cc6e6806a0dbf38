// Conditions behind a relationship: if few targets meet one, it becomes a condition on the
// reference.

extension QueryPlanner {
    /// The largest number of targets that replace such a condition.
    private static let mostTargets = 100

    /// Rewrites conditions behind relationships: `author.login = "ada"` becomes `author in (…)`.
    ///
    /// It does so if an index of the target entity finds these authors and they are few enough. The
    /// result is valid in this snapshot only.
    static func followingPaths(_ query: CompiledQuery, _ access: StoreAccess) throws -> CompiledQuery {
        guard !query.places.steps.isEmpty else { return query }
        var places = query.places, hasChanged = false, nodes: [QueryNode] = []
        for node in query.node.conjuncts {
            if case .test(let test, isNegated: false) = node, let better = try targets(test, query, &places, access) {
                nodes.append(better)
                hasChanged = true
            } else {
                nodes.append(node)
            }
        }
        return hasChanged ? CompiledQuery(query, places, .all(of: nodes)) : query
    }

    private static func targets(
        _ test: QueryTest, _ query: CompiledQuery, _ own: inout QueryPlaces, _ access: StoreAccess
    ) throws -> QueryNode? {
        // A value behind the path may be missing because a relationship on the path has no target.
        if case .isMissing = test.operation { return nil }
        let path = own.path(test.place)
        guard own[test.place].origin > 0, let name = path.names.first, let field = query.entity.field(name),
            case .reference(let kind) = field.kind, let index = field.index, access.state.isComplete(index),
            let destination = access.catalog.entity(id: kind.destination)
        else { return nil }
        var places = QueryPlaces(access.catalog, destination)
        let place = try places.place(FieldPath(Array(path.names.dropFirst()), ignoringCase: path.ignoresCase))
        let node = QueryNode.test(QueryTest(place: place, operation: test.operation), isNegated: false)
        let inner = CompiledQuery(destination, places, node, limit: mostTargets + 1)
        let planner = try QueryPlanner(access, inner)
        let chosen = try planner.choose()
        if case .path(let path) = chosen.form, try planner.estimate(path) > mostTargets { return nil }
        var keys: [[UInt8]] = []
        try QueryRun(access, planner.query, chosen).forEach { key, _ in
            keys.append(Array(key))
            return true
        }
        guard keys.count <= mostTargets else { return nil }
        if keys.isEmpty { return .never }
        keys.sort { $0.lexicographicallyPrecedes($1) }
        let reference = try own.place(FieldPath([name]))
        return .test(
            QueryTest(place: reference, operation: .isIn(keys.map { Operand(storageKey: $0) })), isNegated: false)
    }
}
