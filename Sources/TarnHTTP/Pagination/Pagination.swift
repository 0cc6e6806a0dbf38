// The pagination styles of endpoints. Pure: no I/O.

/// The pagination style of an endpoint.
public enum Pagination: Sendable, Hashable {
    /// One request returns all records.
    case singlePage
    /// The next page is the target of a `Link` header field with this relation type (RFC 8288).
    case headerLink(relation: String = "next")
    /// The next page is a URL in the body: a text, or `href` or `url` of an object.
    case jsonLink(path: String)
    /// A header field has the cursor that the next request sends.
    case headerCursor(field: String, sends: ParameterPlace)
    /// The body has the cursor that the next request sends.
    case cursor(Cursor)
    /// The next request specifies the number of records to skip.
    case offset(Offset)
    /// Pages are numbered.
    case pageNumber(PageNumber)
    /// The next request names a record of this page.
    ///
    /// It lists the records before that record (`max_id`) or after it (`since_id`).
    case recordCursor(RecordCursor)
    /// The first page determines the style. ``PageSequence/choice`` has it, with the reason.
    case automatic
    /// A closure determines the next page.
    case custom(CustomPagination)

    /// Returns the style of pages that are numbered in a query parameter.
    public static func pageNumber(parameter: String, start: Int = 1, size: PageSize? = nil) -> Pagination {
        .pageNumber(PageNumber(.query(parameter), start: start, size: size))
    }

    /// The place of a parameter in a request.
    public enum ParameterPlace: Sendable, Hashable, CustomStringConvertible {
        /// The query parameter with this name.
        case query(String)
        /// The member of the body at this path of keys.
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
        /// The parameter that carries the page size.
        public var place: ParameterPlace
        /// The number of records per page.
        public var value: Int

        /// Creates a page size.
        public init(_ place: ParameterPlace, _ value: Int) {
            self.place = place
            self.value = value
        }

        /// Creates a page size that a query parameter carries.
        public init(parameter: String, value: Int) { self.init(.query(parameter), value) }
    }

    /// A style in which the body names the next page by an opaque value.
    public struct Cursor: Sendable, Hashable {
        /// The path of the cursor in the body. The scan ends if it is missing, null or empty.
        public var path: String
        /// The parameter that carries the cursor.
        public var sends: ParameterPlace
        /// The path of a flag for more records; false ends the scan.
        public var hasMore: String?
        /// The cursor that marks the last page, such as `0`.
        public var last: String?
        /// Whether a page without records is the last one, regardless of its cursor.
        public var endsAtEmptyPage: Bool

        /// Creates a cursor style.
        public init(
            path: String, sends: ParameterPlace, hasMore: String? = nil, last: String? = nil,
            endsAtEmptyPage: Bool = false
        ) {
            self.path = path
            self.sends = sends
            self.hasMore = hasMore
            self.last = last
            self.endsAtEmptyPage = endsAtEmptyPage
        }
    }

    /// The end of numbered pages if the server does not report their number.
    public enum End: String, Sendable, Hashable, CaseIterable {
        /// A page with fewer records than the page size, or with none.
        case short
        /// A page without records: for servers whose pages may be short.
        case empty
    }

    /// A style in which a request specifies the number of records to skip.
    public struct Offset: Sendable, Hashable {
        /// The parameter that carries the offset.
        public var sends: ParameterPlace
        /// The offset of the first page.
        public var start: Int
        /// The page size; nil for the server's default.
        public var size: PageSize?
        /// The path of the total number of records in the body.
        public var total: String?
        /// The path of a flag for more records; false ends the scan.
        public var hasMore: String?
        /// The end of the pages if the body has no count and no flag.
        public var end: End

        /// Creates an offset style.
        public init(
            _ sends: ParameterPlace, start: Int = 0, size: PageSize? = nil, total: String? = nil,
            hasMore: String? = nil, end: End = .short
        ) {
            self.sends = sends
            self.start = start
            self.size = size
            self.total = total
            self.hasMore = hasMore
            self.end = end
        }
    }

    /// A style in which a request specifies a page number.
    public struct PageNumber: Sendable, Hashable {
        /// The parameter that carries the page number.
        public var sends: ParameterPlace
        /// The number of the first page, usually 1 or 0.
        public var start: Int
        /// The page size; nil for the server's default.
        public var size: PageSize?
        /// The path of the number of pages in the body.
        public var totalPages: String?
        /// The path of the total number of records in the body.
        public var total: String?
        /// The path of a flag for more records; false ends the scan.
        public var hasMore: String?
        /// The end of the pages if the body has no count and no flag.
        public var end: End

        /// Creates a page number style.
        public init(
            _ sends: ParameterPlace, start: Int = 1, size: PageSize? = nil, totalPages: String? = nil,
            total: String? = nil,
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

    /// A style in which a request names a record of the page before: `max_id`, `since_id`.
    public struct RecordCursor: Sendable, Hashable {
        /// The order in which the server lists records.
        public enum Direction: String, Sendable, Hashable {
            /// Newest first: the next request names the smallest id of the page (`max_id`).
            case backward
            /// Oldest first: the next request names the largest id of the page (`since_id`).
            case forward
        }

        /// The order in which the server lists records.
        public var direction: Direction
        /// The parameter that names the record.
        public var sends: ParameterPlace
        /// The path of the id in a record.
        public var path: String
        /// The page size; nil for the server's default.
        public var size: PageSize?
        /// Whether the server lists the named record again. If so, a numeric id is moved by one.
        public var includesNamed: Bool

        /// Creates a record cursor style.
        public init(
            _ direction: Direction, sends: ParameterPlace, path: String = "id", size: PageSize? = nil,
            includesNamed: Bool = false
        ) {
            self.direction = direction
            self.sends = sends
            self.path = path
            self.size = size
            self.includesNamed = includesNamed
        }
    }

    /// The name of the style in a description.
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

    /// The parts of a page that determine the next one.
    public var wants: PageWants {
        switch self {
        case .singlePage, .headerLink, .automatic: PageWants()
        case .jsonLink(let path): PageWants(values: [path, path + ".href", path + ".url"])
        case .headerCursor(let field, _): PageWants(fields: [field])
        case .cursor(let cursor): PageWants(values: [cursor.path, cursor.hasMore].compactMap(\.self))
        case .offset(let offset):
            PageWants(values: [offset.total, offset.hasMore].compactMap(\.self), fields: PageCounts.fields)
        case .pageNumber(let pages):
            PageWants(
                values: [pages.totalPages, pages.total, pages.hasMore].compactMap(\.self), fields: PageCounts.fields)
        case .recordCursor(let cursor): PageWants(record: cursor.path)
        case .custom(let custom): custom.wants
        }
    }

    /// Whether the client computes the next request.
    ///
    /// A server that ignores its parameters would return the same page for ever.
    var isCounted: Bool {
        switch self {
        case .offset, .pageNumber, .recordCursor, .custom: true
        default: false
        }
    }

    /// Whether header fields alone determine the next page.
    ///
    /// If so, the next page can be requested before this one is read.
    public var needsHeadersOnly: Bool {
        switch self {
        case .singlePage, .headerLink, .headerCursor: true
        default: false
        }
    }
}
