// The pagination of an endpoint: `paginate`, `restart`, `limit`, and `method` and `body`.

import TarnHTTP
import TarnImport

extension DescriptionReader {
    mutating func pagination(_ endpoint: Section) -> Pagination? {
        guard let value = endpoint["paginate"] else { return nil }
        let field = endpoint.path("paginate"), names = paginationStyles.names
        guard case .mapping(let entries) = value.content else {
            guard let name = text(value, field) else { return nil }
            guard let syntax = paginationStyles[name] else {
                report(field, value.mark, Spelling.unknown("pagination", name, among: names))
                return nil
            }
            if syntax.bare == nil { report(field, value.mark, syntax.needs) }
            return syntax.bare
        }
        guard entries.count == 1, let entry = entries.first else {
            report(
                field, value.mark, "expected one style, such as { header_link: { rel: next } }, found \(entries.count)")
            return nil
        }
        // The key of the style is recorded as a section's, so that missing keys are reported there.
        guard let syntax = paginationStyles[entry.key],
            let style = section(value, field, keys: names)?[entry.key]
        else {
            report(field, entry.keyMark, Spelling.unknown("pagination", entry.key, among: names))
            return nil
        }
        if syntax.keys.isEmpty {
            report("\(field).\(entry.key)", entry.keyMark, "\(entry.key) has no options: write paginate: \(entry.key)")
            return nil
        }
        return pagination(syntax, style, "\(field).\(entry.key)")
    }

    /// Reads the values of a style's keys, and creates the style.
    private mutating func pagination(_ syntax: PaginationSyntax, _ value: YAMLValue, _ field: String) -> Pagination? {
        let required = syntax.keys.filter { key in
            key.isRequired && !key.names.dropFirst().contains { DescriptionReader.has($0, value) }
        }
        let examples = required.compactMap { key in key.example.map { (key.names[0], "\(key.names[0]): \($0)") } }
        guard
            let section = section(
                value, field, keys: syntax.keys.flatMap(\.names), required: required.map { $0.names[0] },
                example: Dictionary(examples) { first, _ in first })
        else { return nil }
        let hasParameter = syntax.keys.contains { $0.kind == .parameter }, place = hasParameter ? place(section) : nil
        var values = PaginationValues(), isComplete = true
        for key in syntax.keys {
            let found = self.value(of: key, section, place)
            if found == nil, key.isRequired { isComplete = false }
            values.values[key.names[0]] = found
        }
        guard isComplete else { return nil }
        do throws(PaginationProblem) {
            return try syntax.make(values)
        } catch {
            report(section, error.key, error.message)
            return nil
        }
    }

    /// Reads the value of one key; nil if it is absent, or invalid and reported.
    ///
    /// - Parameter place: the parameter that the style sends.
    private mutating func value(
        of key: PaginationKey, _ section: Section, _ place: Pagination.ParameterPlace?
    ) -> PaginationValues.Value? {
        let name = key.names[0]
        switch key.kind {
        case .text: return text(section, name).map(PaginationValues.Value.text)
        case .path: return bodyPath(section, name).map(PaginationValues.Value.text)
        case .flag: return .flag(flag(section, name))
        case .parameter: return place.map(PaginationValues.Value.parameter)
        case .pageSize: return pageSize(section, name, place).map(PaginationValues.Value.pageSize)
        case .number(let minimum):
            return section[name].flatMap { integer($0, section.path(name), minimum: minimum) }.map(
                PaginationValues.Value.number)
        case .word(let words):
            guard let word = text(section, name) else { return nil }
            if words.contains(word) { return .text(word) }
            report(section, name, Spelling.unknown(name, word, among: words))
            return nil
        }
    }

    private static func has(_ key: String, _ value: YAMLValue) -> Bool {
        guard case .mapping(let entries) = value.content else { return false }
        return entries.contains { $0.key == key }
    }

