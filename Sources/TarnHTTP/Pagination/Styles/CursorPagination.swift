/// The style `cursor`: the body names the next page by an opaque value.
struct CursorPagination: LastingStyle, PromisingStyle {
    static let syntax = PaginationSyntax(
        "cursor",
        keys: [
            .path("path", required: true, example: "meta.next"), .parameter(), .text("start"), .path("has_more"),
            .path("is_last"), .text("last"), .word("end", among: ["empty"]), .flag("alone"),
            .text("url"),
        ],
        needs: "a path and a parameter: write { cursor: { path: next_cursor, param: cursor } }",
        make: CursorPagination.init(values:))

    /// The path of the cursor in the body. The scan ends if it is missing, null, false or empty.
    var path: String
    /// The parameter that carries the cursor.
    var sends: Pagination.ParameterPlace
    /// The cursor that the request for the first page sends, such as `*`; nil if it sends none.
    var start: String?
    /// The flag that tells whether another page follows; nil without one.
    var hasMore: MoreFlag?
    /// The cursor that marks the last page, such as `0`.
    var last: String?
    /// Whether a page without records is the last one, regardless of its cursor.
    var endsAtEmptyPage: Bool
    /// Whether the cursor is the only parameter of the requests that send it.
    var isAlone = false
    /// The path below the base URL to which the cursor is sent, without other parameters; nil for
    /// the path of the list.
    var url: String?

    var name: String { "cursor" }
    var isCounted: Bool { false }
    var wants: PageWants {
        var wants = PageWants(values: [path, hasMore?.path].compactMap(\.self))
        wants.scalars = [path]
        // The place of a query has a text only.
        if case .body = sends { wants.composites = [path] }
        return wants
    }
    var parameters: [Pagination.ParameterPlace] { [sends] }

    func firstPage(of request: PageRequest) -> PageRequest {
        start.map { request.setting(sends, to: $0) } ?? request
    }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        let facts = page.facts
        if facts.isEmpty, endsAtEmptyPage || hasMore != nil && hasMore?.value(facts) == nil { return .end }
        guard hasMore?.value(facts) ?? true, let value = facts.values[path], !["", "false"].contains(value),
            value != last
        else { return .end }
        let page = continuation(of: page)
        if case .body(let keys) = sends, let composite = facts.composite(path),
            let next = page.next(setting: keys, to: composite)
        {
            return whole(next, of: page)
        }
        guard value != PageFacts.container, !value.hasPrefix(PageFacts.json) else {
            throw .refused(
                by: name,
                reason: "`\(path)` is an object or a list, and no cursor: name the member that is the cursor")
        }
        return whole(try page.next(setting: sends, to: value), of: page)
    }

    /// The page without the parameters that further requests leave out, at their URL.
    private func continuation(of page: FetchedPage) -> FetchedPage {
        guard isAlone || url != nil else { return page }
        var page = page.withoutParameters
        if let url { page.request.url = (page.base ?? "") + url }
        return page
    }

    /// The next request as a whole, if it has another URL and another body than the page.
    private func whole(_ next: NextPage, of page: FetchedPage) -> NextPage {
        guard url != nil else { return next }
        return switch next {
        case .next(let url): .nextRequest(PageRequest(url: url, body: page.request.body))
        case .nextBody(let body): .nextRequest(PageRequest(url: page.request.url, body: body))
        case .nextRequest, .end: next
        }
    }

    /// Returns the request for what follows a cursor of an earlier scan; nil if cursors are sent to
    /// the URL of the list.
    func request(after cursor: String, like first: PageRequest, base: String) -> PageRequest? {
        guard url != nil else { return nil }
        var page = FetchedPage(first, PageFacts(headers: TransportHeaders(), recordCount: 0))
        page.base = base
        return continuation(of: page).request.setting(sends, to: cursor)
    }

    func isDeclaredLast(_ facts: PageFacts) -> Bool {
        hasMore?.value(facts) == false || last != nil && facts.values[path] == last
    }

    func promise(_ facts: PageFacts, _ rule: PageEvidence.Rule) -> PageEvidence? {
        guard let hasMore, hasMore.value(facts) == true, !isDeclaredLast(facts), !rule.ignores(hasMore.path),
            !(facts.isEmpty && endsAtEmptyPage)
        else { return nil }
        return hasMore.promise(lacking: "\(path) has no cursor")
    }
}

