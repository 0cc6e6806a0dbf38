/// The validation of a schema; it collects all problems.
struct SchemaValidation {
    /// The name of an inverse at an entity.
    private struct Seat: Hashable {
        var entity: String
        var name: String
    }

    let schema: Schema
    private(set) var problems: [SchemaProblem] = []
    let entities: [String: EntityDefinition]
    /// Inverses not declared at their destination, and the first relationship that names each.
    private var claims: [Seat: String] = [:]

    init(schema: Schema) {
        self.schema = schema
        entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    mutating func run() {
        var names: Set<String> = []
        for entity in schema.entities {
            if !isName(entity.name, underscoreFirst: false) {
                report(
                    entity, .entity, nil,
                    "invalid entity name: use the letters a–z and A–Z, digits and _, starting with a letter")
            }
            if !names.insert(entity.name).inserted {
                report(entity, .entity, nil, "declared twice: merge the two, or rename one")
                continue
            }
            checkParent(of: entity)
            checkAttributes(of: entity)
            checkKey(of: entity)
            checkRelationships(of: entity)
            checkJoinsAndRules(of: entity)
            checkIndexes(of: entity)
            checkFormerNames(of: entity)
        }
    }

    // MARK: Attributes and key

    private mutating func checkAttributes(of entity: EntityDefinition) {
        var names: Set<String> = []
        for attribute in entity.attributes {
            let name = attribute.name
            checkFieldName(name, .attribute(name, .name), of: entity)
            if !names.insert(name).inserted {
                report(entity, .attribute(name, .name), name, "declared twice: merge the two, or rename one")
            }
            checkType(attribute.type, of: name, of: entity, inList: false)
            checkDefault(of: attribute, of: entity)
            guard attribute.isIndexed, !attribute.type.isIndexable else { continue }
            let problem =
                if case .array = attribute.type {
                    "indexes of lists are not supported: remove the index"
                } else {
                    "\(attribute.type) cannot be indexed: remove the index"
                }
            report(entity, .attribute(name, .index), name, problem)
        }
    }

    private mutating func checkType(_ type: AttributeType, of name: String, of entity: EntityDefinition, inList: Bool) {
        switch type {
        case .enumeration(let values):
            if values.isEmpty {
                report(entity, .attribute(name, .values), name, "an enum needs at least one value")
            }
            // Bytes are compared: Swift's == treats two encodings of one accented letter as equal.
            var seen: Set<[UInt8]> = []
            for value in values where !seen.insert(Array(value.utf8)).inserted {
                report(entity, .attribute(name, .values), name, "the value \"\(value)\" is listed twice: remove one")
            }
        case .array(let element):
            if inList {
                report(entity, .attribute(name, .type), name, "lists of lists are not supported: use json")
            } else {
                checkType(element, of: name, of: entity, inList: true)
            }
        case .json:
            if inList {
                report(
                    entity, .attribute(name, .type), name, "json can contain lists: use json instead of a list of json")
            }
        default: break
        }
    }

    private mutating func checkKey(of entity: EntityDefinition) {
        if entity.parent != nil {
            if !entity.key.isEmpty {
                report(entity, .key, nil, "an entity with a parent inherits the parent's key: remove the key")
            }
            return
        }
        if entity.key.isEmpty {
            report(entity, .key, nil, "missing key: name the attributes that identify a record")
        }
        var names: Set<String> = []
        for name in entity.key {
            if !names.insert(name).inserted {
                report(entity, .key, name, "\"\(name)\" is listed twice in the key: remove one")
                continue
            }
            guard let attribute = entity.attributes.first(where: { $0.name == name }) else {
                if let relationship = entity.relationships.first(where: { $0.name == name }) {
                    checkOwner(relationship, of: entity)
                } else {
                    report(
                        entity, .key, name, Spelling.unknown("attribute", name, among: entity.attributes.map(\.name)))
                }
                continue
            }
            switch attribute.type {
            case .int, .string, .uuid: break
            default:
                report(
                    entity, .key, name,
                    "\"\(name)\" is of type \(attribute.type) and cannot be part of a key: use int, string or uuid"
                )
            }
            if attribute.isOptional {
                report(entity, .key, name, "\"\(name)\" is optional and cannot be part of a key: remove its ?")
            }
        }
    }

    // MARK: Relationships

    private mutating func checkRelationships(of entity: EntityDefinition) {
        var names: Set<String> = []
        for relationship in entity.relationships {
            let name = relationship.name
            checkFieldName(name, .relationship(name, .name), of: entity)
            if !names.insert(name).inserted {
                report(entity, .relationship(name, .name), name, "declared twice: merge the two, or rename one")
            }
            if entity.attributes.contains(where: { $0.name == name }) {
                report(
                    entity, .relationship(name, .name), name, "an attribute has the same name: rename one of them")
            }
            if relationship.isOrdered, !relationship.isToMany {
                report(
                    entity, .relationship(name, .ordered), name,
                    "a to-one relationship cannot be ordered: remove ordered, or make it to-many")
            }
            guard let destination = entities[relationship.destination] else {
                report(
                    entity, .relationship(name, .destination), name,
                    Spelling.unknown("entity", relationship.destination, among: schema.entities.map(\.name)))
                continue
            }
            if let inverse = relationship.inverse {
                checkInverse(inverse, of: relationship, on: entity, at: destination)
            }
        }
    }

    /// Checks the inverse of a relationship. There are three cases:
    ///
    /// 1. The destination has an attribute of that name, which is always wrong.
    /// 2. It declares a relationship of that name, which must be the same one seen from there.
    /// 3. It declares nothing of that name; then no other relationship may name the same inverse.
    private mutating func checkInverse(
        _ inverse: String, of relationship: RelationshipDefinition, on entity: EntityDefinition,
        at destination: EntityDefinition
    ) {
        let name = relationship.name
        let place = SchemaProblem.Part.relationship(name, .inverse)
        if !isName(inverse, underscoreFirst: true) {
            report(entity, place, name, "\"\(inverse)\" is not a valid name: use the letters a–z and A–Z, digits and _")
            return
        }
        if destination.attributes.contains(where: { $0.name == inverse }) {
            report(
                entity, place, name,
                "\(destination.name) has an attribute \"\(inverse)\": choose another name for the inverse")
            return
        }
        if destination.name == entity.name, inverse == name {
            report(
                entity, place, name,
                "a relationship cannot be its own inverse: use another name for the other direction, or remove inverse"
            )
            return
        }
        guard let other = destination.relationships.first(where: { $0.name == inverse }) else {
            let seat = Seat(entity: destination.name, name: inverse)
            let claimant = "\(entity.name).\(name)"
            if let first = claims[seat], first != claimant {
                report(
                    entity, place, name,
                    "\(destination.name).\(inverse) is already the inverse of \(first): choose another name")
            } else {
                claims[seat] = claimant
            }
            return
        }
        if other.destination != entity.name {
            report(
                entity, place, name,
                "\(destination.name).\(inverse) is a relationship to \(other.destination), not to \(entity.name): choose another name"
            )
        } else if other.inverse != name {
            report(
                entity, place, name,
                "\(destination.name).\(inverse) does not declare this relationship as its inverse: write inverse: \(name) there, or choose another name here"
            )
        } else if relationship.isToMany, other.isToMany, relationship.isOrdered, other.isOrdered,
            isAfter(entity, name, destination, inverse)
        {
            report(
                entity, .relationship(name, .ordered), name,
                "\(destination.name).\(inverse), the inverse, is ordered as well: only one side of a many-to-many relationship can be ordered"
            )
        }
    }

    /// Returns whether the first field is declared after the second.
    ///
    /// A problem of both is reported once, at the later one.
    private func isAfter(_ entity: EntityDefinition, _ name: String, _ other: EntityDefinition, _ otherName: String)
        -> Bool
    {
        func position(_ entity: EntityDefinition, _ name: String) -> (Int, Int) {
            (
                schema.entities.firstIndex { $0.name == entity.name } ?? 0,
                entity.relationships.firstIndex { $0.name == name } ?? 0
            )
        }
        return position(entity, name) > position(other, otherName)
    }

    // MARK: Names and reports

    mutating func checkFieldName(_ name: String, _ part: SchemaProblem.Part, of entity: EntityDefinition) {
        guard !isName(name, underscoreFirst: true) else { return }
        report(
            entity, part, name,
            "invalid field name: use the letters a–z and A–Z, digits and _, starting with a letter or _, and map the JSON name with from"
        )
    }

    func isName(_ name: String, underscoreFirst: Bool) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
        guard let first = name.utf8.first, isLetter(first) || (underscoreFirst && first == UInt8(ascii: "_")) else {
            return false
        }
        return name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_") }
    }

    mutating func report(
        _ entity: EntityDefinition, _ part: SchemaProblem.Part, _ field: String?, _ message: String
    ) {
        problems.append(SchemaProblem(part: part, error: SchemaError(entity: entity.name, field: field, message)))
    }
}
