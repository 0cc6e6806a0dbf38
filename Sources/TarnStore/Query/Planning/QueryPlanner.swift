// The choice of an access path: by key, by an index, by several, or a scan.

internal import LMDB

struct QueryPlanner {
    /// The use of the result.
    enum Purpose {
        case records
        /// Only the number of records: an index that answers the condition is enough.
        case counting
    }

    let access: StoreAccess
    /// The query after rewriting for this snapshot (`withPresentKeys`, `followingPaths`).
    let query: CompiledQuery
    let purpose: Purpose

    init(_ access: StoreAccess, _ query: CompiledQuery, for purpose: Purpose = .records) throws {
        self.access = access
        self.query = try QueryPlanner.followingPaths(query.withPresentKeys(access), access)
        self.purpose = purpose
    }

    /// Returns a path that answers the whole condition and has the groups of a place side by side.
    ///
    /// Its first component with more than one value is the place. The result is nil if there is no
    /// such path.
    func grouping(by place: Int) throws -> AccessPath? {
        guard query.places[place].origin == 0 else { return nil }
        return try candidates(query.node.conjuncts, groupedBy: place)?.first { path in
            guard case .index(let index) = path.source, path.isExact(query) else { return false }
            let components = index.pathComponents
            return path.fixedCount < components.count && isComponent(components[path.fixedCount], place)
        }
    }

    /// Returns the index of the references with which the path to a place begins.
    ///
    /// The result is nil if the query is not of all records of the entity that has them.
    func groupingReferences(of place: Int) throws -> AccessPath.Source? {
        guard case .always = query.node, query.partials == .included else { return nil }
        var source = query.places[place].source, origin = query.places[place].origin
        while origin > 0 {
            let step = query.places.steps[origin - 1]
            (source, origin) = (step.source, step.origin)
        }
        guard case .stored(let first) = source else { return nil }
        let rules = try access.state.rules(of: query.entity.id)
        for index in rules.indexes where access.state.isComplete(index.id) && !isInherited(index) {
            guard case .field(let field) = index.source, field.id == first,
                let references = self.source(index), case .references(_, let reference, _) = references,
                !reference.isToMany
            else { continue }
            return references
        }
        return nil
    }

    /// The number of entries counted at most to choose between paths.
    private static let probe = 1000

    func choose() throws -> QueryAccess {
        let conjuncts = query.node.conjuncts
        guard var paths = try candidates(conjuncts, untilObvious: true) else {
            return QueryAccess(form: .nothing, residual: .never, isOrdered: true)
        }
        if let only = paths.first(where: \.isPoints) ?? obvious(paths, conjuncts) { return chosen(only) }
        for index in paths.indices { paths[index].estimate = try estimate(paths[index]) }
        var results = paths.map(\.estimate).min() ?? 0
        let unions = try unions(conjuncts)
        for union in unions { results = min(results, union.reduce(0) { $0 + $1.estimate }) }
        for index in paths.indices { paths[index].cost = cost(paths[index], results: results) }
        guard let best = paths.min(by: { $0.cost < $1.cost }) else {
            throw StoreError.unknownEntity(name: query.entity.name, known: [])
        }
        for union in unions {
            let rows = Double(union.reduce(0) { $0 + $1.estimate })
            if rows * 5 + 20 < best.cost {
                return QueryAccess(form: .union(union), residual: query.node, isOrdered: false)
            }
        }
        return chosen(best)
    }

    /// Returns every possible choice. All have the same result; tests run them all.
    func alternatives() throws -> [QueryAccess] {
        let conjuncts = query.node.conjuncts
        guard let paths = try candidates(conjuncts) else { return [try choose()] }
        return try paths.map(chosen)
            + unions(conjuncts).map { QueryAccess(form: .union($0), residual: query.node, isOrdered: false) }
    }

    private func chosen(_ path: AccessPath) -> QueryAccess {
        QueryAccess(form: .path(path), residual: path.residual, isOrdered: path.isOrdered)
    }

    /// Returns a path that needs no count for the choice: its first entries are the result.
    private func obvious(_ paths: [AccessPath], _ conjuncts: [QueryNode]) -> AccessPath? {
        if paths.count == 1, !conjuncts.contains(where: \.isDisjunction) { return paths[0] }
        return paths.first(where: isObvious)
    }

    private func isObvious(_ path: AccessPath) -> Bool {
        path.isOrdered && query.reach <= QueryPlanner.probe && path.isExact(query)
    }

    // MARK: Candidates

