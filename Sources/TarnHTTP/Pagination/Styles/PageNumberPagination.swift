/// The style `page_number`: a request specifies a page number.
struct PageNumberPagination: LastingStyle {
    static let syntax = PaginationSyntax(
        "page_number",
        keys: [
            .parameter(example: "page"), .number("start", minimum: 0), .pageSize("per_page"), .path("total_pages"),
            .path("total"), .path("has_more"), .path("is_last"),
            .word("end", among: Pagination.End.allCases.map(\.rawValue)),
        ],
        needs: "its parameter: write { page_number: { param: page } }", make: PageNumberPagination.init(values:))

    /// The parameter that carries the page number.
    var sends: Pagination.ParameterPlace
    /// The number of the first page, usually 1 or 0.
    var start: Int
    /// The page size; nil for the server's default.
    var size: Pagination.PageSize?
    /// The path of the number of pages in the body.
    var totalPages: String?
    /// The path of the total number of records in the body.
    var total: String?
    /// The flag that tells whether another page follows; nil without one.
    var hasMore: MoreFlag?
    /// The end of the pages if the body has no count and no flag.
    var end: Pagination.End

    var name: String { "page_number" }
    var wants: PageWants {
        PageWants(values: [totalPages, total, hasMore?.path].compactMap(\.self), fields: PageCounts.fields)
    }
    // Without an end in the body no more is required than was stored before there were other
    // styles.
    var storedWants: PageWants {
        let wants = wants
        return wants.values.isEmpty ? PageWants() : wants
    }
    var parameters: [Pagination.ParameterPlace] { [sends] + (size.map { [$0.place] } ?? []) }
    var passedOver: (records: Int, pages: Int) { (0, start > 1 ? start - 1 : 0) }

    func firstPage(of request: PageRequest) -> PageRequest {
        request.setting(sends, to: String(start), isNumber: true).sized(size)
    }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        let facts = page.facts, counts = PageCounts(facts, total: total, totalPages: totalPages, hasMore: hasMore)
        // The number in the request takes precedence over the ordinal: a resumed scan does not
        // start at the first page.
        let current = page.request.value(at: sends).flatMap { Int($0) } ?? start.addingClamped(page.ordinal - 1)
        let taken = current.subtractingClamped(start).addingClamped(1)
        if counts.isUndecided, PageCounts.endsByHeader(facts, listed: page.listed, pages: taken) { return .end }
        guard try counts.goesOn(facts, size: size, end: end, listed: page.listed, pages: taken) else {
            // If the server caps the page size, its page numbers may assume a size that it does not
            // return: the next page could leave a gap.
            if page.ordinal == 1, facts.recordCount > 0, counts.isUndecided, let size, facts.recordCount < size.value,
                let evidence = PageEvidence.find(
                    facts, .init(by: self, page, first: page.request.without(sends)), page.more)
            {
                throw .shrunk(
                    listed: facts.recordCount,
                    hint: "\(size.value) were asked for, and \(evidence). It may give less than it is asked for: "
                        + "ask for a smaller page, or write end: empty")
            }
            return .end
        }
        guard current < .max else { throw .beyondCounting(value: String(current), url: page.request.url) }
        return try page.next(setting: sends, to: String(current + 1), isNumber: true)
    }

    func isDeclaredLast(_ facts: PageFacts) -> Bool { hasMore?.value(facts) == false }

    func position(of request: PageRequest, _ facts: PageFacts) -> (ordinal: Int, listed: Int)? {
        guard let number = request.value(at: sends).flatMap({ Int($0) }), let before = number.steps(from: start, by: 1)
        else { return nil }
        let (listed, overflow) = before.multipliedReportingOverflow(by: size?.value ?? facts.recordCount)
        return (before < Int.max ? before + 1 : before, overflow ? Int.max / 2 : listed)
    }
}

extension PageNumberPagination: TotalPagination {
    func announcesNext(_ facts: PageFacts) -> Bool {
        // If the page has a successor, the number of pages is larger than its own.
        hasMore?.value(facts) == true || facts.number(totalPages).map { $0 > 0 } ?? false
    }
}

extension PageNumberPagination: ReversiblePagination {
    func previous(before page: FetchedPage) -> PreviousPage {
        guard let current = page.request.value(at: sends).flatMap({ Int($0) }), current > start else { return .none }
        return PreviousPage(page, setting: sends, to: current - 1)
    }
}

extension PageNumberPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        sends = try values.parameter()
        start = values.number("start") ?? 1
        size = values.pageSize("per_page")
        totalPages = values.text("total_pages")
        total = values.text("total")
        hasMore = try values.moreFlag()
        end = values.text("end").flatMap(Pagination.End.init(rawValue:)) ?? .short
    }
}

extension Pagination {
    /// Pages are numbered.
    ///
    /// - Parameters:
    ///   - sends: the parameter that carries the page number.
    ///   - start: the number of the first page, usually 1 or 0.
    ///   - size: the page size; nil for the server's default.
    ///   - totalPages: the path of the number of pages in the body.
    ///   - total: the path of the total number of records in the body.
    ///   - hasMore: the path of a flag for more records; false ends the scan.
    ///   - isLast: in place of `hasMore`, the path of a flag that marks the last page.
    ///   - end: the end of the pages if the body has no count and no flag.
    public static func pageNumber(
        _ sends: ParameterPlace, start: Int = 1, size: PageSize? = nil, totalPages: String? = nil,
        total: String? = nil, hasMore: String? = nil, isLast: String? = nil, end: End = .short
    ) -> Pagination {
        Pagination(
            PageNumberPagination(
                sends: sends, start: start, size: size, totalPages: totalPages, total: total,
                hasMore: MoreFlag(hasMore: hasMore, isLast: isLast), end: end))
    }

    /// Pages are numbered in a query parameter.
    package static func pageNumber(parameter: String, start: Int = 1, size: PageSize? = nil) -> Pagination {
        pageNumber(.query(parameter), start: start, size: size)
    }
}
