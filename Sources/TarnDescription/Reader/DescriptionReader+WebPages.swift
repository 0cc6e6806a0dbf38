// The key `open` of an entity: the template of a record's web page.

import TarnHTTP
import TarnStore

extension DescriptionReader {
    /// Reads the template of the pages of an entity's records.
    mutating func webPage(_ section: Section, of entity: String) {
        guard let text = text(section, "open") else { return }
        pages[entity] = text
        do { _ = try URITemplate(text) } catch { return report(section, "open", "\(error)") }
        let beginning = String(text.prefix { $0 != "{" })
        if let scheme = URLReference(beginning).scheme, !["http", "https"].contains(scheme.lowercased()) {
            report(section, "open", "expected an http or https URL, or a path, found the scheme \"\(scheme)\"")
        }
    }

    /// Reports the variables of web pages that are neither fields nor paths to fields.
    mutating func checkWebPages(_ schema: Schema) {
        for (entity, text) in pages.sorted(by: { $0.key < $1.key }) {
            let field = "entities.\(entity)"
            guard !isReported("\(field).open"), !isReported(in: "\(field).attributes"),
                !isReported(in: "\(field).relationships"), let template = try? URITemplate(text)
            else { continue }
            for name in template.variables {
                guard let problem = schema.problem(ofPath: name, from: entity) else { continue }
                report(at: "\(field).open", problem)
                break
            }
        }
    }
}

extension Schema {
    /// Returns the problem of a path of relationships to a field; nil if there is none.
    ///
    /// As in `--fields`, the fields of kinds count, too.
    fileprivate func problem(ofPath path: String, from entity: String) -> String? {
        var owners = family(of: entity), owner = entity
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (index, name) in names.enumerated() {
            let destination = destination(of: name, from: owners)
            let isAttribute = owners.contains { $0.attributes.contains { $0.name == name } }
            if index == names.count - 1, isAttribute || destination != nil { return nil }
            guard let destination else {
                if isAttribute { return "{\(path)}: \(owner).\(name) is an attribute, which leads to no other record" }
                let known = owners.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
                return Spelling.unknown("field of \(owner)", name, among: known)
            }
            (owners, owner) = (family(of: destination), destination)
        }
        return nil
    }

    /// The entity with its ancestors and its kinds.
    private func family(of name: String) -> [EntityDefinition] {
        var names = [name]
        while let parent = entities.first(where: { $0.name == names[0] })?.parent, !names.contains(parent) {
            names.insert(parent, at: 0)
        }
        var known = Set([name]), count = 0
        while known.count > count {
            count = known.count
            for entity in entities where entity.parent.map(known.contains) ?? false { known.insert(entity.name) }
        }
        return entities.filter { names.contains($0.name) || known.contains($0.name) }
    }

    /// The entity that a relationship leads to, also one that only the other side declares.
    private func destination(of relationship: String, from owners: [EntityDefinition]) -> String? {
        for owner in owners {
            if let own = owner.relationships.first(where: { $0.name == relationship }) { return own.destination }
        }
        let names = Set(owners.map(\.name))
        return entities.first { entity in
            entity.relationships.contains { $0.inverse == relationship && names.contains($0.destination) }
        }?.name
    }
}
