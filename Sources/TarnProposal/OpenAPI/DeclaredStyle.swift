// Pagination from the parameters and the response of an operation.

import Tarn

/// The style of pagination that a specification suggests.
struct DeclaredStyle {
    var style = SampledStyle()
    /// Parameters of the page size that belong under `with`, since the style does not send them.
    var parameters: [ProposedParameter] = []

    private static let cursorNames = [
        "cursor", "after", "page_token", "pageToken", "next_token", "nextToken", "continuation", "continuation_token",
        "continuationToken", "page[cursor]", "page[after]", "marker", "token", "next",
    ]
    private static let cursorPaths = [
        "next_cursor", "nextCursor", "next_page_token", "nextPageToken", "next_token", "nextToken",
        "continuation_token", "continuationToken", "end_cursor", "endCursor", "after", "next",
    ]
    private static let envelopes = [
        "meta", "pagination", "paging", "page", "page_info", "pageInfo", "cursors", "links", "_links",
        "response_metadata", "info", "cursor",
    ]

    init(_ operation: Operation) {
        guard operation.list != nil else { return }
        let query = operation.parameters.filter { !$0.isInPath }
        func find(_ names: [String]) -> Operation.Parameter? {
            names.lazy.compactMap { name in query.first { $0.name == name } }.first
        }
        let size = find(StyleGuess.sizeNames).map { ($0.name, DeclaredStyle.size($0)) }
        let scalars = DeclaredStyle.scalars(operation.response)
        let hasMore = scalars.first { path, _ in
            ["has_more", "hasMore", "has_next", "hasNext", "hasNextPage", "has_next_page"].contains(path.last ?? "")
        }.map { JSONPath(keys: $0.0).description }
        let total = DeclaredStyle.path(
            ["total", "total_count", "totalCount", "count", "total_items", "totalItems", "total_results"], scalars)
        let sizeText = size.map { ", per_page: { \(YAMLText.scalar($0.0)): \($0.1) }" } ?? ""
        let keptSize = size.map { [ProposedParameter(name: $0.0, value: String($0.1))] } ?? []
        if operation.headers.contains("link") {
            take("header_link", "the specification declares the header field Link")
            parameters = keptSize
        } else if let cursor = find(DeclaredStyle.cursorNames),
            let path = DeclaredStyle.path(DeclaredStyle.cursorPaths, scalars)
        {
            let more = hasMore.map { ", has_more: \(YAMLText.scalar($0))" } ?? ""
            take(
                "{ cursor: { path: \(YAMLText.scalar(path)), param: \(YAMLText.scalar(cursor.name))\(more) } }",
                "the parameter \(cursor.name) takes the cursor at \(path)", cursor.name)
            parameters = keptSize
        } else if let link = DeclaredStyle.link(scalars) {
            take("{ json_link: { path: \(YAMLText.scalar(link)) } }", "the response has the next URL at \(link)")
            parameters = keptSize
        } else if let page = find(StyleGuess.pageNames) {
            let start = Int(page.schema["default"]?.scalarText ?? page.schema["minimum"]?.scalarText ?? "1") ?? 1
            let pages = DeclaredStyle.path(
                ["total_pages", "totalPages", "page_count", "pageCount", "last_page", "lastPage", "pages"], scalars)
            let end =
                pages.map { ", total_pages: \(YAMLText.scalar($0))" }
                ?? total.map { ", total: \(YAMLText.scalar($0))" } ?? ""
            take(
                "{ page_number: { param: \(YAMLText.scalar(page.name)), start: \(min(max(start, 0), 1))\(sizeText)\(end) } }",
                "by the parameters \(page.name)\(size.map { " and \($0.0)" } ?? "")", page.name)
        } else if let offset = find(StyleGuess.offsetNames) {
            let end = total.map { ", total: \(YAMLText.scalar($0))" } ?? ""
            take(
                "{ offset: { param: \(YAMLText.scalar(offset.name))\(sizeText)\(end) } }",
                "by the parameters \(offset.name)\(size.map { " and \($0.0)" } ?? "")", offset.name)
        } else {
            style.text = "auto"
            style.reason = "the specification does not say: the first response decides"
            parameters = keptSize
        }
    }

    private mutating func take(_ text: String, _ reason: String, _ parameter: String? = nil) {
        style.text = text
        style.reason = reason
        if let parameter { style.parameters = [parameter] }
    }

    /// The page size: the maximum of the parameter, else its default, else 100.
    private static func size(_ parameter: Operation.Parameter) -> Int {
        func number(_ key: String) -> Int? { parameter.schema[key]?.scalarText.flatMap { Int($0) } }
        if let maximum = number("maximum"), (1...1000).contains(maximum) { return maximum }
        return number("default").flatMap { (1...1000).contains($0) ? $0 : nil } ?? 100
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
                    if keys.count < 2, envelopes.contains(name) || keys.isEmpty { inner.append((name, nested)) }
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
