// Choosing how to find the records of a query: by key, by an index, by several, or by looking at all.

internal import LMDB

struct QueryPlanner {
    /// What the records are wanted for.
    enum Purpose {
        case records
        /// Only how many there are: an index that answers the condition is enough.
        case counting
    }

    let access: StoreAccess
    /// What is asked, as it is answered in this snapshot (`followingPaths`).
    let query: CompiledQuery
    let purpose: Purpose

    init(_ access: StoreAccess, _ query: CompiledQuery, for purpose: Purpose = .records) throws {
        self.access = access
        self.query = try QueryPlanner.followingPaths(query, access)
        self.purpose = purpose
    }

    /// A path that answers the whole condition, and whose first component with more than one value is a place: then groups
    /// stand together in it. Nil if there is none.
    func grouping(by place: Int) throws -> AccessPath? {
        guard query.places[place].origin == 0 else { return nil }
        return try candidates(query.node.conjuncts, groupedBy: place)?.first { path in
            guard case .index(let index) = path.source, path.isExact(query) else { return false }
            let components = index.pathComponents
            return path.fixedCount < components.count && isComponent(components[path.fixedCount], place)
        }
    }

    /// How many entries are counted to choose between paths, and how many ranges a path may have.
    private static let probe = 1000, mostSpans = 10_000

    func choose() throws -> QueryAccess {
        let conjuncts = query.node.conjuncts
        guard var paths = try candidates(conjuncts) else {
            return QueryAccess(form: .nothing, residual: .never, isOrdered: true)
        }
        if let only = paths.first(where: \.isPoints) ?? obvious(paths, conjuncts) { return chosen(only) }
        for index in paths.indices { paths[index].estimate = try estimate(paths[index]) }
        var results = paths.map(\.estimate).min() ?? 0
        let unions = try unions(conjuncts)
        for union in unions { results = min(results, union.reduce(0) { $0 + $1.estimate }) }
        for index in paths.indices { paths[index].cost = cost(paths[index], results: results) }
        guard let best = paths.min(by: { $0.cost < $1.cost }) else { throw StoreError.unknownEntity(name: query.entity.name, known: []) }
        for union in unions {
            let rows = Double(union.reduce(0) { $0 + $1.estimate })
            if rows * 5 + 20 < best.cost {
                return QueryAccess(form: .union(union), residual: query.node, isOrdered: false)
            }
        }
        return chosen(best)
    }

    /// Every way that could have been chosen. Each gives the same result; tests take them all.
    func alternatives() throws -> [QueryAccess] {
        let conjuncts = query.node.conjuncts
        guard let paths = try candidates(conjuncts) else { return [try choose()] }
        return try paths.map(chosen)
            + unions(conjuncts).map { QueryAccess(form: .union($0), residual: query.node, isOrdered: false) }
    }

    private func chosen(_ path: AccessPath) -> QueryAccess {
        QueryAccess(form: .path(path), residual: path.residual, isOrdered: path.isOrdered)
    }

    /// A path for which nothing need be counted: the first entries of it are the result.
    private func obvious(_ paths: [AccessPath], _ conjuncts: [QueryNode]) -> AccessPath? {
        if paths.count == 1, !conjuncts.contains(where: \.isDisjunction) { return paths[0] }
        guard query.reach <= QueryPlanner.probe else { return nil }
        return paths.first { path in
            path.isOrdered && path.isExact(query)
        }
    }

    // MARK: Candidates

    /// Every path that leads to all records of the query; nil if there can be none. The scan is the last one.
    private func candidates(_ conjuncts: [QueryNode], groupedBy place: Int? = nil) throws -> [AccessPath]? {
        if case .never = query.node { return nil }
        var paths: [AccessPath] = []
        let entity = query.entity
        let scan = try self.path(keySource, keyComponents, conjuncts, limit: StorageKey.longest)
        guard var scan else { return nil }
        if scan.isPoints { return [scan] }
        if case .rows = scan.source { scan.needsEntityCheck = entity.parent != nil }
        order(&scan, keyComponents)
        let rules = try access.state.rules(of: entity.id)
        let mentioned = mentionedFields(place)
        for index in rules.indexes where access.state.isComplete(index.id) {
            // Most indexes have nothing to do with a query.
            guard index.isPartial || index.firstField.map(mentioned.contains) ?? false else { continue }
            let requirements = index.requirements
            guard requirements.allSatisfy({ requirement in
                query.places.restriction(conjuncts, PathComponent(field: requirement.field)).values.isSubset(of: requirement.values)
            }) else { continue }
            guard let source = source(index) else { continue }
            let components = index.pathComponents
            guard var path = try path(source, components, conjuncts, limit: IndexEntry.longestValue) else { return nil }
            path.needsEntityCheck = isInherited(index)
            order(&path, components)
            let isRestricted = !path.isEverything
            // Records without a target are not in an index of references.
            if case .references = source, !isRestricted { continue }
            let isGrouped = place.map { path.fixedCount < components.count && isComponent(components[path.fixedCount], $0) } ?? false
            guard isRestricted || path.isOrdered || isGrouped || !requirements.isEmpty else { continue }
            settle(requirements, conjuncts, &path)
            paths.append(path)
        }
        return paths + [scan]
    }

