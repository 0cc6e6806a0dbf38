// A condition resolved against the catalog: paths are places, values are operands, only tests are
// negated.

/// A condition in negation normal form. There is no third truth value, so De Morgan's laws hold.
indirect enum QueryNode {
    case always, never
    case test(QueryTest, isNegated: Bool)
    /// At least two nodes, none of which is an `all`.
    case all([QueryNode])
    case any([QueryNode])

    static func all(of nodes: [QueryNode]) -> QueryNode {
        var result: [QueryNode] = []
        for node in nodes {
            switch node {
            case .always: break
            case .never: return .never
            case .all(let inner): result += inner
            default: result.append(node)
            }
        }
        return result.count > 1 ? .all(result) : result.first ?? .always
    }

    static func any(of nodes: [QueryNode]) -> QueryNode {
        var result: [QueryNode] = []
        for node in nodes {
            switch node {
            case .never: break
            case .always: return .always
            case .any(let inner): result += inner
            default: result.append(node)
            }
        }
        return result.count > 1 ? .any(result) : result.first ?? .never
    }

    var isDisjunction: Bool { if case .any = self { true } else { false } }

    /// The nodes that all have to hold.
    var conjuncts: [QueryNode] {
        switch self {
        case .always: []
        case .all(let nodes): nodes
        default: [self]
        }
    }
}

extension QueryPlaces {
    /// Compiles a condition.
    ///
    /// - Parameter level: the number of lists and negations around the condition.
    /// - Throws: `.unknownField`, `.wrongType`, `.leadsToSeveral`; `.conditionTooDeep`.
    mutating func node(
        _ condition: Condition, negated: Bool = false, level: Int = 0
    ) throws(StoreError) -> QueryNode {
        guard level <= Condition.deepest else {
            throw .conditionTooDeep(entity: entity.name, levels: Condition.deepest)
        }
        switch condition {
        case .all: return negated ? .never : .always
        case .not(let inner): return try node(inner, negated: !negated, level: level + 1)
        case .and, .or: return try list(condition, negated, level)
        case .between(let path, let low, let high):
            return try node(
                .and([.compare(path, .greaterOrEqual, low), .compare(path, .lessOrEqual, high)]), negated: negated)
        case .compare(let path, let comparison, let value):
            let place = try place(path)
            return try compare(place, comparison, value, negated)
        case .isIn(let path, let values):
            let place = try place(path)
            var operands: [Operand] = [], admitsMissing = false
            try checkIsComparable(place)
            for value in values {
                if case .null = value { admitsMissing = true } else { operands.append(try operand(value, place)) }
            }
            let distinct = Operand.distinct(operands)
            var nodes = admitsMissing ? [test(place, .isMissing, negated)] : []
            if !distinct.isEmpty { nodes.append(test(place, .isIn(distinct), negated)) }
            return negated ? .all(of: nodes) : .any(of: nodes)
        case .hasPrefix(let path, let text):
            let place = try textPlace(path, "text (`begins with`)")
            return test(place, .hasPrefix(Array((self[place].isFolded ? CaseFolding.fold(text) : text).utf8)), negated)
        case .like(let path, let text):
            let place = try textPlace(path, "text (`like`)")
            let pattern = LikePattern(text, folded: self[place].isFolded)
            switch pattern.form {
            case .equal(let bytes):
                return test(place, .compare(.equal, try operand(text: bytes, place)), negated)
            case .prefix(let bytes): return test(place, .hasPrefix(bytes), negated)
            case .contains(let bytes): return test(place, .containsText(bytes), negated)
            case .pattern: return test(place, .like(pattern), negated)
            }
        case .contains(let path, let value):
            let place = try place(path)
            return try contains(place, value, negated)
        case .isMissing(let path): return test(try place(path), .isMissing, negated)
        case .anyContains(let text, let ignoresCase):
            return try anyContains(text, ignoresCase: ignoresCase, negated)
        }
    }

