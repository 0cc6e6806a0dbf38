// From a page of a list to the next one: by what its answer says, or what its entry keeps of that.

import TarnHTTP
import TarnStore

extension PreparedRequest {
    /// The request for the page after this one; nil if this is the last.
    func next(_ end: PageEnd) -> CacheRequest? {
        var next = CacheRequest(endpoint.name, parameters: endpoint.parameters, url: "", parent: parent?.key)
        do throws(PaginationError) {
            var pages = pages
            // The position that the list was walked by decides, else the one that was stored.
            if !isPositioned {
                try pages.move(to: url, position: end.position.map { ($0.page, $0.recordsBefore) }, end.facts)
            }
            guard try pages.advance(end.facts, answeredBy: end.answeredBy) else { return nil }
            next.url = pages.url
            next.continuation = .page(pages)
        } catch {
            next.continuation = .failure(error, place: endpoint.place)
        }
        return next
    }

}

extension RecordCache {
    /// The request by which a list goes on where the server refuses pages that are too far in
    /// (``DeepPages``); nil if it does not.
    func restarted(_ prepared: PreparedRequest, afterStatus status: Int) -> PreparedRequest? {
        var pages = prepared.pages
        guard prepared.isPositioned, (try? pages.restart(afterStatus: status)) == true else { return nil }
        return PreparedRequest(prepared, at: pages) { mirror.request($0) }
    }

    /// The stored request in whose place the list was begun anew because the server refuses this
    /// page; nil if there is none.
    func begunAnew(_ prepared: PreparedRequest) throws -> PreparedRequest? {
        guard let status = prepared.endpoint.deep?.statuses.first?.lowerBound,
            let again = restarted(prepared, afterStatus: status)
        else { return nil }
        return try store.read { reader in
            let isRefused =
                try reader.access.responseView(prepared.digest) == nil
                && reader.access.responseView(again.digest) != nil
            return isRefused ? again : nil
        }
    }
}

extension PageSequence {
    /// Where the requested page is in its list; nil for the first.
    var listPosition: ListPosition? { ordinal > 1 ? ListPosition(page: ordinal, recordsBefore: listed) : nil }
}

extension ResponseView {
    /// What the page says about its successor, as its entry keeps it, and the metadata that the
    /// endpoint keeps.
    ///
    /// - Parameter listed: of the entry.
    func page(_ listed: [ListedRecord]) -> (end: PageEnd, kept: [String: String]) {
        let metadata = PageMetadata.read(metadata)
        let facts = PageFacts(
            headers: HTTPHeaders(flat: headers), recordCount: count, values: metadata.values, records: metadata.records,
            digest: PageMetadata.digest(of: listed, count: count, skipped: skipped))
        return (PageEnd(facts: facts, answeredBy: answeredBy, position: position), metadata.kept)
    }
}