    /// The fields of the record itself of which the condition or the order says something.
    private func mentionedFields(_ place: Int?) -> [UInt16] {
        query.places.places.compactMap { $0.origin == 0 ? $0.field : nil } + [place.flatMap { query.places[$0].field }].compactMap(\.self)
    }

    private var keySource: AccessPath.Source {
        guard let members = query.entity.members, access.state.isComplete(members) else { return .rows }
        return .members(members)
    }

    private var keyComponents: [PathComponent] {
        query.entity.keyParts.map { PathComponent(field: $0.field, form: $0.isReference ? .key : .element) }
    }

    private func source(_ index: CompiledIndex) -> AccessPath.Source? {
        guard case .field(let field) = index.source, case .reference(let reference) = field.kind else { return .index(index) }
        guard let destination = access.catalog.entity(id: reference.destination) else { return nil }
        return .references(index, reference, keyComponents: destination.keyTypes.count)
    }

    private func isInherited(_ index: CompiledIndex) -> Bool {
        guard let parent = query.entity.parent.flatMap({ access.catalog.entity(id: $0) }) else { return false }
        if case .field(let field) = index.source { return parent.field(id: field.id) != nil }
        return parent.indexes.contains { $0.id == index.id }
    }

    /// What every record of a partial index meets need not be looked at again.
    private func settle(
        _ requirements: [(field: UInt16, values: ByteIntervals)], _ conjuncts: [QueryNode], _ path: inout AccessPath
    ) {
        guard !requirements.isEmpty else { return }
        let rest = path.residual.conjuncts.filter { node in
            !requirements.contains { requirement in
                guard let (values, isExact) = query.places.intervals(node, PathComponent(field: requirement.field)) else { return false }
                return isExact && requirement.values.isSubset(of: values)
            }
        }
        path.residual = .all(of: rest)
    }

    // MARK: Ranges

    /// The part of a table that the conjuncts leave: a value for each of the first components, or several, and then a range.
    /// Nil if no record can meet them.
    private func path(
        _ source: AccessPath.Source, _ components: [PathComponent], _ conjuncts: [QueryNode], limit: Int
    ) throws -> AccessPath? {
        var prefixes: [[UInt8]] = [[]], settled: Set<Int> = [], fixed = 0, used = 0
        var isOpen = true, spans: [KeySpan]?
        for component in components where isOpen {
            let (values, settles) = query.places.restriction(conjuncts, component)
            if values.isEmpty { return nil }
            let isPoints = component.form == .element ? values.isPoints : !values.isAll
            // The digest of a long key says nothing about what begins with it.
            let isSpliced = component.form == .key && !isReferences(source)
            if isSpliced, values.spans.contains(where: { $0.lower.count == StorageKey.digestLength }) { break }
            if isPoints, prefixes.count * values.spans.count <= QueryPlanner.mostSpans {
                if prefixes.count == 1, values.spans.count == 1, fixed == used { fixed += 1 }
                used += 1
                prefixes = prefixes.flatMap { prefix in values.spans.map { prefix + $0.lower } }
                settled.formUnion(settles)
            } else if !values.isAll, prefixes.count * values.spans.count <= QueryPlanner.mostSpans {
                spans = prefixes.flatMap { prefix in
                    values.spans.map { span in
                        KeySpan(lower: prefix + span.lower, upper: span.upper.map { prefix + $0 } ?? (prefix.isEmpty ? nil : prefix + [0xFF]))
                    }
                }
                settled.formUnion(settles)
                isOpen = false
            } else {
                isOpen = false
            }
        }
        var path = AccessPath(source: source, residual: query.node)
        path.fixedCount = fixed
        if case .rows = source, used == components.count { return points(prefixes, settled, conjuncts, path) }
        if case .members = source, used == components.count {
            path.source = .rows
            return points(prefixes, settled, conjuncts, path)
        }
        if let spans {
            path.spans = spans
        } else if prefixes != [[]] {
            path.spans = prefixes.map { KeySpan(lower: $0, upper: $0 + [0xFF]) }
        }
        if widen(&path.spans, isReferences(source) ? .max / 2 : limit) { settled = [] }
        path.residual = .all(of: conjuncts.indices.filter { !settled.contains($0) }.map { conjuncts[$0] })
        return path
    }

