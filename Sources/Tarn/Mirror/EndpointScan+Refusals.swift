// The decision about the response to a request for a page, and the end of a list at a refused page.

import TarnHTTP
import TarnStore

extension EndpointScan {
    /// The decision about a response, with regard to the pages of the list.
    enum PageDecision {
        case notModified
        case records(isEmpty: Bool)
        /// The scan continues at another page, and this response is dropped.
        case again
        /// The value of an incremental scan is no longer valid.
        case expired
        /// The server refuses the page with which an interrupted scan goes on.
        case unknownPosition
        case ignored
        /// The previous page was the last one.
        case last
        /// A rule takes the refusal of the page for the end of the list.
        case stopped
    }

    func decision(about response: TransportResponse, _ list: ListScan) throws -> PageDecision {
        switch request.decision(about: response, sent: client.headers(endpoint.headers)) {
        // `If-Modified-Since` of the description: nothing has changed, and no stored page is meant.
        case .notModified where list.target.request.sinceField != nil: return .records(isEmpty: true)
        case .notModified: return .notModified
        case .records(let isEmpty): return .records(isEmpty: isEmpty)
        case .ignored: return .ignored
        case .last:
            // A first page has none before it: the list may have moved, or be out of reach.
            let isWhole = syncRun != nil && givenParents == nil && !endpoint.hasSeveralLists
            guard list.pages.ordinal > 1 || !isWhole else {
                throw MirrorError.status(
                    code: response.status, method: endpoint.method, url: shownURL,
                    message: "`then: stop` is for pages behind the first one. \(response.refusalMessage)")
            }
            return response.status >= 400 && list.pages.ordinal > 1 ? .stopped : .last
        case .failed(let message):
            throw MirrorError.status(
                code: response.status, method: endpoint.method, url: shownURL,
                message: message ?? response.refusalMessage)
        case .refused:
            if try list.pages.restart(afterStatus: response.status) { return .again }
            if list.pages.isEnd(afterStatus: response.status) { return .last }
            if list.target.request.since != wholeSince, list.target.checkpoint.pages == 0, !list.hasFirstValue,
                endpoint.incremental?.refusals.contains(where: { $0.contains(response.status) }) == true
            {
                return .expired
            }
            if refusesPosition(response, list) { return .unknownPosition }
            let hints = [list.pages.hint(afterStatus: response.status), hint(forContinued: list, response.status)]
            throw MirrorError.refusal(
                response, method: endpoint.method, url: shownURL,
                message: ([response.refusalMessage] + hints.compactMap(\.self)).filter { !$0.isEmpty }
                    .joined(separator: "; "))
        }
    }

    /// Ends a list at a refused page that a rule takes for its end (`then: stop`), unless the pages
    /// before show that it goes on.
    ///
    /// - Returns: true if the list begins anew: the page of an interrupted scan may be gone.
    func stop(_ list: ListScan, refusedBy response: TransportResponse) async throws -> Bool {
        let end = list.pages.refusedEnd
        if end != .end, refusesPosition(response, list), endpoint.limits.part == nil {
            try await giveUpPosition(list)
            return true
        }
        switch end {
        case .end: try complete(list, isCutOff: false)
        case .inDoubt: try complete(list, isCutOff: false, doubt: .refusal(status: response.status))
        case .more(let evidence):
            // The next scan begins anew: the description may name another rule by then.
            list.target.checkpoint.nextURL = nil
            batch.add(list.target.checkpoint, list.target.name, of: list.index)
            let message = response.refusalMessage
            throw MirrorError.status(
                code: response.status, method: endpoint.method, url: shownURL,
                message: list.pages.contradiction(evidence, place: request.place)
                    + (message.isEmpty ? "" : ". The server: \(message)"))
        }
        return false
    }
}
