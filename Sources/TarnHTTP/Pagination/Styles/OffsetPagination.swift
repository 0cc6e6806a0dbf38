/// The style `offset`: a request specifies the number of records to skip.
struct OffsetPagination: LastingStyle {
    static let syntax = PaginationSyntax(
        "offset",
        keys: [
            .parameter(), .number("start", minimum: 0), .pageSize("per_page"), .path("total"), .path("has_more"),
            .path("is_last"), .word("end", among: Pagination.End.allCases.map(\.rawValue)), .text("text"),
        ],
        needs: "its parameter: write { offset: { param: offset } }", make: OffsetPagination.init(values:))

    /// The parameter that carries the offset.
    var sends: Pagination.ParameterPlace
    /// The offset of the first page.
    var start: Int
    /// The page size; nil for the server's default.
    var size: Pagination.PageSize?
    /// The path of the total number of records in the body.
    var total: String?
    /// The flag that tells whether another page follows; nil without one.
    var hasMore: MoreFlag?
    /// The end of the pages if the body has no count and no flag.
    var end: Pagination.End
    /// The text around the offset in its parameter, as in a query; nil for the offset alone.
    var text: OffsetText?

    var name: String { "offset" }
    var wants: PageWants { PageWants(values: [total, hasMore?.path].compactMap(\.self), fields: PageCounts.fields) }
    var parameters: [Pagination.ParameterPlace] { [sends] + (size.map { [$0.place] } ?? []) }
    var passedOver: (records: Int, pages: Int) { (start > 1 ? start : 0, 0) }

    func firstPage(of request: PageRequest) -> PageRequest {
        let first = text?.text(start) ?? String(start)
        return request.setting(sends, to: first, isNumber: text == nil).sized(size)
    }

    func next(after page: FetchedPage) throws(PaginationError) -> NextPage {
        let facts = page.facts
        let counts = PageCounts(facts, total: total, totalPages: nil, hasMore: hasMore)
        let current = offset(page.request) ?? start
        if try !counts.goesOn(facts, size: size, end: end, listed: page.listed, pages: page.ordinal) {
            // A server that caps the page size ends every scan at its first page, unless the page
            // has a declared count or other evidence.
            guard facts.recordCount > 0, counts.isUndecided, let size, facts.recordCount < size.value,
                PageEvidence.find(facts, .init(by: self, page, first: page.request.without(sends)), page.more) != nil
            else { return .end }
        }
        // The step is the number of listed records: a server that caps the page size must not cause
        // a gap.
        let step = facts.recordCount > 0 ? facts.recordCount : size?.value ?? 1
        let (sum, overflows) = current.addingReportingOverflow(step)
        guard !overflows else { throw .beyondCounting(value: String(current), url: page.request.url) }
        return try page.next(setting: sends, to: text?.text(sum) ?? String(sum), isNumber: text == nil)
    }

    /// The offset that a request sends; nil if it sends none.
    private func offset(_ request: PageRequest) -> Int? {
        guard let value = request.value(at: sends) else { return nil }
        return text.map { $0.offset(in: value) } ?? Int(value)
    }

    func isDeclaredLast(_ facts: PageFacts) -> Bool { hasMore?.value(facts) == false }

    func position(of request: PageRequest, _ facts: PageFacts) -> (ordinal: Int, listed: Int)? {
        guard let number = offset(request), number >= start,
            let before = number.steps(from: start, by: 1)
        else { return nil }
        let pages = number.steps(from: start, by: size?.value ?? max(1, facts.recordCount)) ?? 0
        return (pages < Int.max ? pages + 1 : pages, before)
    }
}

extension OffsetPagination: TotalPagination {
    func announcesNext(_ facts: PageFacts) -> Bool { hasMore?.value(facts) == true }
}

extension OffsetPagination: ReversiblePagination {
    // The page may overlap with the current one if the first offset is nearer than a page.
    func previous(before page: FetchedPage) -> PreviousPage {
        guard let current = offset(page.request), current > start else { return .none }
        guard text == nil else { return .unknown("the offset is a part of a query") }
        let step = size?.value ?? page.facts.recordCount
        guard step > 0 else { return .unknown("the page has no records: the size of the previous page is unknown") }
        return PreviousPage(page, setting: sends, to: max(start, current.subtractingClamped(step)))
    }
}

extension OffsetPagination {
    init(values: PaginationValues) throws(PaginationProblem) {
        sends = try values.parameter()
        start = values.number("start") ?? 0
        size = values.pageSize("per_page")
        total = values.text("total")
        hasMore = try values.moreFlag()
        end = values.text("end").flatMap(Pagination.End.init(rawValue:)) ?? .short
        guard let text = values.text("text") else { return }
        self.text = OffsetText(text)
        if self.text == nil { throw PaginationProblem("text", "write {value} in it once: the place of the offset") }
    }
}

extension OffsetPagination: CustomStringConvertible {
    // The text is stored with the progress of scans. Without `text`, it is that of older stores.
    var description: String {
        "OffsetPagination(sends: \(sends), start: \(start), size: \(String(reflecting: size)), "
            + "total: \(String(reflecting: total)), hasMore: \(String(reflecting: hasMore)), "
            + "end: \(String(reflecting: end))\(text.map { ", text: \($0)" } ?? ""))"
    }
}

extension Pagination {
    /// The next request specifies the number of records to skip.
    ///
    /// - Parameters:
    ///   - sends: the parameter that carries the offset.
    ///   - start: the offset of the first page.
    ///   - size: the page size; nil for the server's default.
    ///   - total: the path of the total number of records in the body.
    ///   - hasMore: the path of a flag for more records; false ends the scan.
    ///   - isLast: in place of `hasMore`, the path of a flag that marks the last page.
    ///   - end: the end of the pages if the body has no count and no flag.
    public static func offset(
        _ sends: ParameterPlace, start: Int = 0, size: PageSize? = nil, total: String? = nil, hasMore: String? = nil,
        isLast: String? = nil, end: End = .short
    ) -> Pagination {
        Pagination(
            OffsetPagination(
                sends: sends, start: start, size: size, total: total,
                hasMore: MoreFlag(hasMore: hasMore, isLast: isLast), end: end))
    }
}