    /// Returns every path to all records of the query, the scan last.
    ///
    /// The result is nil if no record can meet the condition.
    ///
    /// - Parameter untilObvious: whether the search may stop at a path that needs no count.
    private func candidates(
        _ conjuncts: [QueryNode], groupedBy place: Int? = nil, untilObvious: Bool = false
    ) throws -> [AccessPath]? {
        if case .never = query.node { return nil }
        var paths: [AccessPath] = []
        let mentioned = mentionedFields(place)
        var scan: AccessPath?
        // A scan whose keys the condition does not restrict covers all rows, and is planned last.
        if query.entity.keyParts.contains(where: { mentioned.contains($0.field) }) {
            scan = try self.scan(conjuncts)
            guard let scan else { return nil }
            if scan.isPoints { return [scan] }
        }
        let rules = try access.state.rules(of: query.entity.id)
        for (position, outline) in rules.indexOutlines.enumerated() where access.state.isComplete(outline.id) {
            // Most indexes are unrelated to the query.
            guard outline.isPartial || outline.firstField.map(mentioned.contains) ?? false else { continue }
            let index = rules.indexes[position]
            let requirements = index.requirements
            guard
                requirements.allSatisfy({ requirement in
                    query.places.restriction(conjuncts, PathComponent(field: requirement.field)).values.isSubset(
                        of: requirement.values)
                })
            else { continue }
            guard let source = source(index) else { continue }
            let components = index.pathComponents
            guard var path = try path(source, components, conjuncts, limit: IndexEntry.longestValue) else { return nil }
            path.needsEntityCheck = isInherited(index)
            order(&path, components)
            let isRestricted = !path.isEverything
            // Records without a target have no entry in an index of references.
            if case .references = source, !isRestricted { continue }
            let isGrouped =
                place.map { path.fixedCount < components.count && isComponent(components[path.fixedCount], $0) }
                ?? false
            guard isRestricted || path.isOrdered || isGrouped || !requirements.isEmpty else { continue }
            settle(requirements, conjuncts, &path)
            if untilObvious, isObvious(path) { return [path] }
            paths.append(path)
        }
        guard let scan = try scan ?? self.scan(conjuncts) else { return nil }
        paths.append(scan)
        return paths
    }

    /// Returns the scan of the rows whose keys the condition admits; nil if there can be none.
    private func scan(_ conjuncts: [QueryNode]) throws -> AccessPath? {
        let components = keyComponents
        guard var scan = try path(keySource, components, conjuncts, limit: StorageKey.longest) else { return nil }
        if scan.isPoints { return scan }
        if case .rows = scan.source { scan.needsEntityCheck = query.entity.parent != nil }
        order(&scan, components)
        return scan
    }

    /// Returns the record's own fields that the condition or the order mentions.
    private func mentionedFields(_ place: Int?) -> [UInt16] {
        query.places.places.compactMap { $0.origin == 0 ? $0.field : nil }
            + [place.flatMap { query.places[$0].field }].compactMap(\.self)
    }

    private var keySource: AccessPath.Source {
        guard let members = query.entity.members, access.state.isComplete(members) else { return .rows }
        return .members(members)
    }

    private var keyComponents: [PathComponent] {
        query.entity.keyParts.map { PathComponent(field: $0.field, form: $0.isReference ? .key : .element) }
    }

    private func source(_ index: CompiledIndex) -> AccessPath.Source? {
        guard case .field(let field) = index.source, case .reference(let reference) = field.kind else {
            return .index(index)
        }
        guard let destination = access.catalog.entity(id: reference.destination) else { return nil }
        return .references(index, reference, keyComponents: destination.keyTypes.count)
    }

    private func isInherited(_ index: CompiledIndex) -> Bool {
        guard let parent = query.entity.parent.flatMap({ access.catalog.entity(id: $0) }) else { return false }
        if case .field(let field) = index.source { return parent.field(id: field.id) != nil }
        return parent.indexes.contains { $0.id == index.id }
    }

    /// Removes conditions that every record of a partial index meets.
    private func settle(
        _ requirements: [(field: UInt16, values: ByteIntervals)], _ conjuncts: [QueryNode], _ path: inout AccessPath
    ) {
        guard !requirements.isEmpty else { return }
        let rest = path.residual.conjuncts.filter { node in
            !requirements.contains { requirement in
                guard let (values, isExact) = query.places.intervals(node, PathComponent(field: requirement.field))
                else { return false }
                return isExact && requirement.values.isSubset(of: values)
            }
        }
        path.residual = .all(of: rest)
    }

    // MARK: Order

