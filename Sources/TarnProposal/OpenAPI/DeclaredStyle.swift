// Pagination from the parameters and the response of an operation.

import Tarn

/// The style of pagination that a specification suggests.
struct DeclaredStyle {
    var style = SampledStyle()
    /// The style in parts, if it numbers pages or counts records: live answers can confirm it.
    private(set) var counted: CountedStyle?
    /// Parameters of the page size that belong under `with`, since the style does not send them.
    var parameters: [ProposedParameter] = []

    private static let cursorNames = [
        "cursor", "after", "page_token", "pageToken", "next_token", "nextToken", "continuation", "continuation_token",
        "continuationToken", "continue", "pagination_token", "paginationToken", "page[cursor]", "page[after]", "marker",
        "token", "next",
    ]
    /// Parameters that take the id of the last record.
    private static let recordNames = [
        "after_id", "afterId", "starting_after", "startingAfter", "start_after", "startAfter", "last_id", "lastId",
    ]
    /// Parameters that take a position: a number, or a token of the server.
    private static let positionNames = StyleGuess.offsetNames
    private static let cursorPaths = [
        "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken",
        "continuation_token", "continuationToken", "continue", "end_cursor", "endCursor", "after_cursor",
        "afterCursor", "after", "next",
    ]
    private static let envelopes = [
        "meta", "pagination", "paging", "page", "page_info", "pageInfo", "cursors", "links", "_links",
        "response_metadata", "info", "cursor",
    ]

    init(_ operation: Operation) {
        guard operation.list != nil else { return }
        let query = operation.parameters.filter { $0.place == .query }
        func find(_ names: [String]) -> Operation.Parameter? {
            names.lazy.compactMap { name in query.first { $0.name == name } }.first
        }
        func count(_ names: [String]) -> Operation.Parameter? {
            names.lazy.compactMap { name in query.first { $0.name == name && $0.mayCount } }.first
        }
        func start(_ name: String) -> String {
            let parameter = query.first { $0.name == name }
            let value = ["default", "example"].lazy.compactMap { parameter?.schema[$0]?.scalarText }.first
            guard let value, StyleGuess.firstCursors.contains(value) else { return "" }
            return ", start: \(YAMLText.scalar(value))"
        }
        let sizeParameter = find(StyleGuess.sizeNames), size = sizeParameter.flatMap(DeclaredStyle.size)
        let scalars = DeclaredStyle.scalars(operation.response)
        let hasMore = scalars.map { (path: JSONPath(keys: $0.0).description, value: $0.1) }.first { path, value in
            PageEvidence.isMore(path) && value.declared?.types.contains("boolean") == true
        }?.path
        // A `count` is the number of this page's records in many APIs.
        let total = DeclaredStyle.path(
            [
                "total", "total_count", "totalCount", "total_items", "totalItems", "total_results", "totalResults",
                "total_records", "totalRecords", "totalElements",
            ], scalars)
        let cursor = query.filter(\.mayBeCursor).first { DeclaredStyle.cursorNames.contains($0.name) }
        let records = query.filter(\.mayBeCursor).first { DeclaredStyle.recordNames.contains($0.name) }
        let pair = DeclaredStyle.pair(query, scalars)
        parameters = size.map { [ProposedParameter(name: $0.name, value: String($0.value))] } ?? []
        if operation.headers.contains("link") {
            take("header_link", "the specification declares the header field Link")
        } else if let (parameter, path) = pair {
            let more = hasMore.map { ", has_more: \(YAMLText.scalar($0))" } ?? ""
            take(
                "{ cursor: { path: \(YAMLText.scalar(path)), param: \(YAMLText.scalar(parameter))\(more)\(start(parameter)) } }",
                "the parameter \(parameter) takes the cursor at \(path)", parameter)
        } else if let cursor, let field = DeclaredStyle.cursorField(operation.headers) {
            take(
                "{ header_cursor: { field: \(YAMLText.scalar(field)), param: \(YAMLText.scalar(cursor.name))\(start(cursor.name)) } }",
                "the parameter \(cursor.name) takes the cursor of the header field \(field)", cursor.name)
        } else if let link = DeclaredStyle.link(scalars) {
            take("{ json_link: { path: \(YAMLText.scalar(link)) } }", "the response has the next URL at \(link)")
        } else if let page = count(StyleGuess.pageNames) {
            take(page, size, scalars, total)
        } else if let offset = count(StyleGuess.offsetNames.filter({ !DeclaredStyle.isRange($0, query) })) {
            var style = CountedStyle(unit: .records, parameter: offset.name, size: size)
            if ["default", "minimum"].contains(where: { offset.schema[$0]?.scalarText == "1" }) { style.start = 1 }
            style.count = total.map { "total: \(YAMLText.scalar($0))" } ?? ""
            style.endsEmpty = true
            take(style, "by the parameters \(offset.name)\(size.map { " and \($0.name)" } ?? "")")
        } else if let records, operation.records.fields["id"]?.isScalar == true {
            takeRecords(records)
        } else {
            style.text = "auto"
            style.reason = "the specification does not say: the first response decides"
            if let unknown = cursor ?? records ?? sizeParameter ?? query.first(where: DeclaredStyle.isPosition) {
                doubt(unknown)
            }
        }
    }

