// How an endpoint's pages follow each other. Pure: no I/O.

/// The pagination style of an endpoint.
public enum Pagination: Sendable, Hashable {
    /// One request is everything.
    case singlePage
    /// The next page is the target of a `Link` header field with this relation (RFC 8288), usually `next`.
    case headerLink(relation: String = "next")
    /// The next page is a URL in the body: at this path, or in an object there under `href` or `url`.
    case jsonLink(path: String)
    /// A header field has what the next request sends.
    case headerCursor(field: String, sends: ParameterPlace)
    /// The body has what the next request sends.
    case cursor(Cursor)
    /// The next request says how many records go before.
    case offset(Offset)
    /// Pages are numbered.
    case pageNumber(PageNumber)
    /// The next request names a record of this page: those before it (`max_id`), or those after it (`since_id`).
    case recordCursor(RecordCursor)
    /// What the first page looks like decides. ``PageSequence/choice`` says what was chosen, and why.
    case automatic
    /// Whatever a closure says.
    case custom(CustomPagination)

    /// Pages that are numbered in a query parameter.
    public static func pageNumber(parameter: String, start: Int = 1, size: PageSize? = nil) -> Pagination {
        .pageNumber(PageNumber(.query(parameter), start: start, size: size))
    }

    /// Where a request carries what the pagination sends.
    public enum ParameterPlace: Sendable, Hashable, CustomStringConvertible {
        case query(String)
        /// The keys that lead to it in the body.
        case body([String])

        public var description: String {
            switch self {
            case .query(let name): name
            case .body(let keys): keys.joined(separator: ".")
            }
        }
    }

    /// The page size, sent with every request.
    public struct PageSize: Sendable, Hashable {
        /// Where a request carries it.
        public var place: ParameterPlace
        /// Records a page.
        public var value: Int

        public init(_ place: ParameterPlace, _ value: Int) {
            self.place = place
            self.value = value
        }

        public init(parameter: String, value: Int) { self.init(.query(parameter), value) }
    }

    /// A page names the next one by an opaque value of its body.
    public struct Cursor: Sendable, Hashable {
        /// Where the body has it. The walk ends where it is missing, null or empty.
        public var path: String
        /// Where a request carries what leads on.
        public var sends: ParameterPlace
        /// Where the body says whether there is more; false ends the walk.
        public var hasMore: String?
        /// A cursor that means that there is no more, such as `0`.
        public var last: String?
        /// Whether a page without records is the last one, whatever it says.
        public var endsAtEmptyPage: Bool

        public init(
            path: String, sends: ParameterPlace, hasMore: String? = nil, last: String? = nil, endsAtEmptyPage: Bool = false
        ) {
            self.path = path
            self.sends = sends
            self.hasMore = hasMore
            self.last = last
            self.endsAtEmptyPage = endsAtEmptyPage
        }
    }

    /// When numbered pages end, if the server does not say how many there are.
    public enum End: String, Sendable, Hashable, CaseIterable {
        /// At a page with fewer records than were asked for, or without any.
        case short
        /// At a page without records: for servers whose pages may have fewer.
        case empty
    }

    /// A request says how many records come before its page.
    public struct Offset: Sendable, Hashable {
        /// Where a request carries what leads on.
        public var sends: ParameterPlace
        /// Of the first page.
        public var start: Int
        /// Nil to leave the size of pages to the server.
        public var size: PageSize?
        /// Where the body says how many records there are in all.
        public var total: String?
        /// Where the body says whether there is more; false ends the walk.
        public var hasMore: String?
        /// When the pages end, if the body does not say it.
        public var end: End

        public init(
            _ sends: ParameterPlace, start: Int = 0, size: PageSize? = nil, total: String? = nil, hasMore: String? = nil, end: End = .short
        ) {
            self.sends = sends
            self.start = start
            self.size = size
            self.total = total
            self.hasMore = hasMore
            self.end = end
        }
    }

    /// A request says the number of its page.
    public struct PageNumber: Sendable, Hashable {
        /// Where a request carries what leads on.
        public var sends: ParameterPlace
        /// The number of the first page: 1, or 0.
        public var start: Int
        /// Nil to leave the size of pages to the server.
        public var size: PageSize?
        /// Where the body says how many pages there are.
        public var totalPages: String?
        /// Where the body says how many records there are in all.
        public var total: String?
        /// Where the body says whether there is more; false ends the walk.
        public var hasMore: String?
        /// When the pages end, if the body does not say it.
        public var end: End

        public init(
            _ sends: ParameterPlace, start: Int = 1, size: PageSize? = nil, totalPages: String? = nil, total: String? = nil,
            hasMore: String? = nil, end: End = .short
        ) {
            self.sends = sends
            self.start = start
            self.size = size
            self.totalPages = totalPages
            self.total = total
            self.hasMore = hasMore
            self.end = end
        }
    }

    /// A request names a record of the page before: `max_id`, `since_id`.
    public struct RecordCursor: Sendable, Hashable {
        /// In which order the server lists.
        public enum Direction: String, Sendable, Hashable {
            /// Newest first: the smallest id of a page leads on (`max_id`).
            case backward
            /// Oldest first: the largest one does (`since_id`).
            case forward
        }

        /// In which order the server lists.
        public var direction: Direction
        /// Where a request carries what leads on.
        public var sends: ParameterPlace
        /// In a record.
        public var path: String
        /// Nil to leave the size of pages to the server.
        public var size: PageSize?
        /// Whether the server lists the named record again: then a number is moved by one.
        public var includesNamed: Bool

        public init(
            _ direction: Direction, sends: ParameterPlace, path: String = "id", size: PageSize? = nil, includesNamed: Bool = false
        ) {
            self.direction = direction
            self.sends = sends
            self.path = path
            self.size = size
            self.includesNamed = includesNamed
        }
    }

    /// As a description names it.
    var name: String {
        switch self {
        case .singlePage: "single_page"
        case .headerLink: "header_link"
        case .jsonLink: "json_link"
        case .headerCursor: "header_cursor"
        case .cursor: "cursor"
        case .offset: "offset"
        case .pageNumber: "page_number"
        case .recordCursor(let cursor): cursor.direction == .backward ? "max_id" : "since_id"
        case .automatic: "auto"
        case .custom(let custom): custom.name
        }
    }

    /// What is needed of a page to find the next one.
    public var wants: PageWants {
        switch self {
        case .singlePage, .headerLink, .automatic: PageWants()
        case .jsonLink(let path): PageWants(values: [path, path + ".href", path + ".url"])
        case .headerCursor(let field, _): PageWants(fields: [field])
        case .cursor(let cursor): PageWants(values: [cursor.path, cursor.hasMore].compactMap(\.self))
        case .offset(let offset):
            PageWants(values: [offset.total, offset.hasMore].compactMap(\.self), fields: PageCounts.fields)
        case .pageNumber(let pages):
            PageWants(values: [pages.totalPages, pages.total, pages.hasMore].compactMap(\.self), fields: PageCounts.fields)
        case .recordCursor(let cursor): PageWants(record: cursor.path)
        case .custom(let custom): custom.wants
        }
    }

    /// Whether the next page is counted out here: a server that does not look at the number would give the same page for ever.
    var isCounted: Bool {
        switch self {
        case .offset, .pageNumber, .recordCursor, .custom: true
        default: false
        }
    }

    /// Whether header fields alone decide which page is next: then it can be asked for before this one is read.
    public var needsHeadersOnly: Bool {
        switch self {
        case .singlePage, .headerLink, .headerCursor: true
        default: false
        }
    }
}
