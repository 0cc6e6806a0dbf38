import Foundation

/// The fields of an entity, for resolving the paths of a text.
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

    /// The field at the end of a path.
    enum Field {
        case attribute(AttributeType)
        /// A relationship; its target's key may be a single text.
        case relationship(Catalog.Relationship, hasTextKey: Bool)

        /// Returns whether a bare word in a comparison of this form is always a text.
        func isText(_ form: ParsedComparison.Form) -> Bool {
            switch self {
            case .attribute(.array(let element)): if case .contains = form { element.isText } else { false }
            case .attribute(let type): type.isText
            case .relationship(_, let hasTextKey): hasTextKey
            }
        }
    }

    /// Returns the field of a path.
    ///
    /// - Throws: for a name that the entity does not have, and for a path through an attribute or a
    ///   to-many relationship.
    func find(_ parsed: ParsedPath) throws(QueryTextError) -> Field {
        var entity = entity
        for (position, (name, range)) in zip(parsed.path.names, parsed.ranges).enumerated() {
            let isLast = position == parsed.ranges.count - 1
            let relationship = catalog.relationship(name, of: entity)
            if isLast {
                if parsed.path.ignoresCase, let found = typeWithoutCase(of: name, entity) {
                    throw QueryTextError(
                        text, range, "\(entity.name).\(name) is \(found), and has no case",
                        expected: "a text field, or `\(name)` without nocase")
                }
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
                        text, range,
                        "\(entity.name).\(name) is an attribute, and has no fields",
                        expected: "a relationship, or no \".\" after it")
                }
                throw unknown(name, of: entity, range)
            }
            guard !relationship.isToMany else {
                throw QueryTextError(
                    text, range,
                    "\(entity.name).\(name) is to-many; a path can only follow to-one relationships",
                    expected: "`\(name) contains` and a key")
            }
            entity = destination
        }
        throw QueryTextError(text, 0..<0, "a path needs at least one name")
    }

    /// Returns the type of a field whose values are not texts; nil for other fields.
    private func typeWithoutCase(of name: String, _ entity: Catalog.Entity) -> String? {
        if catalog.relationship(name, of: entity) != nil { return "a relationship" }
        guard case .attribute(let type)? = entity.field(name)?.kind else { return nil }
        let element = if case .array(let element) = type { element } else { type }
        return element.isText ? nil : type.description
    }

    private func unknown(_ name: String, of entity: Catalog.Entity, _ range: Range<Int>) -> QueryTextError {
        let known =
            entity.fields.map(\.name) + catalog.relationships(of: entity).map(\.name).filter { entity.field($0) == nil }
        return QueryTextError(text, range, "\(entity.name): " + Spelling.unknown("field", name, among: known))
    }

    /// Checks a condition of one comparison as the store would.
    ///
    /// - Throws: if the store would refuse the condition.
    func check(_ condition: Condition, _ range: Range<Int>) throws(QueryTextError) {
        var places = QueryPlaces(catalog, entity)
        do throws(StoreError) { _ = try places.node(condition) } catch { throw refused(error, range) }
    }

    private func refused(_ error: StoreError, _ range: Range<Int>) -> QueryTextError {
        guard case .wrongType(let owner, let name, let expected, let found) = error else {
            return QueryTextError(text, range, error.description)
        }
        guard case .attribute(.enumeration(let values))? = catalog.entity(owner)?.field(name)?.kind else {
            return QueryTextError(text, range, "\(owner).\(name): expected \(expected), found \(found)")
        }
        let written = found.hasPrefix("\"") ? String(found.dropFirst().dropLast()) : found
        return QueryTextError(text, range, "\(owner).\(name): " + Spelling.unknown("value", written, among: values))
    }
}
