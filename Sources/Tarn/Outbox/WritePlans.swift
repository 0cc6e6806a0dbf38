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

    /// Returns a parsed template.
    ///
    /// - Throws: `PathTemplateError`.
    func template(_ text: String) throws(PathTemplateError) -> PathTemplate {
        if let known = templates.withLock({ $0[text] }) { return known }
        let parsed = try PathTemplate(text)
        templates.withLock { $0[text] = parsed }
        return parsed
    }
}
