// How an endpoint's pages follow each other. Pure: no I/O.

/// The pagination style of an endpoint.
public enum Pagination: Sendable, Hashable {
    /// One request is everything.
    case singlePage
    /// The next page is the target of a `Link` header field with this relation (RFC 8288), usually `next`.
    case headerLink(relation: String = "next")
    /// Pages are numbered in a query parameter.
    ///
    /// The walk ends at an empty page, or, if the page size is known, at a page with fewer records.
    case pageNumber(parameter: String, start: Int = 1, size: PageSize? = nil)

    /// The page size, sent as a query parameter.
    public struct PageSize: Sendable, Hashable {
        public var parameter: String
        public var value: Int

        public init(parameter: String, value: Int) {
            self.parameter = parameter
            self.value = value
        }
    }
}
