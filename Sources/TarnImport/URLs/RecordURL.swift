/// The URLs of an entity's records, from which keys are taken without a request.
///
/// A relationship to the entity may be a URL, or an object that has the URL and no key.
package struct RecordURL: Sendable, Hashable {
    /// The templates in the order in which they are tried.
    package var templates: [URLTemplate]
    /// The paths of the URL in a record, in the order in which they are tried.
    package var sources: [JSONPath]

    /// The paths of a declaration that names none.
    package static let defaultSources = [JSONPath(keys: ["url"])]

    /// Creates the declaration of URLs.
    package init(_ templates: [URLTemplate], sources: [JSONPath] = RecordURL.defaultSources) {
        self.templates = templates
        self.sources = sources
    }

    /// The variables of all templates, each once.
    package var variables: [String] {
        var names: [String] = []
        for name in templates.flatMap(\.variables) where !names.contains(name) { names.append(name) }
        return names
    }
}