    /// Compiles conditions that all have to hold, or of which one has to.
    private mutating func list(
        _ condition: Condition, _ negated: Bool, _ level: Int
    ) throws(StoreError) -> QueryNode {
        var isAll = false
        if case .and = condition { isAll = true }
        let parts = condition.flattened(isAll: isAll)
        if !isAll, let list = Condition.list(of: parts) { return try node(list, negated: negated, level: level) }
        var nodes: [QueryNode] = []
        for part in parts { nodes.append(try node(part, negated: negated, level: level + 1)) }
        return isAll != negated ? .all(of: nodes) : .any(of: nodes)
    }

    /// Compiles the condition that a text field of a record has a part, also a field of its kind.
    ///
    /// An entity without text fields has no such record.
    private mutating func anyContains(
        _ text: String, ignoresCase: Bool, _ negated: Bool
    ) throws(StoreError) -> QueryNode {
        let part = Array((ignoresCase ? CaseFolding.fold(text) : text).utf8)
        var nodes: [QueryNode] = []
        for field in entity.fields {
            guard let operation = QueryPlaces.operation(finding: part, in: field) else { continue }
            let place = try place(FieldPath([field.name], ignoringCase: ignoresCase))
            nodes.append(test(place, operation, negated))
        }
        var known = Set(entity.fields.map(\.id))
        for kind in catalog.entities where kind.id != entity.id && catalog.isKind(kind.id, of: entity.id) {
            for field in kind.fields where known.insert(field.id).inserted {
                guard let operation = QueryPlaces.operation(finding: part, in: field),
                    let place = place(of: field, kind, ignoringCase: ignoresCase)
                else { continue }
                nodes.append(test(place, operation, negated))
            }
        }
        return negated ? .all(of: nodes) : .any(of: nodes)
    }

    /// Returns the operation that finds a part in a text field; nil for other fields.
    private static func operation(finding part: [UInt8], in field: Catalog.Field) -> QueryTest.Operation? {
        guard case .attribute(let type) = field.kind else { return nil }
        if type.isText { return .containsText(part) }
        if case .array(let element) = type, element.isText { return .containsTextInElement(part) }
        return nil
    }

    private func test(_ place: Int, _ operation: QueryTest.Operation, _ isNegated: Bool) -> QueryNode {
        .test(QueryTest(place: place, operation: operation), isNegated: isNegated)
    }

    private func compare(
        _ place: Int, _ comparison: Condition.Comparison, _ value: Value, _ negated: Bool
    ) throws(StoreError) -> QueryNode {
        if case .null = value {
            switch comparison {
            case .equal, .lessOrEqual, .greaterOrEqual: return test(place, .isMissing, negated)
            case .notEqual: return test(place, .isMissing, !negated)
            case .less, .greater: return negated ? .always : .never
            }
        }
        try checkIsComparable(place)
        let operand = try operand(value, place)
        switch comparison {
        case .equal: return test(place, .compare(.equal, operand), negated)
        case .notEqual: return test(place, .compare(.equal, operand), !negated)
        case .less: return test(place, .compare(.less, operand), negated)
        case .lessOrEqual: return test(place, .compare(.lessOrEqual, operand), negated)
        case .greater: return test(place, .compare(.greater, operand), negated)
        case .greaterOrEqual: return test(place, .compare(.greaterOrEqual, operand), negated)
        }
    }

    private func contains(_ index: Int, _ value: Value, _ negated: Bool) throws(StoreError) -> QueryNode {
        let place = self[index]
        switch place.kind {
        case .attribute(.array(let element)):
            guard let converted = element.converting(value) else {
                throw wrongType(place, "a list of \(element.descriptor.expectation)", value.typeName)
            }
            return test(index, .containsElement(Operand(converted, folded: place.isFolded)), negated)
        case .attribute(let type):
            guard type.isText, case .string(let text)? = AttributeType.string.converting(value) else {
                throw wrongType(place, type.description, "a text or a list with \(value.typeName)")
            }
            return test(index, .containsText(Array((place.isFolded ? CaseFolding.fold(text) : text).utf8)), negated)
        case .toMany: return test(index, .containsTarget(try operand(value, index)), negated)
        case .toOne: throw wrongType(place, "a single key", "`contains`; compare the key with =")
        }
    }

