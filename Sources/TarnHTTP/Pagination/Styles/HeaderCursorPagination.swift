/// The style `header_cursor`: a header field has the cursor that the next request sends.
struct HeaderCursorPagination: PaginationStyle {
    static let syntax = PaginationSyntax(
        "header_cursor", keys: [.text("field", required: true, example: "X-Next"), .parameter()],
        needs: "a field and a parameter: write { header_cursor: { field: X-Next, param: cursor } }",
        make: HeaderCursorPagination.init(values:))

    /// The header field. The scan ends if it is missing or empty.
    var field: String
    /// The parameter that carries the cursor.
    var sends: Pagination.ParameterPlace

    var name: String { "header_cursor" }
    var isCounted: Bool { false }
    var wants: PageWants { PageWants(fields: [field]) }
    var parameters: [Pagination.ParameterPlace] { [sends] }

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
    }
}

extension Pagination {
    /// A header field has the cursor that the next request sends.
    public static func headerCursor(field: String, sends: ParameterPlace) -> Pagination {
        Pagination(HeaderCursorPagination(field: field, sends: sends))
    }
}
