// Detection of an API's pagination style from its first page. Pure.

/// The style `auto`: the first page of a scan determines the style.
///
/// Signs are tried from the most to the least reliable; the first match decides.
struct AutomaticPagination: PaginationStyle {
    static let syntax = PaginationSyntax("auto", AutomaticPagination())

    var name: String { "auto" }
    var isCounted: Bool { false }
    // The style itself comes from members that every page is asked for.
    var wants: PageWants { PageWants(values: AutomaticPagination.previousLinks) }
    // Responses that were stored before previous pages were known stay valid.
    var storedWants: PageWants { PageWants() }

    func next(after page: FetchedPage) -> NextPage { .end }

    // A Link field decides the style, regardless of the body.
    func isDetermined(byHeaders headers: TransportHeaders) -> Bool {
        LinkHeader.target(relation: "next", in: headers) != nil
    }

    func choice(at request: PageRequest, _ facts: PageFacts) -> PaginationChoice? {
        AutomaticPagination.choose(request, facts)
    }

    /// Common paths of the next page's URL in a body.
    static let links = [
        "next", "next_url", "nextUrl", "next_page_url", "nextLink", "@odata\\.nextLink", "links.next", "_links.next",
        "paging.next",
        "pagination.next", "pagination.next_url", "pagination.nextUrl", "meta.next", "meta.next_url",
        "meta.pagination.links.next",
        "info.next", "page.next", "response.next", "data.next",
    ]

    /// Common paths of the previous page's URL in a body.
    static let previousLinks = [
        "previous", "prev", "previous_url", "prev_page_url", "links.prev", "links.prev.href", "links.previous",
        "_links.prev", "_links.prev.href", "_links.previous.href", "meta.previous", "meta.prev", "info.prev",
        "paging.previous", "pagination.prev", "pagination.previous", "page.prev",
    ]

    /// Common paths of a cursor in a body, each with the parameter that usually sends it.
    static let cursors = [
        ("next_cursor", "cursor"), ("nextCursor", "cursor"), ("meta.next_cursor", "cursor"),
        ("meta.nextCursor", "cursor"),
        ("pagination.next_cursor", "cursor"), ("pagination.nextCursor", "cursor"),
        ("response_metadata.next_cursor", "cursor"),
        ("cursors.next", "cursor"), ("paging.cursors.after", "after"), ("paging.next.after", "after"),
        ("next.cursor", "cursor"), ("next.offset", "offset"),
        ("next_page_token", "page_token"),
        ("nextPageToken", "pageToken"), ("next_token", "next_token"), ("nextToken", "nextToken"),
        ("continuation_token", "continuation_token"),
        ("continuationToken", "continuationToken"), ("meta.next_token", "pagination_token"),
        ("paginationToken", "paginationToken"), ("resumptionToken", "resumptionToken"),
        ("nextPageKey", "nextPageKey"), ("nextCursorMark", "cursorMark"),
    ]

    /// Common paths of the number of pages in a body.
    static let pageCounts = [
        "total_pages", "totalPages", "pages", "last_page", "page_count", "meta.total_pages", "meta.totalPages",
        "meta.last_page",
        "meta.pagination.total_pages", "meta.pagination.pages", "pagination.total_pages", "pagination.totalPages",
        "pagination.pages", "info.pages",
        "page.totalPages",
    ]

    /// Common paths of the number of records in a body.
    static let totals = [
        "total", "total_count", "totalCount", "count", "meta.total", "meta.total_count", "pagination.total",
    ]

    /// Common names of the number of records before a page, which are those of the parameters that
    /// send it.
    static let offsetNames = ["offset", "skip", "startAt", "startIndex"]

    /// Returns the paths of a page's members that have one of the meanings, sorted.
    private static func paths(_ facts: PageFacts, _ meanings: PageEvidence.Meaning...) -> [String] {
        guard !facts.values.isEmpty else { return [] }
        return facts.values.keys.filter { path in PageEvidence.meaning(of: path).map(meanings.contains) ?? false }
            .sorted()
    }

