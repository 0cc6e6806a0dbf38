// Corrections of a proposal after its check.

import Tarn

/// Corrects the fields about which a check has reported something.
struct ProposalRepair {
    private(set) var description: ProposedDescription
    /// Whether something was corrected.
    private(set) var hasChanged = false
    /// The findings that could not be corrected.
    private(set) var findings: [String] = []

    init(_ description: ProposedDescription, _ check: ProposalCheck) {
        self.description = description
        for group in check.diagnostics { correct(group) }
        for path in check.unmapped { ignore(path) }
    }

    private mutating func correct(_ group: DiagnosticGroup) {
        guard let field = group.field, let place = place(of: field, in: group.entity) else { return state(group) }
        var entity = description.entities[place]
        if let index = entity.attributes.firstIndex(where: { $0.name == field }) {
            guard correct(&entity.attributes[index], group.code, isKey: entity.key.contains(field)) else {
                return state(group)
            }
        } else if let index = entity.relationships.firstIndex(where: { $0.name == field }),
            group.code == .relationshipType || group.code == .referenceUnstorable
        {
            let relationship = entity.relationships.remove(at: index)
            var attribute = ProposedAttribute(name: field, type: "json", isOptional: true)
            attribute.from = relationship.from
            attribute.source = relationship.source
            attribute.comment = "neither an object nor a key in some sample: kept as it is"
            entity.attributes.append(attribute)
            // The other side may be of the same entity.
            description.entities[place] = entity
            separateInverse(of: relationship)
            entity = description.entities[place]
        } else {
            return state(group)
        }
        description.entities[place] = entity
        hasChanged = true
    }

    /// Separates the other side of a relationship that was removed: both sides name each other.
    private mutating func separateInverse(of relationship: ProposedRelationship) {
        guard let inverse = relationship.inverse, let target = description.position(of: relationship.target),
            let index = description.entities[target].relationships.firstIndex(where: {
                $0.name == inverse && $0.inverse == relationship.name
            })
        else { return }
        description.entities[target].relationships[index].inverse = nil
        description.entities[target].relationships[index].isExcerpt = false
    }

    /// Loosens the type of an attribute.
    ///
    /// - Returns: false if it is as loose as possible.
    private func correct(_ attribute: inout ProposedAttribute, _ code: Diagnostic.Code, isKey: Bool) -> Bool {
        switch code {
        case .valueNull, .valueAbsent:
            guard !attribute.isOptional, !isKey else { return false }
            attribute.isOptional = true
        case .valueType, .valueUnknown:
            guard attribute.type != "json", !isKey else { return false }
            let isText = ["enum", "url", "date", "uuid", "decimal"].contains(attribute.type)
            attribute.type = isText && attribute.epoch == nil ? "string" : "json"
            attribute.values = []
            attribute.format = nil
            attribute.epoch = nil
            attribute.alternative = nil
            if attribute.type == "json" { attribute.isIndexed = false }
            attribute.comment = "other types do not fit all samples"
        default: return false
        }
        return true
    }

    /// Ignores a path that no entity maps.
    private mutating func ignore(_ unmapped: ImportReport.UnmappedPath) {
        guard let index = description.position(of: unmapped.entity), let path = JSONPath(unmapped.path), path.isPlain,
            FieldNames.canBeWritten(path.keys), !description.entities[index].ignore.contains(path.keys)
        else { return }
        description.entities[index].ignore.append(path.keys)
        hasChanged = true
    }

    private mutating func state(_ group: DiagnosticGroup) {
        let field = group.field.map { ".\($0)" } ?? ""
        findings.append(
            "\(group.entity)\(field): \(group.count) × \(group.code.rawValue), first at \(group.first.path): \(group.first.message)"
        )
    }

    /// The position of the entity that declares a field: the entity itself, or its parent.
    private func place(of field: String, in entity: String) -> Int? {
        var name: String? = entity
        while let current = name, let position = description.position(of: current) {
            if description.entities[position].has(field) { return position }
            name = description.entities[position].parent
        }
        return nil
    }
}
