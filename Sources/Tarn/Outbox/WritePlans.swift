// The parts that all operations of a declared request share: parsed templates, compiled bodies.

import Locking
import TarnHTTP
import TarnImport

/// The parsed URL templates and the compiled bodies of an outbox.
///
/// Both come from the description, so there are few of them.
final class WritePlans: Sendable {
    let bodies = BodyPlanCache()
    private let templates = Guarded<[String: PathTemplate]>([:])
    private let fieldsInURLs = Guarded<Set<String>?>(nil)

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
}