    /// Converts a value to an operand for the place.
    ///
    /// - Throws: `.wrongType` if the value cannot be compared with values of the place.
    func operand(_ value: Value, _ index: Int) throws(StoreError) -> Operand {
        let place = self[index]
        switch place.kind {
        case .attribute(let type):
            guard let converted = type.converting(value) else {
                throw wrongType(place, type.descriptor.expectation, value.typeName)
            }
            return Operand(converted, folded: place.isFolded)
        case .toOne(let destination), .toMany(let destination):
            guard let key = RecordKey(value, of: destination) else {
                throw wrongType(place, "a key of \(destination.name) (\(destination.keyForm))", value.typeName)
            }
            return Operand(key)
        }
    }

    /// Returns an operand for text that is already folded.
    private func operand(text: [UInt8], _ index: Int) throws(StoreError) -> Operand {
        guard case .attribute(let type) = self[index].kind else { return Operand(.string("")) }
        let text = String(decoding: text, as: UTF8.self)
        switch type {
        case .url: return Operand(.url(text))
        case .json: return Operand(.json(text))
        // A pattern without wildcards need not be one of the enumeration's values.
        default: return Operand(.string(text))
        }
    }

    /// Checks that a place has a single value.
    ///
    /// - Throws: `.wrongType` if the place has several values.
    func checkIsSingle(_ index: Int) throws(StoreError) {
        let place = self[index]
        switch place.kind {
        case .attribute(.array(let element)): throw wrongType(place, "a single value", "a list of \(element)")
        case .toMany: throw wrongType(place, "a single value", "a list of keys")
        default: break
        }
    }

    /// Throws `.wrongType` if a comparison with the place would compare several values.
    private func checkIsComparable(_ index: Int) throws(StoreError) {
        let place = self[index]
        switch place.kind {
        case .attribute(.array(let element)):
            throw wrongType(place, "a list of \(element)", "a single value; use `contains`")
        case .toMany:
            throw wrongType(place, "a list of keys", "a single key; use `contains`")
        default: break
        }
    }

    private mutating func textPlace(_ path: FieldPath, _ found: String) throws(StoreError) -> Int {
        let index = try place(path)
        guard case .attribute(let type) = self[index].kind, type.isText else {
            let kind = if case .attribute(let type) = self[index].kind { type.description } else { "a relationship" }
            throw wrongType(self[index], kind, found)
        }
        return index
    }

    private func wrongType(_ place: QueryPlace, _ expected: String, _ found: String) -> StoreError {
        .wrongType(entity: place.owner, field: place.name, expected: expected, found: found)
    }
}

extension Condition {
    /// The number of alternatives up to which each is planned for itself.
    private static let fewAlternatives = 16

    /// The number of levels of lists and negations up to which a condition is accepted.
    ///
    /// Each level takes space on the stack. A text, which has fewer levels, may become two of each.
    fileprivate static let deepest = 500

    /// The parts of a list of conditions, with those of lists of the same kind in it.
    fileprivate func flattened(isAll: Bool) -> [Condition] {
        var parts: [Condition] = [], rest = [self]
        while let next = rest.popLast() {
            switch next {
            case .and(let inner) where isAll: rest += inner.reversed()
            case .or(let inner) where !isAll: rest += inner.reversed()
            default: parts.append(next)
            }
        }
        return parts
    }

    /// Many alternatives that compare one field with values, as one list of values; nil for other
    /// conditions.
    ///
    /// The plans of alternatives are compared with one another, which takes long for thousands.
    fileprivate static func list(of conditions: [Condition]) -> Condition? {
        guard conditions.count > Condition.fewAlternatives,
            case .compare(let path, .equal, _)? = conditions.first
        else { return nil }
        var values: [Value] = []
        for condition in conditions {
            guard case .compare(path, .equal, let value) = condition, value != .null else { return nil }
            values.append(value)
        }
        return .isIn(path, values)
    }
}