    /// Detects the style of the first page.
    ///
    /// If the page has no sign of another one, the style is `single_page`.
    static func choose(_ request: PageRequest, _ facts: PageFacts) -> PaginationChoice {
        if LinkHeader.target(relation: "next", in: facts.headers, of: request.url) != nil {
            return PaginationChoice(
                pagination: .headerLink(), style: "header_link", reason: "the answer's Link field names a next page")
        }
        for path in links {
            guard let link = [path, path + ".href", path + ".url"].lazy.compactMap({ facts.values[$0] }).first,
                isLink(link) || isLink(link, of: path)
            else { continue }
            return PaginationChoice(
                pagination: .jsonLink(path: path), style: "{ json_link: { path: \(path.quotedYAML) } }",
                reason: "the answer has the URL of a next page at \(path)")
        }
        // Envelopes that `links` does not list.
        for path in paths(facts, .link, .nextPage) {
            guard let link = facts.values[path], isLink(link) || isLink(link, of: path) else { continue }
            let parent = [".href", ".url", ".uri"].first(where: path.hasSuffix).map { String(path.dropLast($0.count)) }
            let named =
                parent.flatMap { PageEvidence.meaning(of: $0) == nil || path.hasSuffix(".uri") ? nil : $0 } ?? path
            return PaginationChoice(
                pagination: .jsonLink(path: named), style: "{ json_link: { path: \(named.quotedYAML) } }",
                reason: "the answer has the URL of a next page at \(path)")
        }
        let parameters = QueryParameters.values(in: request.url), names = parameters.map(\.name)
        let hasMore = paths(facts, .more).first
        if hasMore.flatMap({ facts.flag($0) }) == false { return numbered(facts, parameters) }
        let others = paths(facts, .cursor)
            .filter { path in !cursors.contains { $0.0 == path } && !PageEvidence.isContinuation(path) }
            .map { ($0, "cursor") }
        for (path, usual) in cursors + others {
            guard let cursor = facts.values[path], !PageEvidence.isNoCursor(cursor) else { continue }
            return self.cursor(at: path, usual, names, hasMore: hasMore)
        }
        if let choice = continued(facts) { return choice }
        for (field, usual) in AutomaticPagination.cursorFields {
            guard let cursor = facts.headers[field], !cursor.isEmpty else { continue }
            return PaginationChoice(
                pagination: .headerCursor(field: field, sends: .query(usual)),
                style: "{ header_cursor: { field: \(field), param: \(usual) } }",
                reason: "the answer has the field \(field)")
        }
        let choice = positioned(request, facts, names, hasMore: hasMore) ?? numbered(facts, parameters)
        guard choice.pagination == .singlePage, let path = LinkList.path(ofNextIn: facts) else { return choice }
        return PaginationChoice(
            pagination: .jsonLink(path: path), style: "{ json_link: { path: \(path.quotedYAML) } }",
            reason: "the answer has a link to a next page in the list at \(path)")
    }

    /// Returns the style of a cursor that is sent by its usual parameter, or by one of the request.
    private static func cursor(
        at path: String, _ usual: String, _ names: [String], hasMore: String?, endsAtEmptyPage: Bool = false
    ) -> PaginationChoice {
        let name = names.first { [usual, "cursor", "after", "page_token", "pageToken"].contains($0) } ?? usual
        let flag = hasMore.map { ", has_more: \(CountingParameters.written($0))" } ?? ""
        let end = endsAtEmptyPage ? ", end: empty" : ""
        return PaginationChoice(
            pagination: .cursor(
                path: path, sends: .query(name), hasMore: hasMore, endsAtEmptyPage: endsAtEmptyPage),
            style: "{ cursor: { path: \(CountingParameters.written(path)), "
                + "param: \(CountingParameters.written(name))\(flag)\(end) } }",
            reason: "the answer has a cursor at \(path), which is sent as \(name)")
    }