    private mutating func take(_ text: String, _ reason: String, _ parameter: String? = nil) {
        style.text = text
        style.reason = reason
        if let parameter { style.parameters = [parameter] }
    }

    /// Takes the style that sends the id of the last record.
    private mutating func takeRecords(_ records: Operation.Parameter) {
        take(
            "{ since_id: { param: \(YAMLText.scalar(records.name)) } }",
            "UNCERTAIN: the parameter \(records.name) takes the id of a record", records.name)
        style.doubt = StyleDoubt(
            remark:
                "The parameter \(YAMLText.comment(records.name, limit: 40)) takes the id of a record. The largest id of a page is sent; if the server lists the newest record first, it must be the smallest: compare the number of records with the server's.",
            styles: [
                (
                    "{ max_id: { param: \(YAMLText.scalar(records.name)) } }",
                    "if the server lists the newest record first"
                )
            ])
    }

    private mutating func take(_ counted: CountedStyle, _ reason: String) {
        self.counted = counted
        style = counted.sampled(reason)
        parameters = []
    }

    /// Takes the style of numbered pages.
    private mutating func take(
        _ page: Operation.Parameter, _ size: (name: String, value: Int)?, _ scalars: [([String], ValueShape)],
        _ total: String?
    ) {
        let pages = DeclaredStyle.path(
            ["total_pages", "totalPages", "page_count", "pageCount", "last_page", "lastPage", "pages"], scalars)
        var counted = CountedStyle(unit: .pages, parameter: page.name, size: size)
        counted.count =
            pages.map { "total_pages: \(YAMLText.scalar($0))" } ?? total.map { "total: \(YAMLText.scalar($0))" } ?? ""
        counted.endsEmpty = true
        let start = DeclaredStyle.start(page, scalars)
        counted.start = start ?? 1
        take(counted, "by the parameters \(page.name)\(size.map { " and \($0.name)" } ?? "")")
        // A wrong start misses the first page. A scan with a total notices it.
        guard start == nil, counted.count.isEmpty else { return }
        var other = counted
        other.start = 0
        style.reason = "UNCERTAIN: the specification does not declare the number of the first page"
        style.doubt = StyleDoubt(
            remark:
                "The number of the first page is not declared. If the server counts from 0, this file misses the first page: compare an answer without \(YAMLText.comment(page.name, limit: 40)), or run `tarn init` with --live.",
            styles: [(other.text, "if the server counts from 0")])
    }

    /// Notes a parameter of pages whose use is unknown.
    private mutating func doubt(_ parameter: Operation.Parameter) {
        let name = YAMLText.comment(parameter.name, limit: 40)
        style.reason = "UNCERTAIN: the parameter \(name) belongs to pages, and nothing declared leads to the next one"
        style.doubt = StyleDoubt(
            remark:
                "The parameter \(name) belongs to pages, and the specification does not declare what leads to the next one. Unless the first answer says so, this file fetches one page: name the style under `paginate`."
        )
    }

    /// Returns the parameter that takes a cursor, and the path of the cursor in the response.
    private static func pair(
        _ query: [Operation.Parameter], _ scalars: [([String], ValueShape)]
    ) -> (parameter: String, path: String)? {
        // The URL of a next page is no cursor.
        let values = scalars.filter { !["uri", "url"].contains($0.1.declared?.format) }
        func first(
            _ names: [String], _ isFound: (String, [String], ValueShape) -> Bool
        ) -> (parameter: String, path: String)? {
            for name in names {
                guard let parameter = query.first(where: { $0.name == name }), parameter.mayBeCursor,
                    let found = values.first(where: { isFound(name, $0.0, $0.1) })
                else { continue }
                return (name, JSONPath(keys: found.0).description)
            }
            return nil
        }
        // `next_marker` for `marker`, and `next.starting_after` for `starting_after`.
        let named = first(cursorNames + recordNames + positionNames) { name, keys, _ in
            let words = EnglishName.words(of: name), last = EnglishName.words(of: keys.last ?? "")
            return last == ["next"] + words
                || last == words && keys.dropLast().last.map { EnglishName.words(of: $0).contains("next") } == true
        }
        if let named { return named }
        if let place = DeclaredStyle.path(cursorPaths, values), let cursor = first(cursorNames, { _, _, _ in true }) {
            return (cursor.parameter, place)
        }
        // `last_id` names the last record of the page.
        if let last = first(recordNames + ["after"], { _, keys, _ in ["last_id", "lastId"].contains(keys.last ?? "") })
        {
            return last
        }
        return first(positionNames) { name, keys, value in
            keys.last == name && value.declared?.types == ["string"]
                && query.contains { $0.name == name && !$0.mayCount }
        }
    }

