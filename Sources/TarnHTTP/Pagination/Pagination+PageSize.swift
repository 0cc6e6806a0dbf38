extension Pagination {
    /// The page size, sent with every request.
    public struct PageSize: Sendable, Hashable {
        /// The parameter that carries the page size.
        package var place: ParameterPlace
        /// The number of records per page.
        package var value: Int

        /// Creates a page size.
        public init(_ place: ParameterPlace, _ value: Int) {
            self.place = place
            self.value = value
        }

        /// Creates a page size that a query parameter carries.
        package init(parameter: String, value: Int) { self.init(.query(parameter), value) }
    }

    /// The end of numbered pages if the server does not report their number.
    public enum End: String, Sendable, Hashable, CaseIterable {
        /// A page with fewer records than the page size, or with none.
        case short
        /// A page without records: for servers whose pages may be short.
        case empty
        /// A page with the records of the page before: for servers that answer to all larger
        /// numbers with the last page.
        case repeated
    }
}
