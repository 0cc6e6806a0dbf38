// The problems of the schema and of the mapping, reported at the lines that cause them.

import TarnImport
import TarnStore

extension DescriptionReader {
    /// Reports the problems of the schema that do not follow from reported ones.
    mutating func report(_ problems: [SchemaProblem]) {
        // Problems that follow from reported ones would only hide these.
        let fresh = problems.filter { problem in
            if case .key = problem.part, isReported("entities.\(problem.error.entity ?? "").attributes") {
                return false
            }
            return !isReported(DescriptionReader.field(problem))
        }
        for problem in fresh {
            let field = DescriptionReader.field(problem)
            switch problem.part {
            case .entity, .index, .attribute(_, .name), .relationship(_, .name):
                report(field, keyMark(field), problem.error.message)
            default: report(at: field, problem.error.message)
            }
        }
    }

    /// Reports a problem of the mapping.
    mutating func report(_ problem: SchemaError, _ schema: Schema, _ mapping: Mapping) {
        let entity = "entities.\(problem.entity ?? "")"
        guard let name = problem.field else {
            let isRest =
                mapping.entities[problem.entity ?? ""]?.rest.map { problem.message.hasSuffix(" \($0)") } ?? false
            report(at: "\(entity).\(isRest ? "rest" : "version")", problem.message)
            return
        }
        if name == EntityMapping.urlField {
            if !isReported("\(entity).key"), !isReported("\(entity).attributes") {
                report(at: "\(entity).url", problem.message)
            }
            return
        }
        if name.hasPrefix("kinds.") {
            let field = "\(entity).\(name)"
            report(field, keyMark(field), problem.message)
            return
        }
        let definition = schema.entities.first { $0.name == problem.entity }
        let kind = definition?.relationships.contains { $0.name == name } == true ? "relationships" : "attributes"
        let part = DescriptionReader.part(ofField: name, mapping.entities[problem.entity ?? ""])
        let field = "\(entity).\(kind).\(name).\(part)"
        if !isReported(field) { report(at: field, problem.message) }
    }

    /// The key of an attribute or relationship that a problem of its mapping concerns.
    private static func part(ofField name: String, _ mapping: EntityMapping?) -> String {
        let rules = mapping?.fields[name]
        if mapping?.epochs[name] != nil { return "epoch" }
        if rules?.transformers != nil { return "transform" }
        if rules?.fallback != nil { return "fallback" }
        guard rules?.dates == nil, let source = mapping?.paths[name]?.first else { return "format" }
        if case .constant = source { return "value" }
        return "from"
    }

    /// The dotted path of the field that a problem of the schema concerns.
    private static func field(_ problem: SchemaProblem) -> String {
        let entity = "entities.\(problem.error.entity ?? "")"
        func aspect(_ aspect: SchemaProblem.Aspect) -> String {
            switch aspect {
            case .name: ""
            case .type: ".type"
            case .values: ".values"
            case .index: ".index"
            case .destination: ".to"
            case .ordered: ".ordered"
            case .inverse: ".inverse"
            case .initial: ".default"
            case .rule: ".on_delete"
            case .join: ".join"
            case .former: ".was"
            }
        }
        switch problem.part {
        case .entity: return entity
        case .key: return "\(entity).key"
        case .parent: return "\(entity).parent"
        case .index(let name): return "\(entity).indexes.\(name)"
        case .attribute(let name, let part): return "\(entity).attributes.\(name)\(aspect(part))"
        case .relationship(let name, let part): return "\(entity).relationships.\(name)\(aspect(part))"
        }
    }
}
