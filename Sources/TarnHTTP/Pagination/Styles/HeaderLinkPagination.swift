/// The style `header_link`: the next page is the target of a `Link` header field.
struct HeaderLinkPagination: LastingStyle {
    static let syntax = PaginationSyntax(
        "header_link", keys: [.text("rel", required: true, example: "next")],
        bare: HeaderLinkPagination(relation: "next"), make: HeaderLinkPagination.init(values:))

    /// The relation type of the link.
    var relation: String

    var name: String { "header_link" }
    var isCounted: Bool { false }

    func next(after page: FetchedPage) -> NextPage {
        LinkHeader.target(relation: relation, in: page.facts.headers, of: page.request.url).map(NextPage.next) ?? .end
    }

    func isDetermined(byHeaders headers: TransportHeaders) -> Bool { true }
}

extension HeaderLinkPagination: HeaderPagination {
    var decidingFields: [String] { ["Link"] }
}

extension HeaderLinkPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        relation = try values.required("rel")
        if relation.contains(where: \.isWhitespace) {
            throw PaginationProblem("rel", "a link relation has no spaces: name one (RFC 8288 §3.3)")
        }
    }
}

extension Pagination {
    /// The next page is the target of a `Link` header field with this relation type (RFC 8288).
    public static func headerLink(relation: String = "next") -> Pagination {
        Pagination(HeaderLinkPagination(relation: relation))
    }
}
