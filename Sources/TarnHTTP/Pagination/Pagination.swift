// The pagination of endpoints. Pure: no I/O.

/// The pagination of an endpoint: one ``PaginationStyle``, as a value.
///
/// The built-in styles are static members; a style of a program is wrapped:
///
///     endpoint.pagination = .pageNumber(parameter: "page")
///     endpoint.pagination = Pagination(RangePagination(from: "first", to: "last", width: 100))
///
/// Two values are equal if their styles are of one type and equal.
public struct Pagination: Sendable, Hashable {
    /// The style.
    package let style: any PaginationStyle

    /// Creates the pagination of a style.
    public init(_ style: some PaginationStyle) { self.style = style }

    public static func == (a: Pagination, b: Pagination) -> Bool { a.style.isEqual(to: b.style) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(type(of: style)))
        style.hash(into: &hasher)
    }

    /// A text that differs for two paginations that may find other pages of a list.
    ///
    /// The text of a style that is not a ``LastingStyle`` is its name.
    package var text: String { style is any LastingStyle ? "\(style.name) \(style)" : style.name }

    /// Returns the request for the first page.
    package func firstPage(of request: PageRequest) -> PageRequest { style.firstPage(of: request) }

    /// Returns the successor of a page.
    ///
    /// - Parameters:
    ///   - request: the request for the page.
    ///   - facts: the facts about the page.
    ///   - ordinal: the ordinal of the page, counted from 1.
    ///   - listed: the number of records listed so far, this page included.
    ///   - rule: the treatment of evidence that a short page is not the last one.
    ///   - first: the request for the first page of the scan.
    ///   - base: the base URL of the API.
    /// - Throws: `PaginationError` if the page contradicts itself.
    func next(
        after request: PageRequest, _ facts: PageFacts, ordinal: Int, listed: Int, more rule: PageEvidence.Rule = .fail,
        first: PageRequest? = nil, base: String? = nil
    ) throws(PaginationError) -> NextPage {
        var page = FetchedPage(request, facts, ordinal: ordinal, listed: listed)
        (page.more, page.first, page.base) = (rule, first, base)
        return try style.next(after: page)
    }
}

extension PaginationStyle {
    fileprivate func isEqual(to other: any PaginationStyle) -> Bool { other as? Self == self }
}
