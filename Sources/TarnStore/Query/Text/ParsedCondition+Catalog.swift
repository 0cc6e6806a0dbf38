// Names and values of a text against the entities of a store: what is wrong is found where it stands.

import Foundation

extension ParsedCondition {
    /// As it is written, whatever the fields are.
    var condition: Condition {
        switch self {
        case .all: .all
        case .comparison(let comparison): comparison.condition(comparison.values.map(\.value))
        case .and(let parts): .and(parts.map(\.condition))
        case .or(let parts): .or(parts.map(\.condition))
        case .not(let part): .not(part.condition)
        }
    }

    /// The condition for an entity: bare words that look like something else are texts where the field is one.
    ///
    /// - Throws: for a field that the entity does not have, and for a value that its type does not have.
    func condition(_ fields: TextFields) throws(QueryTextError) -> Condition {
        switch self {
        case .all: return .all
        case .comparison(let comparison): return try comparison.condition(fields)
        case .and(let parts): return .and(try parts.map { part throws(QueryTextError) in try part.condition(fields) })
        case .or(let parts): return .or(try parts.map { part throws(QueryTextError) in try part.condition(fields) })
        case .not(let part): return .not(try part.condition(fields))
        }
    }
}

extension ParsedComparison {
    func condition(_ values: [Value]) -> Condition {
        let path = path.path
        func text(_ value: Value) -> String { if case .string(let text) = value { text } else { "" } }
        switch form {
        case .compare(let comparison): return .compare(path, comparison, values[0])
        case .isIn: return .isIn(path, values)
        case .between: return .between(path, values[0], values[1])
        case .hasPrefix: return .hasPrefix(path, text(values[0]))
        case .contains: return .contains(path, values[0])
        case .like: return .like(path, text(values[0]))
        case .isMissing: return .isMissing(path)
        }
    }

    fileprivate func condition(_ fields: TextFields) throws(QueryTextError) -> Condition {
        let field = try fields.find(path)
        let typed = values.map { parsed in
            guard let word = parsed.word, field.isText(form) else { return parsed.value }
            return Value.string(word)
        }
        // Each value by itself, so that the one that does not fit is known.
        for (value, parsed) in zip(typed, values) {
            switch form {
            case .isMissing: break
            case .isIn: try fields.check(.isIn(path.path, [value]), parsed.range)
            case .between: try fields.check(.compare(path.path, .equal, value), parsed.range)
            default: try fields.check(condition([value]), parsed.range)
            }
        }
        let condition = condition(typed)
        try fields.check(condition, path.ranges[0].lowerBound..<(values.last?.range ?? path.ranges[path.ranges.count - 1]).upperBound)
        return condition
    }
}

/// The fields of an entity for the paths of a text.
struct TextFields {
    let text: String
    let entity: Catalog.Entity
    let catalog: Catalog

    init(_ text: String, _ entity: String, _ catalog: Catalog) throws(StoreError) {
        guard let found = catalog.entity(entity) else {
            throw .unknownEntity(name: entity, known: catalog.entities.map(\.name))
        }
        self.text = text
        self.entity = found
        self.catalog = catalog
    }

    /// What a path leads to.
    enum Field {
        case attribute(AttributeType)
        /// Whose key may be one text.
        case relationship(Catalog.Relationship, hasTextKey: Bool)

        /// Whether a bare word in a comparison of this form is a text, whatever it looks like.
        func isText(_ form: ParsedComparison.Form) -> Bool {
            switch self {
            case .attribute(.string), .attribute(.url), .attribute(.enumeration), .attribute(.json): true
            case .attribute(.array(.string)), .attribute(.array(.url)), .attribute(.array(.enumeration)):
                if case .contains = form { true } else { false }
            case .relationship(_, let hasTextKey): hasTextKey
            default: false
            }
        }
    }

    /// - Throws: for a name that the entity does not have, and for a path through what leads to no record, or to many.
    func find(_ parsed: ParsedPath) throws(QueryTextError) -> Field {
        var entity = entity
        for (position, (name, range)) in zip(parsed.path.names, parsed.ranges).enumerated() {
            let isLast = position == parsed.ranges.count - 1
            let relationship = catalog.relationship(name, of: entity)
            if isLast {
                if let relationship {
                    let key = catalog.entity(id: relationship.destination)?.keyTypes
                    return .relationship(relationship, hasTextKey: key == [.string])
                }
                if case .attribute(let type)? = entity.field(name)?.kind { return .attribute(type) }
                throw unknown(name, of: entity, range)
            }
            guard let relationship, let destination = catalog.entity(id: relationship.destination) else {
                guard entity.field(name) == nil else {
                    throw QueryTextError(
                        text, range, "\(entity.name).\(name) is an attribute; only a relationship leads on to other fields",
                        expected: "a relationship, or no \".\" behind it")
                }
                throw unknown(name, of: entity, range)
            }
            guard !relationship.isToMany else {
                throw QueryTextError(
                    text, range, "\(entity.name).\(name) leads to many records; a path goes through relationships that lead to one",
                    expected: "\(name) contains, and a key")
            }
            entity = destination
        }
        throw QueryTextError(text, 0..<0, "a path has one name at least")
    }

    private func unknown(_ name: String, of entity: Catalog.Entity, _ range: Range<Int>) -> QueryTextError {
        let known = entity.fields.map(\.name) + catalog.relationships(of: entity).map(\.name).filter { entity.field($0) == nil }
        return QueryTextError(text, range, "\(entity.name): " + Spelling.unknown("field", name, among: known))
    }

    /// - Throws: if the store would refuse a condition of one comparison.
    fileprivate func check(_ condition: Condition, _ range: Range<Int>) throws(QueryTextError) {
        var places = QueryPlaces(catalog, entity)
        do throws(StoreError) { _ = try places.node(condition) } catch { throw refused(error, range) }
    }

    private func refused(_ error: StoreError, _ range: Range<Int>) -> QueryTextError {
        guard case .wrongType(let owner, let name, let expected, let found) = error else {
            return QueryTextError(text, range, error.description)
        }
        guard case .attribute(.enumeration(let values))? = catalog.entity(owner)?.field(name)?.kind else {
            return QueryTextError(text, range, "\(owner).\(name) is \(expected), not \(found)")
        }
        let written = found.hasPrefix("\"") ? String(found.dropFirst().dropLast()) : found
        return QueryTextError(text, range, "\(owner).\(name): " + Spelling.unknown("value", written, among: values))
    }
}

extension Condition {
    /// Reads a condition on the records of an entity, and checks it.
    ///
    /// A bare word is a text where the field is one: `name = 12` finds the name "12".
    ///
    /// - Throws: `QueryTextError`, with the column, for a text that is no condition, for a field that the entity does not have, and
    ///   for a value that is none of its type; `StoreError.unknownEntity`.
    public init(text: String, entity: String, catalog: Catalog) throws {
        let fields = try TextFields(text, entity, catalog)
        self = try ParsedCondition(text).condition(fields)
    }
}
