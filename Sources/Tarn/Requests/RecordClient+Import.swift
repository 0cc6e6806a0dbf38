// Requests whose responses are imported, and not kept as answers.

import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Sends a request and imports its response, without the cache.
    ///
    /// - Throws: `CacheError`.
    func imported<Value>(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage?
    ) async throws -> ResponsePage<Value> {
        let target = EndpointRequest(client: client, endpoint: request.endpoint, fingerprint: "", authScope: "")
        var url = ""
        do {
            var pages: PageSequence
            if case .sequence(let known)? = next?.place { pages = known } else { pages = try target.pages() }
            url = pages.url
            let message = target.message(for: pages.request)
            let response = try await client.transport(for: request.endpoint).send(message)
            let isEmpty = try isEmpty(response, to: message, target)
            let (transfer, records) = try await stored(response, target, pages, Value.self, isEmpty: isEmpty)
            let hasNext = try pages.advance(transfer.page.facts, answeredBy: transfer.page.answeredBy)
            var page = ResponsePage<Value>(
                records: records, source: .fetched, age: 0, metadata: transfer.metadata, report: transfer.report)
            if hasNext { page.next = .init(place: .sequence(pages)) }
            return page
        } catch {
            throw CacheError(error, url: url, place: request.endpoint.place)
        }
    }

    /// Returns whether a response lists nothing by a rule, and is not parsed.
    ///
    /// - Throws: `MirrorError.refusal` if the response is a failure.
    func isEmpty(
        _ response: TransportResponse, to message: TransportRequest, _ target: EndpointRequest
    ) throws -> Bool {
        var reason = response.refusalMessage
        switch target.decision(about: response, sent: message.headers) {
        case .records(let isEmpty): return isEmpty
        case .last, .ignored: return true
        case .failed(let text): reason = text ?? reason
        case .notModified, .refused: break
        }
        throw MirrorError.refusal(
            response, method: message.method, url: Redaction.url(message.url), message: reason)
    }

    /// Imports a response, and reads its records.
    private func stored<Value: MappedRecord>(
        _ response: TransportResponse, _ target: EndpointRequest, _ pages: PageSequence, _ type: Value.Type,
        isEmpty: Bool
    ) async throws -> (Transfer, [Value]) {
        let lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.hooks = cache.options.hooks?(target.endpoint) ?? ImportHooks()
        let importer = try PageImporter(target, pages.wants)
        let page = PageImporter.Page(url: pages.url, shownURL: Redaction.url(pages.url), position: pages.listed)
        let added =
            try isEmpty ? Importer.Added(listed: [], count: 0) : importer.draft(response, page, into: lent.value)
        let entry = importer.entry(
            target.key(of: pages.request), response, headers: response.headers, added, at: client.now)
        let report = try await lent.value.commit(to: store)
        let records = try store.read(verifyingRows: true) { try $0.records(Value.self, listed: added.listed) }
        return (Transfer(entry, .fetched, report: report), records)
    }
}
