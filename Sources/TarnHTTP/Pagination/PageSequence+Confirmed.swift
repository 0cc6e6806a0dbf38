// The last page of a list, confirmed by a 304 that does not say whether it is still the last one.

extension PageSequence {
    /// Returns whether a 304 leaves open that the list goes on behind the current page, at which it
    /// ended.
    ///
    /// The validator of a body does not change if only a header field does. A list that grows
    /// behind a full page gets a `Link`, which a 304 need not have (RFC 9110 §15.4.5).
    ///
    /// - Parameters:
    ///   - facts: the stored facts about the page.
    ///   - headers: the header fields of the 304.
    package func mayGoOn(_ facts: PageFacts, confirmedBy headers: TransportHeaders, answeredBy: String?) -> Bool {
        guard facts.recordCount > 0 else { return false }
        var style = pagination.style
        if let chosen = choice ?? style.choice(at: request, facts), !(chosen.pagination.style is SinglePagePagination) {
            style = chosen.pagination.style
        }
        guard let fields = (style as? any HeaderPagination)?.decidingFields,
            !fields.contains(where: { headers[$0] != nil })
        else { return false }
        guard isFull(facts.recordCount) else { return false }
        return isLast(facts, answeredBy: answeredBy)
    }

    /// Returns whether a page of this many records may be as long as the server makes them.
    ///
    /// The page size is the one that the request names, or the average of the pages before. Without
    /// either it may be what servers choose: at least 10, and a multiple of 5 or 8.
    func isFull(_ count: Int) -> Bool {
        if let size = PageSequence.size(in: request) { return count >= size }
        return isAsLong(as: ordinal - 1, listed, count)
    }

    /// Whether the page before the current one may be as long as the server makes them, or is
    /// unknown.
    ///
    /// The server may give less than the request asks for: the pages before that one decide, too. A
    /// single page is then full if it has a usual number of records.
    var isBehindFullPage: Bool {
        guard let before else { return true }
        let count = before.facts.recordCount, pages = ordinal - 2
        if count == 0 { return false }
        if let size = PageSequence.size(in: before.request) {
            if count >= size { return true }
            if pages < 1 { return [10, 20, 25, 30, 50, 100, 200, 250, 500, 1000].contains(count) }
        }
        return isAsLong(as: pages, listed - count, count)
    }

    /// Returns whether a page has as many records as the average of the pages before it; a single
    /// page, whether it has a number that servers choose.
    private func isAsLong(as pages: Int, _ listed: Int, _ count: Int) -> Bool {
        if pages > 0 { return count >= listed.addingClamped(pages - 1) / pages }
        return count >= 10 && (count % 5 == 0 || count % 8 == 0)
    }

    /// Returns the page size that a request names; nil if it names none.
    static func size(in request: PageRequest) -> Int? {
        let sizes = [
            "per_page", "perpage", "page_size", "pagesize", "limit", "size", "count", "maxresults", "pagelen", "first",
            "top", "$top", "take", "rows", "page[size]", "page[limit]",
            "pagination[pagesize]", "pagination[limit]", "$limit", "resultrecordcount",
        ]
        let named = QueryParameters.values(in: request.url).first { sizes.contains($0.name.lowercased()) }
        return named.flatMap { Int($0.value) }.flatMap { $0 > 0 ? $0 : nil }
    }
}