    /// Detects the object `continue` of MediaWiki, which has a `continue` of its own, or the only
    /// cursor in it, which has the name of its parameter.
    private static func continued(_ facts: PageFacts) -> PaginationChoice? {
        let found = paths(facts, .cursor).filter(PageEvidence.isContinuation)
        if let object = found.lazy.compactMap({ object(around: $0) }).first, facts.values[object + ".continue"] != nil {
            return PaginationChoice(
                pagination: .parameters(path: object),
                style: "{ parameters: { path: \(CountingParameters.written(object)) } }",
                reason: "the answer has the parameters of the next request at \(object)")
        }
        guard found.count == 1, let path = found.first, let name = path.split(separator: ".").last.map(String.init),
            name.utf8.allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x5F }),
            facts.values[path].map(PageEvidence.isNoCursor) == false
        else { return nil }
        return PaginationChoice(
            pagination: .cursor(path: path, sends: .query(name)),
            style: "{ cursor: { path: \(CountingParameters.written(path)), param: \(name) } }",
            reason: "the answer has a cursor at \(path), which has the name of its parameter")
    }

    /// Returns the path of the object `continue` around a cursor; nil if it is the cursor itself.
    private static func object(around path: String) -> String? {
        guard let dot = path.lastIndex(of: "."), path[dot...] != ".continue" else { return nil }
        return String(path[..<dot])
    }

    /// Detects a cursor with the name of the parameter that sends it: `cursor`, `offset`, or
    /// `after`; or Matrix's `next_batch`, which `since` sends.
    ///
    /// Some servers name one on the last page too: a page without records ends the scan.
    private static func positioned(
        _ request: PageRequest, _ facts: PageFacts, _ names: [String], hasMore: String?
    ) -> PaginationChoice? {
        guard facts.recordCount > 0, paths(facts, .pages, .lastPage, .nextPage, .pageNumber).isEmpty,
            !paths(facts, .last).contains(where: { facts.flag($0) == true })
        else { return nil }
        let totals = paths(facts, .total).compactMap { facts.number($0) }
        guard totals.allSatisfy({ $0 > facts.recordCount }) else { return nil }
        let records = facts.recordCount.addingClamped(request.passedOver.records)
        for path in paths(facts, .position) {
            let isOffset = PageEvidence.isOffset(path), isAfter = PageEvidence.isAfter(path)
            let isBatch = PageEvidence.isBatch(path)
            guard let text = facts.values[path],
                isOffset || isAfter || isBatch || path == "cursor" || path.hasSuffix(".cursor"),
                // A number with a total is that of a style that counts.
                !isOffset || totals.isEmpty || Int(text) == nil,
                PageEvidence.leadsOn(path, facts, request, records: records)
            else { continue }
            let usual = isOffset ? "offset" : isAfter ? "after" : isBatch ? "since" : "cursor"
            return cursor(at: path, usual, names, hasMore: hasMore, endsAtEmptyPage: true)
        }
        return nil
    }

    // MARK: Numbers

    /// Detects a style that numbers pages or records.
    private static func numbered(
        _ facts: PageFacts, _ parameters: [(name: String, value: String)]
    ) -> PaginationChoice {
        let page = parameters.first {
            (["page", "page_number", "pageNumber", "p"] + CountingParameters.pages).contains($0.name)
        }
        let besideSize = CountingParameters.beside(parameters, countsPages: true)
        let name = page?.name ?? besideSize ?? "page", current = paths(facts, .pageNumber).first ?? numberPath(facts)
        for path in paths(facts, .nextPage) {
            guard let next = facts.number(path), next > current.flatMap({ facts.number($0) }) ?? 1 else { continue }
            return PaginationChoice(
                pagination: .cursor(path: path, sends: .query(name)),
                style: "{ cursor: { path: \(CountingParameters.written(path)), "
                    + "param: \(CountingParameters.written(name)) } }",
                reason: "the answer has the number of a next page at \(path)")
        }
        // If the first page has the number 0, the second one has the number 1.
        let first = page.map { Int($0.value) } ?? current.flatMap { facts.number($0) }, start = first == 0 ? 0 : 1
        func pages(
            totalPages: String? = nil, total: String? = nil, hasMore: String? = nil, _ reason: String
        ) -> PaginationChoice {
            let keys = [("total_pages", totalPages), ("total", total), ("has_more", hasMore)]
            var choice = PaginationChoice(
                pagination: .pageNumber(
                    .query(name), start: start, totalPages: totalPages, total: total, hasMore: hasMore),
                style: style("page_number", name, start: start == 0 ? 0 : nil, keys), reason: reason)
            choice.numbering = PaginationChoice.Numbering(
                parameter: name, start: start, isAssumed: first == nil, totalPages: totalPages)
            return choice
        }
        let known = pageCounts.filter { facts.values[$0] != nil }
        for path in known + paths(facts, .pages, .lastPage).filter({ !known.contains($0) }) {
            guard let count = facts.number(path), count > 1 else { continue }
            return pages(totalPages: path, "the answer says at \(path) that there are \(count) pages")
        }
        let offset = offset(facts, parameters)
        func records(total: String? = nil, hasMore: String? = nil, _ reason: String) -> PaginationChoice? {
            guard let offset else { return nil }
            let keys = [("total", total), ("has_more", hasMore)]
            return PaginationChoice(
                pagination: .offset(.query(offset.name), start: offset.start, total: total, hasMore: hasMore),
                style: style("offset", offset.name, start: offset.start == 0 ? nil : offset.start, keys),
                reason: reason)
        }
        let usual = totals.filter { facts.values[$0] != nil }
        for path in usual + paths(facts, .total).filter({ !usual.contains($0) }) {
            guard let total = facts.number(path), total > facts.recordCount, facts.recordCount > 0 else { continue }
            let listed = "the answer lists \(facts.recordCount) of \(total) records (\(path))"
            if let choice = records(total: path, "\(listed) and speaks of an offset") { return choice }
            if page != nil || current != nil { return pages(total: path, "\(listed) and has a page's number") }
            if let besideSize { return pages(total: path, "\(listed), and \(besideSize) goes with the page size") }
        }
        if let next = facts.headers["X-Next-Page"], Int(next) != nil {
            return PaginationChoice(
                pagination: .headerCursor(field: "X-Next-Page", sends: .query(name)),
                style: "{ header_cursor: { field: X-Next-Page, param: \(CountingParameters.written(name)) } }",
                reason: "the answer has the field X-Next-Page")
        }
        if let (flag, hasMore) = goesOn(facts) {
            if current != nil { return pages(hasMore: hasMore, "the answer has a page's number, and \(flag)") }
            if let choice = records(hasMore: hasMore, "the answer speaks of an offset, and \(flag)") { return choice }
        }
        return PaginationChoice(
            pagination: .singlePage, style: "single_page", reason: "nothing in the answer speaks of another page")
    }

    /// Returns a style in the syntax of a description.
    private static func style(
        _ style: String, _ parameter: String, start: Int?, _ keys: [(key: String, path: String?)]
    ) -> String {
        let keys = keys.compactMap { key, path in path.map { ", \(key): \(CountingParameters.written($0))" } }.joined()
        let parameter = CountingParameters.written(parameter)
        return "{ \(style): { param: \(parameter)\(start.map { ", start: \($0)" } ?? "")\(keys) } }"
    }

    /// Returns the flag that there are more records, in words, and its path if it is of the kind
    /// that `has_more` names; nil without such a flag.
    private static func goesOn(_ facts: PageFacts) -> (text: String, hasMore: String?)? {
        guard facts.recordCount > 0 else { return nil }
        if let path = paths(facts, .more).first, facts.flag(path) == true { return ("\(path) is true", path) }
        return paths(facts, .last).first { facts.flag($0) == false }.map { ("\($0) is false", nil) }
    }

    /// Returns the path of a `number` that is the first page's: beside a count or a flag of pages.
    ///
    /// A `number` may be anything else, such as that of an issue.
    private static func numberPath(_ facts: PageFacts) -> String? {
        facts.values.keys.sorted().first { path in
            guard path == "number" || path.hasSuffix(".number"), let number = facts.number(path),
                (0...1).contains(number)
            else { return false }
            let prefix = path.dropLast("number".count)
            return paths(facts, .pages, .lastPage, .last, .total).contains {
                $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains(".")
            }
        }
    }

    /// Returns the parameter of the number of records before a page, and its value for the first
    /// page: from the request, or from a member of the answer.
    private static func offset(
        _ facts: PageFacts, _ parameters: [(name: String, value: String)]
    ) -> (name: String, start: Int)? {
        func start(_ value: Int?) -> Int { value == 1 && facts.recordCount > 1 ? 1 : 0 }
        if let sent = parameters.first(where: { (offsetNames + CountingParameters.offsets).contains($0.name) }) {
            return (sent.name, start(Int(sent.value)))
        }
        let flagged = paths(facts, .more).lazy.compactMap { CountingParameters.offset(ofFlag: $0) }.first
        if let name = CountingParameters.beside(parameters, countsPages: false) ?? flagged { return (name, 0) }
        for path in facts.values.keys.sorted() {
            let name = path.split(separator: ".").last.map(String.init) ?? path
            // A `start` that is not 0 may be a time.
            if let number = facts.number(path),
                offsetNames.contains(where: { TransportHeaders.same($0, name) })
                    || number == 0 && TransportHeaders.same("start", name)
            {
                return (name, start(number))
            }
        }
        return nil
    }

    private static func isLink(_ text: String) -> Bool { PageEvidence.isLink(text) }

    /// Whether a member has a URL reference in any form: `odata.nextLink`, and `__next` of OData 2.
    private static func isLink(_ text: String, of path: String) -> Bool {
        ["odata\\.nextLink", "__next"].contains(where: path.hasSuffix) && !PageEvidence.isNoCursor(text)
            && !text.contains(where: \.isWhitespace) && Int(text) == nil
    }
}

extension Pagination {
    /// The first page determines the style. ``PaginationChoice`` has it, with the reason.
    public static let automatic = Pagination(AutomaticPagination())
}

extension AutomaticPagination: HeaderPagination {
    /// The header fields with a cursor, and the usual parameters: the second one is that of Azure.
    static let cursorFields = [("X-Next-Cursor", "cursor"), ("X-MS-ContinuationToken", "continuationToken")]

    // Without a sign of another style, a longer list may have these.
    var decidingFields: [String] { ["Link"] + AutomaticPagination.cursorFields.map(\.0) }
}