    /// Reads `param`, for the query, or `body`, the keys that lead to a member of the body.
    mutating func place(_ section: Section) -> Pagination.ParameterPlace? {
        if section["param"] != nil, section["body"] != nil {
            report(section, "body", "it is sent in one place: write param for the query, or body for the body")
            return nil
        }
        if section["body"] != nil {
            guard let text = text(section, "body"),
                let path = plainKeyPath(text, section.path("body"), section["body"]?.mark ?? section.mark)
            else { return nil }
            return bodyPlace(path, section)
        }
        return text(section, "param").map(Pagination.ParameterPlace.query)
    }

    /// The place of a value in a body: keys, and positions in its lists.
    private mutating func bodyPlace(_ path: JSONPath, _ section: Section) -> Pagination.ParameterPlace? {
        var keys: [String] = []
        for step in path.steps {
            switch step {
            case .key(let key): keys.append(key)
            case .index(let index) where index >= 0: keys.append("[\(index)]")
            default:
                report(section, "body", "\(path) does not lead to one value: write keys and positions, such as [0]")
                return nil
            }
        }
        return .body(keys)
    }

    /// Reads a path in a response, in its canonical form.
    mutating func bodyPath(_ section: Section, _ key: String) -> String? {
        guard let text = text(section, key) else { return nil }
        guard let path = JSONPath(text), path.origin == .record, !path.hasWildcard, !path.steps.isEmpty else {
            report(
                section, key,
                "\"\(text)\" is not a path to one value: write keys with a . between them, such as meta.next")
            return nil
        }
        // OData's annotations are single keys, and no server has an object `@odata`.
        guard !text.contains("@odata.") else {
            let escaped = text.replacing("@odata.", with: "@odata\\.")
            report(
                section, key,
                "`\(text)` would be found in an object `@odata`: write '\(escaped)', a single key with a dot")
            return nil
        }
        return path.description
    }

    private mutating func pageSize(
        _ section: Section, _ key: String, _ place: Pagination.ParameterPlace?
    ) -> Pagination.PageSize? {
        guard let perPage = section[key] else { return nil }
        let path = section.path(key)
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
        let places = pagination?.style.parameters ?? []
        for case .query(let name) in places {
            if template.variables.contains(name) {
                report(section, "path", "{\(name)} is what paginate sends as a query parameter: choose another name")
            } else if parameters.contains(where: { $0.name == name }) {
                report(at: field(ofParameter: name, section), "paginate sends this parameter: remove the line")
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
        if let problem = pagination?.style.restartProblem { report(endpoint, "restart", problem) }
        let statuses = statuses(section, "status"), place = place(section), path = bodyPath(section, "field")
        let records = section["records"].flatMap { integer($0, section.path("records"), minimum: 1) }
        let pages = section["pages"].flatMap { integer($0, section.path("pages"), minimum: 1) }
        if section["status"] == nil, section["records"] == nil, section["pages"] == nil {
            report(section.field, section.mark, "says when with status, records or pages: write status: 422, say")
        }
        guard let place, let path else { return nil }
        return DeepPages(statuses: statuses, records: records, pages: pages, sends: place, path: path)
    }

    enum LimitEnd: String, CaseIterable { case fail, stop }

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

    enum MoreWord: String, CaseIterable { case fail, ignore }

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
        if names.isEmpty, section["ignore"] != nil, !isReported(section.path("ignore")) {
            report(section, "ignore", "missing sign: write ignore: [meta.total], or more: ignore for all of them")
        }
        for name in names where name.text.isEmpty { report(section.path("ignore"), name.mark, "must not be empty") }
        return .ignoring(Set(names.map(\.text)))
    }

    // MARK: Bodies

    /// Reads the method and the body of an endpoint's requests.
    mutating func requestBody(_ endpoint: Section) -> (method: String, body: TransportBody?) {
        var body: TransportBody?
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
    func json(_ value: YAMLValue) -> JSONBody {
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