extension CursorPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        path = try values.required("path")
        sends = try values.parameter()
        start = values.text("start")
        hasMore = try values.moreFlag()
        last = values.text("last")
        endsAtEmptyPage = values.text("end") == "empty"
        isAlone = values.flag("alone")
        url = values.text("url")
        guard let url else { return }
        if isAlone { throw PaginationProblem("alone", "requests to the url have no other parameter: remove the line") }
        if start != nil {
            throw PaginationProblem("start", "the first request is for the list: write the cursor in with or body")
        }
        let isPath = url.hasPrefix("/") && !url.hasPrefix("//") && (try? HTTPURL("http://a" + url)) != nil
        if !isPath || url.utf8.contains(where: { "{}#".utf8.contains($0) }) {
            throw PaginationProblem(
                "url", "expected a path below the base URL, without variables, such as /list_folder/continue")
        }
    }
}

extension CursorPagination: CustomStringConvertible {
    // The text is stored with the progress of scans. Without `alone` and `url`, it is that of older
    // stores.
    var description: String {
        "CursorPagination(path: \(path.debugDescription), sends: \(sends), start: \(String(reflecting: start)), "
            + "hasMore: \(String(reflecting: hasMore)), last: \(String(reflecting: last)), "
            + "endsAtEmptyPage: \(endsAtEmptyPage)\(isAlone ? ", isAlone: true" : "")"
            + "\(url.map { ", url: \($0.debugDescription)" } ?? ""))"
    }
}

extension FetchedPage {
    /// The page as if it had been requested without parameters, in the query or in the body.
    fileprivate var withoutParameters: FetchedPage {
        var page = self, reference = URLReference(request.url)
        reference.query = nil
        page.request.url = reference.description
        switch request.body {
        case .json: page.request.body = .json(.object([]))
        case .form: page.request.body = .form([])
        case nil: break
        }
        return page
    }
}

extension Pagination {
    /// Returns the request for what follows a cursor of an earlier scan, if cursors are sent to a
    /// URL of their own.
    ///
    /// - Parameters:
    ///   - place: where the value is sent.
    ///   - first: the request for the list.
    ///   - base: the base URL of the API.
    package func request(
        after cursor: String, sentAt place: ParameterPlace, like first: PageRequest, base: String
    ) -> PageRequest? {
        guard let style = style as? CursorPagination, style.sends == place else { return nil }
        return style.request(after: cursor, like: first, base: base)
    }

    /// The body has the cursor that the next request sends.
    ///
    /// - Parameters:
    ///   - path: the path of the cursor in the body. The scan ends if it is missing, null or empty.
    ///     A JSON body gets an object or a list as it is; in a query or a form it is an error.
    ///   - sends: the parameter that carries the cursor.
    ///   - start: the cursor that the request for the first page sends, such as `*`; nil if it
    ///     sends none.
    ///   - hasMore: the path of a flag for more records; false ends the scan.
    ///   - isLast: in place of `hasMore`, the path of a flag that marks the last page.
    ///   - last: the cursor that marks the last page, such as `0`.
    ///   - endsAtEmptyPage: whether a page without records is the last one, regardless of its
    ///     cursor.
    public static func cursor(
        path: String, sends: ParameterPlace, start: String? = nil, hasMore: String? = nil, isLast: String? = nil,
        last: String? = nil, endsAtEmptyPage: Bool = false
    ) -> Pagination {
        Pagination(
            CursorPagination(
                path: path, sends: sends, start: start, hasMore: MoreFlag(hasMore: hasMore, isLast: isLast), last: last,
                endsAtEmptyPage: endsAtEmptyPage))
    }
}
