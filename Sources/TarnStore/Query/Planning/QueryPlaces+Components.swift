// The values that a condition admits for components of keys and indexes.

extension QueryPlaces {
    /// Returns the values of a component with which a condition can be met.
    ///
    /// The result is nil if the condition does not restrict the component.
    ///
    /// - Returns: the values, and whether every record with such a value meets the condition.
    func intervals(_ node: QueryNode, _ component: PathComponent) -> (values: ByteIntervals, isExact: Bool)? {
        switch node {
        case .always: return nil
        case .never: return (.none, true)
        case .test(let test, let isNegated):
            let place = places[test.place]
            guard place.origin == 0, place.field == component.field, place.isFolded == component.isFolded else {
                return nil
            }
            guard let (values, isExact) = intervals(test.operation, component) else { return nil }
            guard isNegated else { return (values, isExact) }
            return isExact && component.form == .element ? (values.complement, true) : nil
        case .all(let nodes):
            guard component.form != .keys else { return nil }
            var result: ByteIntervals?, isExact = true
            for node in nodes {
                guard let (values, isPartExact) = intervals(node, component) else {
                    isExact = false
                    continue
                }
                result = result?.intersection(values) ?? values
                isExact = isExact && isPartExact
            }
            return result.map { ($0, isExact) }
        case .any(let nodes):
            guard component.form != .keys else { return nil }
            var result = ByteIntervals.none, isExact = true
            for node in nodes {
                guard let (values, isPartExact) = intervals(node, component) else { return nil }
                result = result.union(values)
                isExact = isExact && isPartExact
            }
            return (result, isExact)
        }
    }

    private func intervals(
        _ operation: QueryTest.Operation, _ component: PathComponent
    ) -> (ByteIntervals, Bool)? {
        switch (component.form, operation) {
        case (.element, .isMissing): return (.null, true)
        case (.element, .compare(let relation, let operand)):
            let tuple = operand.tuple
            switch relation {
            case .equal: return (.point(tuple), true)
            case .less: return (ByteIntervals.below(tuple).intersection(.present), true)
            case .lessOrEqual: return (ByteIntervals.below(tuple + [0xFF]).intersection(.present), true)
            case .greater: return (.from(tuple + [0xFF]), true)
            case .greaterOrEqual: return (.from(tuple), true)
            }
        case (.element, .isIn(let operands)): return (.points(operands.map(\.tuple)), true)
        case (.element, .hasPrefix(let text)): return (.prefix(text), true)
        case (.element, .like(let pattern)):
            let text = pattern.literalPrefix
            return text.isEmpty ? nil : (.prefix(text), false)
        case (.key, .compare(.equal, let operand)): return keys([operand])
        case (.key, .isIn(let operands)): return keys(operands)
        case (.keys, .containsTarget(let operand)): return keys([operand])
        default: return nil
        }
    }

    private func keys(_ operands: [Operand]) -> (ByteIntervals, Bool) {
        (ByteIntervals.points(operands.map { Array($0.payload) }.sorted { $0.lexicographicallyPrecedes($1) }), true)
    }

    /// Returns the values of a component with which all conjuncts can be met.
    ///
    /// - Returns: the values, and the indices of the conjuncts that these values decide.
    func restriction(_ conjuncts: [QueryNode], _ component: PathComponent) -> (values: ByteIntervals, settled: [Int]) {
        var result = ByteIntervals.all, settled: [Int] = []
        for (index, node) in conjuncts.enumerated() {
            guard let (values, isExact) = intervals(node, component) else { continue }
            // A record with two targets has two entries in the index: only one target can be
            // searched.
            if component.form == .keys, !result.isAll { continue }
            result = result.intersection(values)
            if isExact { settled.append(index) }
        }
        return (result, settled)
    }
}

extension CompiledIndex {
    /// The components of the index's entries before the storage key.
    var pathComponents: [PathComponent] {
        switch source {
        case .field(let field):
            guard case .reference(let reference) = field.kind else { return [PathComponent(field: field.id)] }
            return [PathComponent(field: field.id, form: reference.isToMany ? .keys : .key)]
        case .declared(let components, _):
            return components.map { PathComponent(field: $0.field, isFolded: $0.foldsCase) }
        }
    }

    var isPartial: Bool { if case .declared(_, let conditions) = source { !conditions.isEmpty } else { false } }

    var firstField: UInt16? {
        switch source {
        case .field(let field): field.id
        case .declared(let components, _): components.first?.field
        }
    }

    /// The conditions of a partial index, as values of attributes.
    var requirements: [(field: UInt16, values: ByteIntervals)] {
        guard case .declared(_, let conditions) = source else { return [] }
        return conditions.map { condition in
            guard let value = condition.value else {
                return (condition.field, condition.comparison == .equal ? .null : .present)
            }
            let values: ByteIntervals =
                switch condition.comparison {
                case .equal: .point(value)
                case .notEqual: ByteIntervals.point(value).complement
                case .less: ByteIntervals.below(value).intersection(.present)
                case .lessOrEqual: ByteIntervals.below(value + [0xFF]).intersection(.present)
                case .greater: .from(value + [0xFF])
                case .greaterOrEqual: .from(value)
                }
            return (condition.field, values)
        }
    }
}
