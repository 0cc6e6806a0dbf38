// The parts that all operations of a declared request share: parsed templates, compiled bodies.

import Locking
import TarnHTTP
import TarnImport
import TarnStore

/// The parsed URL templates and the compiled bodies of an outbox.
///
/// Both come from the description, so there are few of them.
final class WritePlans: Sendable {
    let bodies = BodyPlanCache()
    private let templates = Guarded<[String: PathTemplate]>([:])
    private let fieldsInURLs = Guarded<Set<String>?>(nil)
    private let hasFieldRequests = Guarded<Bool?>(nil)
    private let undeclared = Guarded(Undeclared())

    /// The fields of stored entities that the description does not declare, by entity.
    private struct Undeclared {
        var catalog = Catalog()
        var fields: [String: Set<String>] = [:]
    }

    /// Returns a parsed template.
    ///
    /// - Throws: `PathTemplateError`.
    func template(_ text: String) throws(PathTemplateError) -> PathTemplate {
        if let known = templates.withLock({ $0[text] }) { return known }
        let parsed = try PathTemplate(text)
        templates.withLock { $0[text] = parsed }
        return parsed
    }

    /// Whether fields of any entity have requests of their own.
    ///
    /// Few descriptions declare such, and each change would copy the requests of its entity to look
    /// for them.
    func hasFieldRequests(in writes: [String: WriteRequests]) -> Bool {
        if let known = hasFieldRequests.withLock(\.self) { return known }
        let found = writes.values.contains { !$0.fields.isEmpty }
        hasFieldRequests.withLock { $0 = found }
        return found
    }

    /// The names of other records' fields in the URLs of requests: `name` of `{project.name}`.
    func fieldsInURLs(of writes: [String: WriteRequests]) -> Set<String> {
        if let known = fieldsInURLs.withLock(\.self) { return known }
        var found: Set<String> = []
        for url in writes.values.flatMap(\.urls) {
            // A template that is not one fails at its own request.
            for variable in (try? template(url))?.variables ?? [] {
                found.formUnion(variable.split(separator: ".").dropFirst().map(String.init))
            }
        }
        fieldsInURLs.withLock { $0 = found }
        return found
    }

    /// Returns the fields of a stored entity that a description does not declare.
    ///
    /// Each body of a request leaves them out: they are compared once for a state of the catalog.
    func undeclared(of entity: String, _ catalog: Catalog, _ description: Description) -> Set<String> {
        let known = undeclared.withLock { known in
            // An unchanged catalog has the same storage, which is compared at once.
            known.catalog == catalog ? known.fields[entity] : nil
        }
        if let known { return known }
        let fields = description.undeclared(of: entity, catalog)
        undeclared.withLock { known in
            if known.catalog != catalog { known = Undeclared(catalog: catalog) }
            known.fields[entity] = fields
        }
        return fields
    }
}

extension Description {
    fileprivate func undeclared(of entity: String, _ catalog: Catalog) -> Set<String> {
        guard let stored = catalog.entity(entity) else { return [] }
        var names: Set<String> = [], name: String? = entity, left = schema.entities.count
        while left > 0, let own = schema.entities.first(where: { $0.name == name }) {
            names.formUnion(own.attributes.map(\.name))
            names.formUnion(own.relationships.map(\.name))
            name = own.parent
            left -= 1
        }
        // The program may have no schema for the entity.
        return names.isEmpty ? [] : Set(stored.fields.map(\.name)).subtracting(names)
    }
}
