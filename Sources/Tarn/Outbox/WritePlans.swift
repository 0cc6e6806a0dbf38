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
    private let unsent = Guarded(UnsentFields())

    /// Returns a parsed template.
    ///
    /// - Throws: `PathTemplateError`.
    func template(_ text: String) throws(PathTemplateError) -> PathTemplate {
        if let known = templates.withLock({ $0[text] }) { return known }
        let parsed = try PathTemplate(text)
        templates.withLock { $0[text] = parsed }
        return parsed
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

    /// Returns the fields among the given ones that the declared request of an operation does not
    /// send.
    ///
    /// - Parameter find: looks for them, if an equal question was not asked before.
    func unsent(
        _ names: [String], _ kind: OutboxOperation.Kind, _ entity: Catalog.Entity, _ catalog: Catalog,
        _ find: () throws -> [UnsentField]
    ) throws -> [UnsentField] {
        let question = UnsentFields.Question(entity: entity.id, kind: kind, names: names)
        // An unchanged catalog has the same storage, which is compared at once.
        let known = unsent.withLock { unsent -> [UnsentField]? in
            guard unsent.catalog == catalog else { return nil }
            unsent.catalog = catalog
            return unsent.answers[question]
        }
        if let known { return known }
        let found = try find()
        unsent.withLock { unsent in
            if unsent.catalog != catalog || unsent.answers.count >= UnsentFields.limit {
                unsent = UnsentFields(catalog: catalog)
            }
            unsent.answers[question] = found
        }
        return found
    }

    /// The fields that requests do not send, by what was asked. Another state of the catalog has
    /// other answers.
    private struct UnsentFields {
        struct Question: Hashable {
            let entity: UInt16
            let kind: OutboxOperation.Kind
            let names: [String]
        }

        /// The most answers: a program may ask about many combinations of fields.
        static let limit = 256
        var catalog = Catalog()
        var answers: [Question: [UnsentField]] = [:]
    }
}
