// A mapping read backwards: the places of an entity's fields in the body of a request.

internal import TarnStore

/// The compiled form of the bodies of one entity.
struct BodyPlan {
    let fields: [BodyField]

    /// Compiles the bodies of an entity.
    ///
    /// - Parameter options: the forms of references and the places of fields that differ from those
    ///   in responses.
    init(_ entity: Catalog.Entity, _ mapping: Mapping, _ catalog: Catalog, _ options: BodyOptions) throws(BodyError) {
        let own = mapping.effective(entity, in: catalog)
        var fields: [BodyField] = []
        for field in entity.fields {
            let place: BodyField.Place
            if let path = options.places[field.name] {
                guard let declared = BodyPlan.place(at: path) else { throw .place(path.description, of: field.name) }
                place = declared
            } else if options.undeclared.contains(field.name), field.name != own.rest {
                place = .none("the description does not declare it any more")
            } else {
                place = BodyPlan.place(of: field, entity, own, mapping, catalog, options.form(of: field.name))
            }
            fields.append(
                BodyField(name: field.name, place: place, content: BodyPlan.content(field, entity, own, mapping)))
        }
        self.fields = BodyPlan.withoutExcerpts(fields, options)
    }

    /// Returns a declared place: keys, or keys that lead to a list and steps inside of it; nil for
    /// another path.
    private static func place(at path: JSONPath) -> BodyField.Place? {
        guard path.isPlaceOfField else { return nil }
        let keys = Array(path.steps.prefix { if case .key = $0 { true } else { false } })
        guard keys.count < path.steps.count else { return .keys(path.keys) }
        return .list(keys: JSONPath(.record, steps: keys).keys, steps: Array(path.steps.dropFirst(keys.count)))
    }

    private static func content(
        _ field: Catalog.Field, _ entity: Catalog.Entity, _ own: EntityMapping, _ mapping: Mapping
    ) -> BodyField.Content {
        switch field.kind {
        case .reference(let reference):
            return .reference(destination: reference.destination, isToMany: reference.isToMany)
        case .attribute:
            guard !entity.key.contains(field.id) else { return .attribute(.plain) }
            let rules = mapping.rules(of: own, field.name)
            return .attribute(
                AttributeRule(
                    dates: rules.dates ?? [],
                    transformers: (rules.transformers ?? []).compactMap(mapping.transformer)))
        }
    }

    /// Returns the place from which an import takes a field.
    private static func place(
        of field: Catalog.Field, _ entity: Catalog.Entity, _ own: EntityMapping, _ mapping: Mapping,
        _ catalog: Catalog, _ form: ReferenceForm
    ) -> BodyField.Place {
        if field.name == own.rest { return .rest }
        let rules = mapping.rules(of: own, field.name)
        let naming = (own.convention ?? mapping.naming).with(rules.naming)
        let declared = own.paths[field.name] ?? []
        var isToMany: Bool?
        if case .reference(let reference) = field.kind, form == .key,
            let target = catalog.entity(id: reference.destination), target.keyTypes.count == 1, !target.hasOwner
        {
            isToMany = reference.isToMany
        }
        if declared.isEmpty {
            let bare = isToMany.flatMap { naming.referenceKeys(for: field.name, isToMany: $0).first }
            return .keys([bare ?? naming.jsonKey(for: field.name)])
        }
        var reasons: [String] = []
        for source in declared {
            switch BodyPlan.place(of: source) {
            case .none(let reason): reasons.append(reason)
            case .keys(let keys) where keys.count == 1:
                let bare = isToMany.flatMap { naming.referenceKeys(besideJSONKey: keys[0], isToMany: $0).first }
                return .keys([bare ?? keys[0]])
            case let place: return place
            }
        }
        return .none(reasons.joined(separator: ", and "))
    }

    private static func place(of source: ValueSource) -> BodyField.Place {
        switch source {
        case .constant: return .none("it is a constant of the mapping")
        case .path(let path):
            if path.isPlain, !path.keys.isEmpty { return .keys(path.keys) }
            return .none("its value comes from \(path)")
        case .text(let template):
            var prefix = "", suffix = "", keys: [String]?
            for part in template.parts {
                switch part {
                case .literal(let text): if keys == nil { prefix += text } else { suffix += text }
                case .path(let path):
                    guard keys == nil, path.isPlain, !path.keys.isEmpty else {
                        return .none("it is composed of several values: \(template)")
                    }
                    keys = path.keys
                }
            }
            guard let keys else { return .none("it is composed of no value: \(template)") }
            return .part(keys: keys, prefix: prefix, suffix: suffix)
        }
    }

    /// Removes the places of attributes that are values of another record: those below the place of
    /// a relationship.
    private static func withoutExcerpts(_ fields: [BodyField], _ options: BodyOptions) -> [BodyField] {
        let references = fields.compactMap { field -> (name: String, keys: [String])? in
            guard case .reference = field.content, let keys = field.keys else { return nil }
            return (field.name, keys)
        }
        return fields.map { field in
            guard let keys = field.keys, options.places[field.name] == nil,
                let owner = references.first(where: { keys.count > $0.keys.count && keys.starts(with: $0.keys) })
            else { return field }
            return BodyField(
                name: field.name, place: .none("it is a value of another record, \(owner.name)"), content: field.content
            )
        }
    }
}

extension Mapping {
    /// Returns an entity's mapping, completed by those of its ancestors, nearest first.
    func effective(_ entity: Catalog.Entity, in catalog: Catalog) -> EntityMapping {
        var result = entities[entity.name] ?? EntityMapping()
        for ancestor in catalog.ancestors(of: entity.id) {
            guard let name = catalog.entity(id: ancestor)?.name, let wider = entities[name] else { continue }
            result = result.inheriting(wider)
        }
        return result
    }
}

extension JSONPath {
    /// Whether a field may have this place in a body: keys of objects; behind the first one also
    /// `[0]`, for a list with one element, and once `*`, for a list with an element for each value.
    package var isPlaceOfField: Bool {
        guard origin == .record, case .key? = steps.first, steps.count(where: { $0 == .each }) <= 1 else {
            return false
        }
        return steps.allSatisfy { if case .index(let number) = $0 { number == 0 } else { true } }
    }
}
