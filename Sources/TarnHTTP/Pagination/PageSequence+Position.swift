// Positions of pages that were not reached from the page before.

extension PageSequence {
    /// Moves to a page that was not reached from the page before.
    ///
    /// - Parameters:
    ///   - url: the URL of the page, at the API's base or where links may lead.
    ///   - position: the ordinal of the page, counted from 1, and the number of records on the
    ///     pages before it; nil if unknown.
    ///   - facts: the facts about the page. Without a position, they and a page number or an offset
    ///     in the request give it as far as possible.
    /// - Throws: `PaginationError.malformed` or `.foreign`.
    package mutating func move(to url: String, position: (ordinal: Int, listed: Int)?, _ facts: PageFacts)
        throws(PaginationError)
    {
        var place = position
        if place == nil {
            let request = PageRequest(url: url, body: request.body)
            let style = pagination == .automatic ? AutomaticPagination.choose(request, facts).pagination : pagination
            place = style.position(of: request, facts)
        }
        try resume(at: url, ordinal: max(1, place?.ordinal ?? 1), listed: max(0, place?.listed ?? 0))
    }
}

extension Pagination {
    /// Returns the ordinal of a page and the number of records on the pages before it.
    ///
    /// Returns nil if the request does not reveal them.
    fileprivate func position(of request: PageRequest, _ facts: PageFacts) -> (ordinal: Int, listed: Int)? {
        /// Returns the number of whole steps from a start to a number, or nil.
        func steps(_ number: Int, from start: Int, by size: Int) -> Int? {
            let (distance, overflow) = number.subtractingReportingOverflow(start)
            guard !overflow, distance >= 0, size > 0 else { return nil }
            return distance / size
        }
        switch self {
        case .offset(let offset):
            guard let number = request.value(at: offset.sends).flatMap({ Int($0) }), number >= offset.start,
                let before = steps(number, from: offset.start, by: 1)
            else { return nil }
            let pages = steps(number, from: offset.start, by: offset.size?.value ?? max(1, facts.recordCount)) ?? 0
            return (pages < Int.max ? pages + 1 : pages, before)
        case .pageNumber(let pages):
            guard let number = request.value(at: pages.sends).flatMap({ Int($0) }),
                let before = steps(number, from: pages.start, by: 1)
            else {
                return nil
            }
            let (listed, overflow) = before.multipliedReportingOverflow(by: pages.size?.value ?? facts.recordCount)
            return (before < Int.max ? before + 1 : before, overflow ? Int.max / 2 : listed)
        default: return nil
        }
    }
}