    /// Whether a parameter is the beginning of a range, and another one is its end.
    private static func isRange(_ name: String, _ query: [Operation.Parameter]) -> Bool {
        ["start", "from"].contains(name) && query.contains { ["end", "to", "until"].contains($0.name) }
    }

    /// Whether a parameter has the name of a position in a list.
    private static func isPosition(_ parameter: Operation.Parameter) -> Bool {
        let words = EnglishName.words(of: parameter.name)
        guard !parameter.isTime, !parameter.isRequired else { return false }
        return words.contains { ["cursor", "continuation", "offset", "skip", "token"].contains($0) }
            || ["page", "after"].contains(words.first ?? "")
    }

    /// Returns the header field of a cursor.
    private static func cursorField(_ headers: Set<String>) -> String? {
        headers.sorted().first { field in
            let name = field.replacing("-", with: "").replacing("_", with: "")
            return ["cursor", "continuation", "nexttoken", "pagetoken", "nextpagetoken"].contains { name.contains($0) }
        }
    }

    /// Returns the number of the first page, if the specification has it.
    private static func start(_ page: Operation.Parameter, _ scalars: [([String], ValueShape)]) -> Int? {
        for key in ["default", "minimum"] {
            if let number = page.schema[key]?.scalarText.flatMap({ Int($0) }) { return min(max(number, 0), 1) }
        }
        let text = page.text.lowercased()
        for start in 0...1 {
            let names = [
                "\(["zero", "one"][start])-based", "\(["zero", "one"][start])-indexed", "\(start)-based",
                "\(start)-indexed", "\(start)..n", "start at \(start)", "starts at \(start)", "starting at \(start)",
                "starting from \(start)", "starts with \(start)", "starting with \(start)", "begins at \(start)",
                "first page is \(start)",
            ]
            if names.contains(where: { text.contains($0) }) { return start }
        }
        // The page of Spring Data has its own number, from 0.
        let names = Set(scalars.compactMap(\.0.last))
        let isSpring = !names.isDisjoint(with: ["first", "last", "totalElements", "numberOfElements"])
        return names.contains("number") && isSpring ? 0 : nil
    }

    /// Returns the page size that the specification declares: the maximum, the largest value of an
    /// `enum`, or the default; nil for none, and the server chooses.
    private static func size(_ parameter: Operation.Parameter) -> (name: String, value: Int)? {
        func number(_ key: String) -> Int? { parameter.schema[key]?.scalarText.flatMap { Int($0) } }
        let values = parameter.schema["enum"]?.elements.compactMap { $0.scalarText.flatMap { Int($0) } } ?? []
        let found = [values.max(), number("maximum"), number("default")].compactMap(\.self).first {
            (1...1000).contains($0)
        }
        return found.map { (parameter.name, $0) }
    }

    /// The scalars around the list, each with its keys, outermost first.
    private static func scalars(_ response: ValueShape) -> [([String], ValueShape)] {
        guard let object = response.object else { return [] }
        var found: [([String], ValueShape)] = []
        func collect(_ object: ObjectShape, _ keys: [String]) {
            var inner: [(String, ObjectShape)] = []
            for name in object.names where FieldNames.canBeWritten([name]) {
                guard let value = object.fields[name] else { continue }
                if value.isObject, let nested = value.object {
                    let isEntered = keys.isEmpty || envelopes.contains(name) || name.lowercased().hasPrefix("next")
                    if keys.count < 2, isEntered { inner.append((name, nested)) }
                } else if value.declared?.types.isDisjoint(with: ["string", "integer", "boolean", "number"]) == false {
                    found.append((keys + [name], value))
                }
            }
            for (name, nested) in inner { collect(nested, keys + [name]) }
        }
        collect(object, [])
        return found
    }

    private static func path(_ names: [String], _ scalars: [([String], ValueShape)]) -> String? {
        names.lazy.compactMap { name in scalars.first { $0.0.last == name } }.first
            .map { JSONPath(keys: $0.0).description }
    }

    /// The path of a next URL.
    private static func link(_ scalars: [([String], ValueShape)]) -> String? {
        let names: Set = [
            "next", "next_url", "nextUrl", "next_page_url", "nextLink", "next_link", "nextPageUrl", "@odata.nextLink",
        ]
        let found = scalars.first { keys, value in
            guard let last = keys.last, names.contains(last), value.declared?.types.contains("string") == true else {
                return false
            }
            return last != "next" || value.declared?.format == "uri" || value.declared?.format == "url"
                || keys.count == 1 || ["links", "_links"].contains(keys[keys.count - 2])
        }
        return found.map { JSONPath(keys: $0.0).description }
    }
}
