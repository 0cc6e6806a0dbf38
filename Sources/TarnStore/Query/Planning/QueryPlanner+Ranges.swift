// The spans of a table that a condition leaves.

extension QueryPlanner {
    /// The largest number of spans of a path.
    private static let mostSpans = 10_000

    /// Returns the part of a table that the conjuncts leave; nil if no record can meet them.
    ///
    /// The first components have one value or several each, then one component may have a range.
    func path(
        _ source: AccessPath.Source, _ components: [PathComponent], _ conjuncts: [QueryNode], limit: Int
    ) throws -> AccessPath? {
        var prefixes: [[UInt8]] = [[]], settled: [Int] = [], fixed = 0, used = 0
        var isOpen = true, spans: [KeySpan]?
        for component in components where isOpen {
            let (values, settles) = query.places.restriction(conjuncts, component)
            if values.isEmpty { return nil }
            let isPoints = component.form == .element ? values.isPoints : !values.isAll
            // The digest of a long key does not tell which keys begin with it.
            let isSpliced = component.form == .key && !isReferences(source)
            if isSpliced, values.spans.contains(where: { $0.lower.count == StorageKey.digestLength }) { break }
            if isPoints, prefixes.count * values.spans.count <= QueryPlanner.mostSpans {
                if prefixes.count == 1, values.spans.count == 1, fixed == used { fixed += 1 }
                used += 1
                prefixes = prefixes.flatMap { prefix in values.spans.map { prefix + $0.lower } }
                settled += settles
            } else if !values.isAll, prefixes.count * values.spans.count <= QueryPlanner.mostSpans {
                spans = prefixes.flatMap { prefix in
                    values.spans.map { span in
                        KeySpan(
                            lower: prefix + span.lower,
                            upper: span.upper.map { prefix + $0 } ?? (prefix.isEmpty ? nil : prefix + [0xFF]))
                    }
                }
                settled += settles
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

    func isReferences(_ source: AccessPath.Source) -> Bool { if case .references = source { true } else { false } }

    private func points(
        _ keys: [[UInt8]], _ settled: [Int], _ conjuncts: [QueryNode], _ path: AccessPath
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
        // Another long key may have the same digest, so the condition stays.
        if !isDigest {
            path.residual = .all(of: conjuncts.indices.filter { !settled.contains($0) }.map { conjuncts[$0] })
        }
        path.isOrdered = keys.count == 1 || query.order.isEmpty
        return path
    }

    /// Shortens bounds that are as long as the table's cut values, so that the spans cover more.
    ///
    /// - Returns: whether a bound was shortened; then the rows have to be checked.
    private func widen(_ spans: inout [KeySpan], _ limit: Int) -> Bool {
        var isWider = false
        for index in spans.indices {
            if spans[index].lower.count >= limit {
                spans[index].lower = Array(spans[index].lower.prefix(limit))
                isWider = true
            }
            if let upper = spans[index].upper, upper.count >= limit {
                // This is behind every key with the prefix: FF marks a cut, and a digest may begin
                // with FF.
                spans[index].upper = Array(upper.prefix(limit)) + Array(repeating: 0xFF, count: 34)
                isWider = true
            }
        }
        if isWider { spans = KeySpan.merged(spans) }
        return isWider
    }
}
