// The pagination of an endpoint: `paginate`, `restart`, `limit`, and `method` and `body`.

import TarnHTTP
import TarnImport

extension DescriptionReader {
    /// The pagination styles with their keys. A style without keys is written as a word.
    private static let styles: [(name: String, keys: [String])] = [
        ("single_page", []), ("header_link", ["rel"]), ("json_link", ["path"]),
        ("header_cursor", ["field", "param", "body"]),
        ("cursor", ["path", "param", "body", "has_more", "last", "end"]),
        ("offset", ["param", "body", "start", "per_page", "total", "has_more", "end"]),
        ("page_number", ["param", "body", "start", "per_page", "total_pages", "total", "has_more", "end"]),
        ("max_id", ["param", "body", "id", "per_page", "includes_named"]),
        ("since_id", ["param", "body", "id", "per_page", "includes_named"]),
        ("auto", []),
    ]

    mutating func pagination(_ endpoint: Section) -> Pagination? {
        guard let value = endpoint["paginate"] else { return nil }
        let field = endpoint.path("paginate"), names = DescriptionReader.styles.map(\.name)
        guard case .mapping(let entries) = value.content else {
            guard let name = text(value, field) else { return nil }
            switch name {
            case "single_page": return .singlePage
            case "header_link": return .headerLink()
            case "json_link": return .jsonLink(path: "next")
            case "auto": return .automatic
            case "page_number", "offset", "max_id", "since_id":
                report(
                    field, value.mark,
                    "\(name) needs its parameter: write { \(name): { param: \(name == "page_number" ? "page" : name) } }"
                )
            case "cursor":
                report(
                    field, value.mark,
                    "cursor needs a path and a parameter: write { cursor: { path: next_cursor, param: cursor } }")
            case "header_cursor":
                report(
                    field, value.mark,
                    "header_cursor needs a field and a parameter: write { header_cursor: { field: X-Next, param: cursor } }"
                )
            default: report(field, value.mark, Spelling.unknown("pagination", name, among: names))
            }
            return nil
        }
        guard entries.count == 1, let entry = entries.first else {
            report(
                field, value.mark, "expected one style, such as { header_link: { rel: next } }, found \(entries.count)")
            return nil
        }
        // The key of the style is recorded as a section's, so that missing keys are reported there.
        guard let known = DescriptionReader.styles.first(where: { $0.name == entry.key }),
            let style = section(value, field, keys: names)?[entry.key]
        else {
            report(field, entry.keyMark, Spelling.unknown("pagination", entry.key, among: names))
            return nil
        }
        if known.keys.isEmpty {
            report("\(field).\(entry.key)", entry.keyMark, "\(entry.key) has no options: write paginate: \(entry.key)")
            return nil
        }
        return pagination(entry.key, style, "\(field).\(entry.key)", known.keys)
    }

    private mutating func pagination(_ name: String, _ value: YAMLValue, _ field: String, _ keys: [String])
        -> Pagination?
    {
        let needsParameter = keys.contains("param")
        let required =
            ["field", "path", "rel"].filter(keys.contains)
            + (needsParameter && !DescriptionReader.has("body", value) ? ["param"] : [])
        guard
            let section = section(
                value, field, keys: keys, required: required,
                example: [
                    "rel": "rel: next", "param": "param: \(name == "page_number" ? "page" : "cursor")",
                    "path": "path: meta.next", "field": "field: X-Next",
                ])
        else { return nil }
        let place = needsParameter ? self.place(section) : nil
        if needsParameter, place == nil { return nil }
        let size = pageSize(section, place)
        switch name {
        case "header_link": return headerLink(section)
        case "json_link": return bodyPath(section, "path").map { .jsonLink(path: $0) }
        case "header_cursor":
            guard let header = text(section, "field"), let place else { return nil }
            return .headerCursor(field: header, sends: place)
        case "cursor":
            guard let path = bodyPath(section, "path"), let place else { return nil }
            let end: CursorEnd? = word(section, "end", "end")
            return .cursor(
                .init(
                    path: path, sends: place, hasMore: bodyPath(section, "has_more"), last: text(section, "last"),
                    endsAtEmptyPage: end == .empty))
        case "offset":
            guard let place else { return nil }
            return .offset(
                .init(
                    place, start: start(section) ?? 0, size: size, total: bodyPath(section, "total"),
                    hasMore: bodyPath(section, "has_more"),
                    end: word(section, "end", "end") ?? .short))
        case "page_number":
            guard let place, !isReported(section.path("start")), !isReported(in: section.path("per_page")) else {
                return nil
            }
            return .pageNumber(
                .init(
                    place, start: start(section) ?? 1, size: size, totalPages: bodyPath(section, "total_pages"),
                    total: bodyPath(section, "total"), hasMore: bodyPath(section, "has_more"),
                    end: word(section, "end", "end") ?? .short))
        default:
            guard let place else { return nil }
            return .recordCursor(
                .init(
                    name == "max_id" ? .backward : .forward, sends: place, path: bodyPath(section, "id") ?? "id",
                    size: size,
                    includesNamed: flag(section, "includes_named")))
        }
    }

