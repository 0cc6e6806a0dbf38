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
        var position = position
        if position == nil {
            let request = PageRequest(url: url, body: request.body)
            let style = (pagination.style.choice(at: request, facts)?.pagination ?? pagination).style
            position = style.position(of: request, facts)
        }
        try resume(at: url, ordinal: max(1, position?.ordinal ?? 1), listed: max(0, position?.listed ?? 0))
    }
}