    private func isReferences(_ source: AccessPath.Source) -> Bool { if case .references = source { true } else { false } }

    private func points(
        _ keys: [[UInt8]], _ settled: Set<Int>, _ conjuncts: [QueryNode], _ path: AccessPath
    ) -> AccessPath {
        var path = path, isDigest = false
        path.isPoints = true
        path.spans = keys.map { key in
            var writer = ByteWriter(capacity: key.count + 64)
            writer.append(key)
            writer.finishStorageKey(from: 0)
            if StorageKey.isDigest(writer.bytes) { isDigest = true }
            return KeySpan(lower: Array(writer.bytes), upper: nil)
        }
        path.spans.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
        path.estimate = keys.count
        path.cost = Double(keys.count)
        // Another long key may have the same digest.
        if !isDigest { path.residual = .all(of: conjuncts.indices.filter { !settled.contains($0) }.map { conjuncts[$0] }) }
        path.isOrdered = keys.count == 1 || query.order.isEmpty
        return path
    }

    /// Where values are cut in the table, a bound that is as long leaves open what stands at it: then more is walked over, and
    /// rows tell. Returns whether that is so.
    private func widen(_ spans: inout [KeySpan], _ limit: Int) -> Bool {
        var isWider = false
        for index in spans.indices {
            if spans[index].lower.count >= limit {
                spans[index].lower = Array(spans[index].lower.prefix(limit))
                isWider = true
            }
            if let upper = spans[index].upper, upper.count >= limit {
                // Behind everything that begins so: FF marks a cut, and a digest may begin with FF.
                spans[index].upper = Array(upper.prefix(limit)) + Array(repeating: 0xFF, count: 34)
                isWider = true
            }
        }
        if isWider { spans = KeySpan.merged(spans) }
        return isWider
    }

    // MARK: Order

    /// Finds out whether a path gives records in the order of the query.
    private func order(_ path: inout AccessPath, _ components: [PathComponent]) {
        let isKey: Bool
        switch path.source {
        case .rows, .members: isKey = true
        case .references(_, let reference, _) where reference.inverseIsOrdered: return
        default: isKey = false
        }
        var parts: [CompiledQuery.Order] = [], seen: [Int] = []
        for (index, part) in query.order.enumerated() {
            // What has one value only orders nothing, and neither does what was said before.
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
            // The order of keys is what remains.
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
        // Behind the values stand the keys, in an order that may be wanted.
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

    /// Whether all records of the result have one value at a place.
    private func isFixed(_ place: Int) -> Bool {
        let place = query.places[place]
        guard place.origin == 0, let field = place.field else { return false }
        let component = PathComponent(field: field, isFolded: place.isFolded)
        let values = query.places.restriction(query.node.conjuncts, component).values
        return values.spans.count == 1 && values.isPoints
    }

    // MARK: Several paths

    /// For every disjunction whose branches all lead to a part of a table: these parts.
    private func unions(_ conjuncts: [QueryNode]) throws -> [[AccessPath]] {
        var result: [[AccessPath]] = []
        for (index, node) in conjuncts.enumerated() {
            guard case .any(let branches) = node, branches.count <= 64 else { continue }
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

    /// How many entries a path has: counted up to a bound, guessed beyond it.
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

    /// In the time that a row takes which is walked over.
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
        // Of two paths of the same length the one that leaves less to check is the better one.
        return visited * each + (isSorted ? 0 : Double(min(results, path.estimate)) * 2) 
            + Double(path.spans.count - 1) + Double(path.residual.conjuncts.count) / 100
    }
}