    private enum CursorEnd: String, CaseIterable { case empty }

    private static func has(_ key: String, _ value: YAMLValue) -> Bool {
        guard case .mapping(let entries) = value.content else { return false }
        return entries.contains { $0.key == key }
    }

    private mutating func headerLink(_ section: Section) -> Pagination? {
        guard let relation = text(section, "rel") else { return nil }
        guard !relation.contains(where: \.isWhitespace) else {
            report(section, "rel", "a link relation has no spaces: name one (RFC 8288 §3.3)")
            return nil
        }
        return .headerLink(relation: relation)
    }

    private mutating func start(_ section: Section) -> Int? {
        section["start"].flatMap { integer($0, section.path("start"), minimum: 0) }
    }

    /// Reads `param`, for the query, or `body`, the keys that lead to a member of the body.
    private mutating func place(_ section: Section) -> Pagination.ParameterPlace? {
        if section["param"] != nil, section["body"] != nil {
            report(section, "body", "it is sent in one place: write param for the query, or body for the body")
            return nil
        }
        if section["body"] != nil {
            guard let text = text(section, "body"),
                let path = plainKeyPath(text, section.path("body"), section["body"]?.mark ?? section.mark)
            else { return nil }
            return .body(path.keys)
        }
        return text(section, "param").map(Pagination.ParameterPlace.query)
    }

    /// Reads a path in a response, in its canonical form.
    private mutating func bodyPath(_ section: Section, _ key: String) -> String? {
        guard let text = text(section, key) else { return nil }
        guard let path = JSONPath(text), path.origin == .record, !path.hasWildcard, !path.steps.isEmpty else {
            report(
                section, key,
                "\"\(text)\" is not a path to one value: write keys with a . between them, such as meta.next")
            return nil
        }
        return path.description
    }

    private mutating func pageSize(_ section: Section, _ place: Pagination.ParameterPlace?) -> Pagination.PageSize? {
        guard let perPage = section["per_page"] else { return nil }
        let path = section.path("per_page")
        guard case .mapping(let entries) = perPage.content, entries.count == 1, let entry = entries.first,
            !entry.key.isEmpty
        else {
            report(
                path, perPage.mark,
                "expected one parameter and its value, such as { per_page: 100 }, found \(perPage.kind)")
            return nil
        }
        guard let number = integer(entry.value, "\(path).\(entry.key)", minimum: 1) else { return nil }
        if entry.key == place?.description {
            report(
                "\(path).\(entry.key)", entry.keyMark,
                "param has this name already: the page and its size are two parameters")
        }
        if case .body = place {
            guard let keys = plainKeyPath(entry.key, path, entry.keyMark)?.keys else { return nil }
            return .init(.body(keys), number)
        }
        return .init(parameter: entry.key, value: number)
    }

    /// Reports parameters of `with` that the pagination sends itself.
    mutating func check(
        _ pagination: Pagination?, _ parameters: [Endpoint.Parameter], _ template: PathTemplate, _ section: Section
    ) {
        let places: [Pagination.ParameterPlace?]
        switch pagination {
        case .pageNumber(let pages): places = [pages.sends, pages.size?.place]
        case .offset(let offset): places = [offset.sends, offset.size?.place]
        case .cursor(let cursor): places = [cursor.sends]
        case .headerCursor(_, let place): places = [place]
        case .recordCursor(let cursor): places = [cursor.sends, cursor.size?.place]
        default: places = []
        }
        for case .query(let name)? in places {
            if template.variables.contains(name) {
                report(section, "path", "{\(name)} is what paginate sends as a query parameter: choose another name")
            } else if parameters.contains(where: { $0.name == name }) {
                report(at: "\(section.path("with")).\(name)", "paginate sends this parameter: remove the line")
            }
        }
        let sendsBody = places.contains { if case .body = $0 { true } else { false } }
        if sendsBody, section["body"] == nil, section["form"] == nil, section["method"] == nil {
            report(section, "paginate", "a GET has no body: write method: POST, or param instead of body")
        }
    }

    // MARK: Deep pages and limits

