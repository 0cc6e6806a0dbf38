/// The URLs of an entity's records, from which keys are taken without a request.
///
/// A relationship to the entity may be a URL, or an object that has the URL and no key. A template
/// such as `/users/{login}` is appended to the base URLs of the API, unless it is absolute. Its
/// variables are attributes of the entity, among them every part of the key.
///
/// ```swift
/// @Record(url: "/users/{login}") struct User {
///     @Key var login: String
/// }
/// ```
public struct RecordURL: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The templates in the order in which they are tried.
    package var templates: [URLTemplate]
    /// The paths of the URL in a record, in the order in which they are tried.
    package var sources: [JSONPath]
    /// The reasons why texts are no templates. They are problems of the mapping.
    var problems: [String] = []

    /// The paths of a declaration that names none.
    package static let defaultSources = [JSONPath(keys: ["url"])]

    /// Creates the declaration of URLs.
    package init(_ templates: [URLTemplate], sources: [JSONPath] = RecordURL.defaultSources) {
        self.templates = templates
        self.sources = sources
    }

    /// Creates the declaration of URLs from templates, in the order in which they are tried.
    ///
    /// A text that is no template is reported when an importer is created.
    ///
    /// - Parameter sources: the key paths of the URL in a record; none for `url`.
    public init(_ templates: String..., from sources: JSONPath...) {
        self.init([], sources: sources.isEmpty ? RecordURL.defaultSources : sources)
        for text in templates {
            do throws(URLTemplate.Problem) { self.templates.append(try URLTemplate(text)) } catch {
                problems.append("\(text): \(error.message)")
            }
        }
    }

    /// Creates the declaration of URLs from one template.
    public init(stringLiteral text: String) { self.init(text) }

    /// The variables of all templates, each once.
    var variables: [String] {
        var names: [String] = []
        for name in templates.flatMap(\.variables) where !names.contains(name) { names.append(name) }
        return names
    }
}
