/// The style `single_page`: one request returns all records.
struct SinglePagePagination: PaginationStyle {
    static let syntax = PaginationSyntax("single_page", SinglePagePagination())

    var name: String { "single_page" }
    var isCounted: Bool { false }

    func next(after page: FetchedPage) -> NextPage { .end }

    func isDetermined(byHeaders headers: TransportHeaders) -> Bool { true }
}

extension Pagination {
    /// One request returns all records.
    public static let singlePage = Pagination(SinglePagePagination())
}