    mutating func deepPages(_ endpoint: Section, _ pagination: Pagination?) -> DeepPages? {
        guard let value = endpoint["restart"],
            let section = section(
                value, endpoint.path("restart"), keys: ["param", "body", "field", "status", "records", "pages"],
                required: DescriptionReader.has("body", value) ? ["field"] : ["param", "field"],
                example: ["param": "param: since", "field": "field: updated_at"])
        else { return nil }
        if case .recordCursor = pagination {
            report(endpoint, "restart", "max_id and since_id go on behind a record anyway: remove restart")
        }
        let statuses = statuses(section, "status"), place = place(section), path = bodyPath(section, "field")
        let records = section["records"].flatMap { integer($0, section.path("records"), minimum: 1) }
        let pages = section["pages"].flatMap { integer($0, section.path("pages"), minimum: 1) }
        if section["status"] == nil, section["records"] == nil, section["pages"] == nil {
            report(section.field, section.mark, "says when with status, records or pages: write status: 422, say")
        }
        guard let place, let path else { return nil }
        return DeepPages(statuses: statuses, records: records, pages: pages, sends: place, path: path)
    }

    private enum LimitEnd: String, CaseIterable { case fail, stop }

    mutating func limits(_ endpoint: Section) -> Endpoint.Limits {
        guard let value = endpoint["limit"],
            let section = section(value, endpoint.path("limit"), keys: ["pages", "records", "then"])
        else { return .init() }
        let end: LimitEnd? = word(section, "then", "end")
        return .init(
            pages: section["pages"].flatMap { integer($0, section.path("pages"), minimum: 1) },
            records: section["records"].flatMap { integer($0, section.path("records"), minimum: 1) },
            stopsQuietly: end == .stop)
    }

    private enum MoreWord: String, CaseIterable { case fail, ignore }

    /// Reads `more: ignore`, or the header fields and paths that are no evidence.
    mutating func more(_ endpoint: Section) -> PageEvidence.Rule {
        guard let value = endpoint["more"] else { return .fail }
        guard case .mapping = value.content else {
            let word: MoreWord? = word(endpoint, "more", "word for more")
            return word == .ignore ? .ignore : .fail
        }
        guard
            let section = section(
                value, endpoint.path("more"), keys: ["ignore"], required: ["ignore"],
                example: ["ignore": "ignore: [meta.total]"])
        else { return .fail }
        let names = texts(section, "ignore")
        for name in names where name.text.isEmpty { report(section.path("ignore"), name.mark, "must not be empty") }
        return .ignoring(Set(names.map(\.text)))
    }

    // MARK: Bodies

    /// Reads the method and the body of an endpoint's requests.
    mutating func requestBody(_ endpoint: Section) -> (method: String, body: RequestBody?) {
        var body: RequestBody?
        if let value = endpoint["body"] {
            guard case .mapping = value.content else {
                report(endpoint, "body", "expected a mapping, which is sent as a JSON object, found \(value.kind)")
                return ("POST", nil)
            }
            body = .json(json(value))
        }
        if endpoint["form"] != nil {
            if body != nil { report(endpoint, "form", "a request has one body: write body or form") }
            body = .form(
                entries(endpoint, "form", of: "names to values").compactMap { entry in
                    text(entry.value, "\(endpoint.path("form")).\(entry.key)").map { .init(entry.key, $0) }
                })
        }
        guard let method = text(endpoint, "method") else { return (body == nil ? "GET" : "POST", body) }
        let methods = ["GET", "POST", "PUT", "QUERY"]
        if !methods.contains(method) { report(endpoint, "method", Spelling.unknown("method", method, among: methods)) }
        if method == "GET", body != nil {
            report(endpoint, "method", "a GET has no body: write method: POST, or remove the body")
        }
        return (method, body)
    }

    /// Converts YAML to JSON: a plain word becomes what it is in JSON, a quoted one a string.
    private func json(_ value: YAMLValue) -> JSONBody {
        switch value.content {
        case .list(let list): .array(list.map(json))
        case .mapping(let entries): .object(entries.map { .init($0.key, json($0.value)) })
        case .scalar(let text, let isPlain):
            if !isPlain { .string(text) } else if value.isNull { .null } else { JSONBody(word: text) }
        }
    }
}

extension JSONBody {
    /// Creates `true`, `false`, a number in JSON syntax, or a string.
    fileprivate init(word: String) {
        switch word {
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default:
            self =
                (try? JSONValue(word)).map { if case .number = $0 { true } else { false } } == true
                ? .number(word) : .string(word)
        }
    }
}
