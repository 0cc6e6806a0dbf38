// The page before a page, for lists that are loaded in both directions.

extension PageSequence {
    /// The predecessor of the current page.
    package enum Preceding: Sendable, Hashable {
        /// The request for the page.
        case page(PageRequest)
        /// The current page is the first one.
        case none
        /// The page cannot be requested, for a reason.
        case unknown(String)
    }

    /// Returns the predecessor of the current page.
    ///
    /// A `Link` field with `rel=prev` decides, then the style: it computes page numbers and
    /// offsets, and reads links in the body. Cursors lead forward only.
    ///
    /// - Parameters:
    ///   - facts: the facts about the current page.
    ///   - answeredBy: the URL that links are relative to, if it is not `url`.
    package func preceding(_ facts: PageFacts, answeredBy: String? = nil) -> Preceding {
        let target =
            LinkHeader.target(relation: "prev", in: facts.headers)
            ?? LinkHeader.target(relation: "previous", in: facts.headers)
        if let target { return page(at: target, relativeTo: answeredBy) }
        let style = (choice ?? pagination.style.choice(at: request, facts))?.pagination.style ?? pagination.style
        var found = PreviousPage.unknown(
            "the server links no previous page, and the style \(style.name) computes only the next one")
        if let style = style as? any ReversiblePagination {
            found = style.previous(before: FetchedPage(request, facts, ordinal: ordinal, listed: listed))
        }
        switch found {
        case .previous(let reference): return page(at: reference, relativeTo: answeredBy)
        case .previousBody(let body): return .page(PageRequest(url: request.url, body: body))
        case .none: return .none
        case .unknown(let reason): return isAtFirstPage ? .none : .unknown(reason)
        }
    }

    private func page(at reference: String, relativeTo url: String?) -> Preceding {
        do throws(PaginationError) {
            let url = try bounds.permitted(reference, relativeTo: url ?? request.url)
            return .page(PageRequest(url: url, body: request.body))
        } catch {
            return .unknown("the link to the previous page cannot be followed: \(error)")
        }
    }
}
