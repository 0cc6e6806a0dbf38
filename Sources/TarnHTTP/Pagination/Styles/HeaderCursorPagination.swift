/// The style `header_cursor`: a header field has the cursor that the next request sends.
struct HeaderCursorPagination: LastingStyle {
    static let syntax = PaginationSyntax(
        "header_cursor", keys: [.text("field", required: true, example: "X-Next"), .parameter(), .text("start")],
        needs: "a field and a parameter: write { header_cursor: { field: X-Next, param: cursor } }",
        make: HeaderCursorPagination.init(values:))

    /// The header field. The scan ends if it is missing or empty.
    var field: String
    /// The parameter that carries the cursor.
    var sends: Pagination.ParameterPlace
    /// The cursor that the request for the first page sends; nil if it sends none.
    var start: String?

    var name: String { "header_cursor" }
    var isCounted: Bool { false }
    var wants: PageWants { PageWants(fields: [field]) }
    var parameters: [Pagination.ParameterPlace] { [sends] }

    func firstPage(of request: PageRequest) -> PageRequest {
        start.map { request.setting(sends, to: $0) } ?? request
    }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        guard let cursor = page.facts.headers[field], !cursor.isEmpty else { return .end }
        return try page.next(setting: sends, to: cursor)
    }

    func isDetermined(byHeaders headers: TransportHeaders) -> Bool { true }
}

extension HeaderCursorPagination: HeaderPagination {
    var decidingFields: [String] { [field] }
}

extension HeaderCursorPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        field = try values.required("field")
        sends = try values.parameter()
        start = values.text("start")
    }
}

extension Pagination {
    /// A header field has the cursor that the next request sends.
    ///
    /// - Parameter start: the cursor that the request for the first page sends; nil if it sends
    ///   none.
    public static func headerCursor(field: String, sends: ParameterPlace, start: String? = nil) -> Pagination {
        Pagination(HeaderCursorPagination(field: field, sends: sends, start: start))
    }
}
