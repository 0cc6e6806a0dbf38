/// A pagination style that finds the page before a page.
///
/// `Link` fields with `rel=prev` need no style: ``PageSequence/preceding(_:answeredBy:)`` reads
/// them first.
protocol ReversiblePagination: PaginationStyle {
    /// Returns the predecessor of a page.
    func previous(before page: FetchedPage) -> PreviousPage
}

/// The predecessor of a page.
enum PreviousPage: Sendable, Hashable {
    /// A URL reference to the page. It may be relative, and only `PageSequence` checks it.
    case previous(String)
    /// The URL of the page, with another body.
    case previousBody(TransportBody)
    /// The page is the first one.
    case none
    /// The predecessor cannot be requested, for a reason.
    case unknown(String)

    /// Creates the predecessor whose request has another value of a parameter.
    init(_ page: FetchedPage, setting place: Pagination.ParameterPlace, to number: Int) {
        switch try? page.next(setting: place, to: String(number), isNumber: true) {
        case .next(let url): self = .previous(url)
        case .nextBody(let body): self = .previousBody(body)
        case .end, .nextRequest, nil: self = .none
        }
    }
}