    /// Determines whether a path returns records in the order of the query.
    private func order(_ path: inout AccessPath, _ components: [PathComponent]) {
        let isKey: Bool
        switch path.source {
        case .rows, .members: isKey = true
        case .references(_, let reference, _) where reference.inverseIsOrdered: return
        default: isKey = false
        }
        var parts: [CompiledQuery.Order] = [], seen: [Int] = []
        for (index, part) in query.order.enumerated() {
            // A part with a single value, or one that occurred before, has no effect on the order.
            if seen.contains(part.place) || isFixed(part.place) {
                path.skippedOrder.insert(index)
            } else {
                parts.append(part)
            }
            seen.append(part.place)
        }
        var rest = parts[...], position = path.fixedCount, descends: Bool?
        while position < components.count, let part = rest.first, isComponent(components[position], part.place),
            descends ?? part.isDescending == part.isDescending
        {
            descends = part.isDescending
            rest.removeFirst()
            position += 1
        }
        path.orderedCount = position - path.fixedCount
        if isReferences(path.source), path.orderedCount > 0 { return }
        if isKey {
            // The rest of the order is that of the keys.
            guard rest.isEmpty, !(descends ?? false) || position == components.count else { return }
            path.direction = descends ?? false ? .backward : .forward
            path.isOrdered = true
            return
        }
        guard position == components.count else { return }
        if rest.isEmpty {
            path.direction = descends ?? false ? .backwardByValue : .forward
            path.isOrdered = true
            return
        }
        // The keys follow the values, in an order that the query may want.
        let keys = keyComponents
        guard rest.count <= keys.count, query.entity.keyTypes.allSatisfy({ $0 == .int || $0 == .uuid }),
            zip(keys, rest).allSatisfy({ $0.form == .element && isComponent($0, $1.place) }),
            let keyDescends = rest.first?.isDescending, rest.allSatisfy({ $0.isDescending == keyDescends })
        else { return }
        if !keyDescends {
            path.direction = descends ?? false ? .backwardByValue : .forward
            path.isOrdered = true
        } else if descends ?? true, rest.count == keys.count {
            path.direction = .backward
            path.isOrdered = true
        }
    }

    private func isComponent(_ component: PathComponent, _ place: Int) -> Bool {
        let place = query.places[place]
        return place.origin == 0 && place.field == component.field && place.isFolded == component.isFolded
    }

    /// Returns whether all records of the result have the same value at a place.
    private func isFixed(_ place: Int) -> Bool {
        let place = query.places[place]
        guard place.origin == 0, let field = place.field else { return false }
        let component = PathComponent(field: field, isFolded: place.isFolded)
        let values = query.places.restriction(query.node.conjuncts, component).values
        return values.spans.count == 1 && values.isPoints
    }

    // MARK: Several paths

    /// The largest number of disjunctions that are planned: each looks at all conditions again.
    private static let mostUnions = 16

    /// Returns the paths of the disjunctions whose branches all have a path to a part of a table.
    private func unions(_ conjuncts: [QueryNode]) throws -> [[AccessPath]] {
        var result: [[AccessPath]] = [], planned = 0
        for (index, node) in conjuncts.enumerated() where planned < QueryPlanner.mostUnions {
            guard case .any(let branches) = node, branches.count <= 64 else { continue }
            planned += 1
            var others = conjuncts
            others.remove(at: index)
            var union: [AccessPath]? = []
            for branch in branches {
                guard let paths = try candidates(others + branch.conjuncts) else { continue }
                let restricted = try paths.filter { $0.isPoints || !$0.isEverything }.map { path -> AccessPath in
                    var path = path
                    path.direction = .forward
                    path.isOrdered = false
                    path.estimate = path.isPoints ? path.estimate : try estimate(path)
                    return path
                }
                guard let best = restricted.min(by: { $0.estimate < $1.estimate }) else {
                    union = nil
                    break
                }
                union?.append(best)
            }
            if let union, !union.isEmpty { result.append(union) }
        }
        return result
    }

    // MARK: Cost

    /// Returns the number of entries of a path: counted up to a bound, estimated beyond it.
    func estimate(_ path: AccessPath) throws -> Int {
        if path.isPoints { return path.spans.count }
        let table = try path.source.table(query.entity, access.state)
        let total = try access.raw.statistics(table).entries
        if path.isEverything { return total }
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        var count = 0
        for span in path.spans where count < QueryPlanner.probe {
            count += try cursor.count(in: span, upTo: QueryPlanner.probe - count)
        }
        return count < QueryPlanner.probe ? count : max(count, total / 3)
    }

    /// Returns the cost of a path, in units of the time that a row of a scan takes.
    private func cost(_ path: AccessPath, results: Int) -> Double {
        var visited = Double(path.estimate)
        if path.isOrdered, query.reach < results {
            visited = min(visited, max(Double(query.reach), visited * Double(query.reach) / Double(max(results, 1))))
        }
        let isAnswered = path.isExact(query)
        let each: Double =
            switch path.source {
            case .rows: 1
            case .members, .index, .references: purpose == .counting && isAnswered ? 0.3 : 3.5
            }
        let isSorted = path.isOrdered || purpose == .counting && query.after == nil
        // If two paths have the same length, the one with fewer remaining tests is better.
        return visited * each + (isSorted ? 0 : Double(min(results, path.estimate)) * 2)
            + Double(path.spans.count - 1) + Double(path.residual.conjuncts.count) / 100
    }
}
