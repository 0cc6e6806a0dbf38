// The `url` of an entity: templates of the URLs that name its records.

import TarnImport

extension DescriptionReader {
    /// Reads a template, a list of templates, or `{ template: …, from: … }`; nil if it is absent.
    mutating func recordURL(_ section: Section) -> RecordURL? {
        guard let value = section["url"] else { return nil }
        guard case .mapping = value.content else { return recordURL(section, "url", sources: []) }
        guard
            let inner = self.section(
                value, section.path("url"), keys: ["template", "from"], required: ["template"],
                example: ["template": "template: /users/{id}"])
        else { return nil }
        let field = inner.path("from")
        var sources: [JSONPath] = []
        for (text, mark) in texts(inner, "from") {
            guard let path = keyPath(text, field, mark) else { continue }
            if path.steps.isEmpty || path.origin != .record {
                report(field, mark, "\(path) is not a value of the record: use a key of it, such as links.self")
            } else {
                sources.append(path)
            }
        }
        return recordURL(inner, "template", sources: sources)
    }

    /// Reads the URLs of a relationship's targets: a template, or a list of them.
    mutating func referenceURL(_ section: Section) -> RecordURL? {
        guard section["by"] != nil else { return nil }
        return recordURL(section, "by", sources: [])
    }

    private mutating func recordURL(_ section: Section, _ key: String, sources: [JSONPath]) -> RecordURL? {
        let texts = texts(section, key)
        var templates: [URLTemplate] = []
        for (text, mark) in texts {
            do throws(URLTemplate.Problem) { templates.append(try URLTemplate(text)) } catch {
                report(section.path(key), mark, error.message)
            }
        }
        if texts.isEmpty, !isReported(section.path(key)) {
            report(section, key, "missing template: write one, such as /users/{id}")
        }
        guard templates.count == texts.count, !templates.isEmpty else { return nil }
        return RecordURL(templates, sources: sources.isEmpty ? RecordURL.defaultSources : sources)
    }
}
