// The successor of the current page by the style of the list, before any guard.

extension PageSequence {
    /// Returns the successor of the current page by a style.
    ///
    /// - Parameter listed: the number of records listed so far, this page included.
    func successor(
        _ facts: PageFacts, _ pagination: Pagination, listed: Int
    ) throws(PaginationError) -> NextPage {
        try pagination.next(
            after: request, facts, ordinal: ordinal, listed: listed, more: bounds.more, first: first,
            base: bounds.base)
    }

    /// Returns a request with its URL at the API's base, or where links may lead.
    func permitted(_ page: PageRequest, relativeTo url: String) throws(PaginationError) -> PageRequest {
        PageRequest(url: try bounds.permitted(page.url, relativeTo: url), body: page.body)
    }

    /// Whether pages list records again, with further parts of them.
    package var repeatsRecords: Bool { (choice?.pagination ?? pagination).repeatsRecords }

    /// The number of pages in a row that may list the records of the page before.
    ///
    /// Further parts of the same records may take many pages: MediaWiki gives 10 categories of 50
    /// pages at a time.
    static func mostRepeated(_ pagination: Pagination) -> Int {
        pagination.repeatsRecords ? 25 * mostRepeated : mostRepeated
    }
}
