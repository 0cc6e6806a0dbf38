// Which style an API's pages have, found out from its first one. Pure.

/// Finds out how pages follow each other. The first sign counts, the surest first.
public enum AutomaticPagination {
    /// What was chosen, and the sign for it.
    public struct Choice: Sendable, Hashable, CustomStringConvertible {
        /// The style that was chosen.
        public var pagination: Pagination
        /// As it is written in a description: `{ cursor: { path: meta.next_cursor, param: cursor } }`.
        public var style: String
        /// The sign for it, in words.
        public var reason: String

        public var description: String { "\(style): \(reason)" }
    }

    /// Where bodies have the URL of the next page.
    static let links = [
        "next", "next_url", "nextUrl", "next_page_url", "nextLink", "@odata\\.nextLink", "links.next", "_links.next", "paging.next",
        "pagination.next", "pagination.next_url", "pagination.nextUrl", "meta.next", "meta.next_url", "meta.pagination.links.next",
        "info.next", "page.next", "response.next", "data.next",
    ]

    /// Where bodies have a cursor, and by which parameter servers take it.
    static let cursors = [
        ("next_cursor", "cursor"), ("nextCursor", "cursor"), ("meta.next_cursor", "cursor"), ("meta.nextCursor", "cursor"),
        ("pagination.next_cursor", "cursor"), ("pagination.nextCursor", "cursor"), ("response_metadata.next_cursor", "cursor"),
        ("cursors.next", "cursor"), ("paging.cursors.after", "after"), ("paging.next.after", "after"), ("next_page_token", "page_token"),
        ("nextPageToken", "pageToken"), ("next_token", "next_token"), ("nextToken", "nextToken"), ("continuation_token", "continuation_token"),
        ("continuationToken", "continuationToken"), ("meta.next_token", "pagination_token"),
    ]

    /// Where bodies say how many pages there are.
    static let pageCounts = [
        "total_pages", "totalPages", "pages", "last_page", "page_count", "meta.total_pages", "meta.totalPages", "meta.last_page",
        "meta.pagination.total_pages", "meta.pagination.pages", "pagination.total_pages", "pagination.totalPages", "pagination.pages", "info.pages",
        "page.totalPages",
    ]

    static let totals = ["total", "total_count", "totalCount", "count", "meta.total", "meta.total_count", "pagination.total"]

    static var wants: PageWants {
        PageWants(
            values: links.flatMap { [$0, $0 + ".href", $0 + ".url"] } + cursors.map(\.0) + pageCounts + totals
                + ["offset", "limit", "meta.offset", "meta.limit", "pagination.offset", "pagination.limit", "has_more", "hasMore"],
            fields: PageCounts.fields + ["X-Next-Cursor", "X-Next-Page"])
    }

    static func choose(_ request: PageRequest, _ facts: PageFacts) -> Choice {
        if LinkHeader.target(relation: "next", in: facts.headers) != nil {
            return Choice(pagination: .headerLink(), style: "header_link", reason: "the answer's Link field names a next page")
        }
        for path in links {
            guard let link = [path, path + ".href", path + ".url"].lazy.compactMap({ facts.values[$0] }).first, isLink(link) else { continue }
            return Choice(
                pagination: .jsonLink(path: path), style: "{ json_link: { path: '\(path)' } }",
                reason: "the answer has the URL of a next page at \(path)")
        }
        let names = QueryParameters.values(in: request.url).map(\.name)
        for (path, usual) in cursors {
            guard let cursor = facts.values[path], !cursor.isEmpty else { continue }
            let name = names.first { [usual, "cursor", "after", "page_token", "pageToken"].contains($0) } ?? usual
            let hasMore = ["has_more", "hasMore"].first { facts.values[$0] != nil }
            return Choice(
                pagination: .cursor(.init(path: path, sends: .query(name), hasMore: hasMore)),
                style: "{ cursor: { path: \(path), param: \(name) } }", reason: "the answer has a cursor at \(path), which is sent as \(name)")
        }
        if let cursor = facts.headers["X-Next-Cursor"], !cursor.isEmpty {
            return Choice(
                pagination: .headerCursor(field: "X-Next-Cursor", sends: .query("cursor")),
                style: "{ header_cursor: { field: X-Next-Cursor, param: cursor } }", reason: "the answer has the field X-Next-Cursor")
        }
        return numbered(facts, names)
    }

    private static func numbered(_ facts: PageFacts, _ names: [String]) -> Choice {
        let page = names.first { ["page", "page_number", "pageNumber", "p"].contains($0) }
        for path in pageCounts {
            guard let count = facts.number(path), count > 1 else { continue }
            let name = page ?? "page"
            return Choice(
                pagination: .pageNumber(.init(.query(name), totalPages: path)),
                style: "{ page_number: { param: \(name), total_pages: \(path) } }",
                reason: "the answer says at \(path) that there are \(count) pages")
        }
        for path in totals {
            guard let total = facts.number(path), total > facts.recordCount, facts.recordCount > 0 else { continue }
            let place = ["offset", "meta.offset", "pagination.offset"].first { facts.values[$0] != nil }
            guard place != nil || names.contains("offset") else { continue }
            return Choice(
                pagination: .offset(.init(.query("offset"), total: path)), style: "{ offset: { param: offset, total: \(path) } }",
                reason: "the answer lists \(facts.recordCount) of \(total) records (\(path)) and speaks of an offset")
        }
        if let next = facts.headers["X-Next-Page"], Int(next) != nil {
            return Choice(
                pagination: .headerCursor(field: "X-Next-Page", sends: .query(page ?? "page")),
                style: "{ header_cursor: { field: X-Next-Page, param: \(page ?? "page") } }", reason: "the answer has the field X-Next-Page")
        }
        return Choice(pagination: .singlePage, style: "single_page", reason: "nothing in the answer speaks of another page")
    }

    /// A key called `next` may also hold a number, or a cursor.
    private static func isLink(_ text: String) -> Bool {
        text.hasPrefix("http://") || text.hasPrefix("https://") || text.hasPrefix("/") || text.hasPrefix("?")
    }
}
