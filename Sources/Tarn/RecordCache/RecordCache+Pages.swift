// Pagination of a cache: from a response, fresh or stored, to the request for the next page.

import TarnHTTP
import TarnStore

extension PreparedRequest {
    /// The request for the page after this one; nil after the last page.
    func next(_ end: PageEnd) -> CacheRequest? { following(end).next }

    /// The request for the page after this one, nil after the last page; whether the list was cut
    /// off at a limit, or may go on behind its end; and the reason why it may.
    func following(_ end: PageEnd) -> (next: CacheRequest?, isCutOff: Bool, doubt: EndDoubt?) {
        var next = CacheRequest(endpoint.name, parameters: endpoint.parameters, url: "", parent: request.parent?.key)
        do throws(PaginationError) {
            var pages = pages
            // A position known from the requests so far has precedence over the stored one.
            if !isPositioned {
                try pages.move(to: url, position: end.position.map { ($0.page, $0.recordsBefore) }, end.facts)
            }
            guard try pages.advance(end.facts, answeredBy: end.answeredBy) else {
                return (nil, pages.isCutOff || pages.doubt != nil, pages.doubt)
            }
            next.url = pages.url
            next.continuation = .page(pages)
        } catch {
            next.continuation = .failure(error, place: endpoint.place)
        }
        return (next, false, nil)
    }

    /// Returns whether a 304 leaves open that the list goes on behind this page, at which it ended.
    func mayGoOn(_ stored: ResponseEntry, confirmedBy headers: TransportHeaders) -> Bool {
        let facts = stored.pageFacts
        var pages = pages
        if !isPositioned {
            let position = stored.listing.position.map { ($0.page, $0.recordsBefore) }
            // A URL that is no page of the list has no next page either.
            guard (try? pages.move(to: url, position: position, facts)) != nil else { return false }
        }
        return pages.mayGoOn(facts, confirmedBy: headers, answeredBy: stored.validation.answeredBy)
    }

    /// Returns how a list ends at this page, whose refusal a rule takes for its end.
    ///
    /// - Throws: `MirrorError.refusal` if the pages before show that the list goes on.
    func ending(refusedBy response: TransportResponse) throws -> Transfer.Ending {
        // The pages before are unknown.
        guard isPositioned else { return response.status < 400 ? .last : .inDoubt }
        return try request.ending(of: pages, refusedBy: response)
    }

    /// The page before this one.
    func preceding(_ end: PageEnd) -> PageSequence.Preceding {
        var pages = pages
        if !isPositioned {
            try? pages.move(to: url, position: end.position.map { ($0.page, $0.recordsBefore) }, end.facts)
        }
        return pages.preceding(end.facts, answeredBy: end.answeredBy)
    }
}

extension EndpointRequest {
    /// Returns how the list of a typed request ends at a page whose refusal a rule takes for its
    /// end. Servers refuse deep pages with the same status as those behind the last one.
    ///
    /// - Throws: `MirrorError.refusal` if the pages before show that the list goes on.
    func ending(of pages: PageSequence, refusedBy response: TransportResponse) throws -> Transfer.Ending {
        guard response.status >= 400, pages.ordinal > 1 else { return .last }
        switch pages.refusedEnd {
        case .end: return .last
        case .inDoubt: return .inDoubt
        case .more(let evidence):
            let sign = evidence.map { "\($0)" } ?? "the page before names this one", reason = response.refusalMessage
            throw MirrorError.refusal(
                response, method: endpoint.method, url: Redaction.url(pages.url),
                message: "`stop` takes this for the end of the list, behind \(pages.listed) records, but it goes on: "
                    + sign + (reason.isEmpty ? "" : ". The server: \(reason)"))
        }
    }
}

extension RecordCache {
    /// The request that continues a list if the server refuses pages too far in (``DeepPages``).
    ///
    /// - Returns: nil if the list cannot be continued so.
    func restarted(_ prepared: PreparedRequest, afterStatus status: Int) -> PreparedRequest? {
        var pages = prepared.pages
        guard prepared.isPositioned, (try? pages.restart(afterStatus: status)) == true else { return nil }
        return PreparedRequest(
            prepared.request, at: pages, isPositioned: true, directives: prepared.directives, options: prepared.options)
    }

    /// The stored request that replaces one for a refused page; nil if there is none.
    ///
    /// The list was begun anew with it because the server refuses this page.
    func begunAnew(_ prepared: PreparedRequest) throws -> PreparedRequest? {
        guard let status = prepared.endpoint.deep?.statuses.first?.lowerBound,
            let again = restarted(prepared, afterStatus: status)
        else { return nil }
        return try store.read { reader in
            let isRefused =
                try reader.access.responses.view(prepared.digest) == nil
                && reader.access.responses.view(again.digest) != nil
            return isRefused ? again : nil
        }
    }
}

extension PageSequence {
    /// The position of the requested page in its list; nil for the first page.
    var listPosition: ListPosition? { ordinal > 1 ? ListPosition(page: ordinal, recordsBefore: listed) : nil }
}

extension ResponseView {
    /// The stored facts about the next page, and the metadata that the endpoint declares.
    ///
    /// - Parameter listed: the listed records of the entry.
    func page(_ listed: [ListedRecord]) -> (end: PageEnd, kept: [String: String]) {
        let metadata = PageMetadata.read(metadata)
        var facts = PageFacts(
            headers: TransportHeaders(flat: headers), recordCount: metadata.firstCount ?? count,
            values: metadata.values, records: metadata.records,
            digest: PageMetadata.digest(metadata.digest, of: listed, count: count, skipped: skipped))
        facts.otherRecords = count - facts.recordCount
        return (PageEnd(facts: facts, answeredBy: answeredBy, position: position), metadata.kept)
    }
}
