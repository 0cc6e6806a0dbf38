// Requests whose responses are imported, and not kept as answers.

import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Sends a request and imports its response, without the cache.
    ///
    /// - Throws: `CacheError`.
    func imported<Value>(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage?, _ deadline: RequestDeadline?
    ) async throws -> ResponsePage<Value> {
        var target = EndpointRequest(client: client, endpoint: request.endpoint, fingerprint: "", authScope: "")
        target.priority = request.options.transfer.priority
        var pages: PageSequence
        do {
            if case .sequence(let known)? = next?.place { pages = known } else { pages = try target.pages() }
        } catch {
            throw CacheError(error, url: "", place: request.endpoint.place)
        }
        let url = pages.url
        return try await logged(request, url: Redaction.url(url)) {
            do {
                guard request.options.transfer.isPersisted else {
                    return try await imported(request, target, pages, deadline)
                }
                return try await target.noting(Redaction.url(url)) {
                    try await imported(request, target, pages, deadline)
                }
            } catch {
                if request.options.transfer.isPersisted { try? await client.saveBudgets() }
                throw CacheError(error, url: url, place: request.endpoint.place)
            }
        }
    }

    private func imported<Value>(
        _ request: RecordRequest<Value>, _ target: EndpointRequest, _ pages: PageSequence, _ deadline: RequestDeadline?
    ) async throws -> ResponsePage<Value> {
        var pages = pages
        let message = target.message(for: pages.request)
        let transport = client.transport(for: request.endpoint, logger: request.options.transfer.logger)
        // A change that is sent meanwhile is newer than the response.
        let revision = try store.read { try $0.outbox.revision }
        let response = try await deadline.run(method: message.method, url: message.url) {
            try await transport.send(message)
        }
        let isEmpty = try isEmpty(response, to: message, target)
        let ending = isEmpty ? try ending(of: pages, response, to: message, target) : nil
        let (transfer, records) = try await stored(
            response, target, pages, request, isEmpty: isEmpty, outboxRevision: revision)
        let previous =
            request.options.findsPrevious
            ? pages.preceding(transfer.page.facts, answeredBy: transfer.page.answeredBy) : .none
        let hasNext = try pages.advance(transfer.page.facts, answeredBy: transfer.page.answeredBy)
        var page = ResponsePage(transfer, records, request)
        page.previous = previous
        page.listing.doubt = pages.doubt
        page.listing.hasOpenEnd = request.endpoint.hasOpenEnd(response)
        page.listing.isCutOff = pages.isCutOff || pages.doubt != nil || ending.map { $0 != .last } ?? false
        if request.options.transfer.keepsBody { page.body = isEmpty ? [] : response.body }
        if hasNext { page.next = .init(place: .sequence(pages)) }
        return page
    }

    /// Returns how a list ends at a response that lists nothing by a rule; nil if it is a page.
    private func ending(
        of pages: PageSequence, _ response: TransportResponse, to message: TransportRequest, _ target: EndpointRequest
    ) throws -> Transfer.Ending? {
        switch target.decision(about: response, sent: message.headers) {
        case .last: try target.ending(of: pages, refusedBy: response)
        case .ignored: .passedOver
        default: nil
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
    private func stored<Value>(
        _ response: TransportResponse, _ target: EndpointRequest, _ pages: PageSequence,
        _ request: RecordRequest<Value>, isEmpty: Bool, outboxRevision revision: UInt64
    ) async throws -> (Transfer, [Value]) {
        let started = ContinuousClock.now, lent = try cache.importers.take(store)
        defer { cache.importers.give(back: lent) }
        lent.value.hooks = cache.hooks(for: target.endpoint, request.options.transfer)
        lent.value.keyLimit = client.options.keyLimit
        let others = cache.others
        lent.value.unit = ImportUnit(responses: []) { _, writer in try writer.outdateCollectedMirrors(of: others) }
        lent.value.unit.outboxRevision = revision
        let importer = try PageImporter(target, pages.wants)
        let page = PageImporter.Page(url: pages.url, shownURL: Redaction.url(pages.url), position: pages.listed)
        let added =
            try isEmpty ? Importer.Added(listed: [], count: 0) : importer.draft(response, page, into: lent.value)
        let entry = importer.entry(
            target.key(of: pages.request), response, headers: response.headers, added, at: client.now)
        var transfer = Transfer(entry, .fetched)
        if request.options.transfer.isPersisted {
            transfer.report = try await lent.value.commit(to: store)
        } else {
            transfer = try await cache.show(entry, lent)
        }
        transfer.partialFailure = isEmpty ? nil : importer.partialFailure(response, page)
        transfer.cutLists = importer.cutLists(entry)
        if let report = transfer.report {
            var log = ImportLog(entry.request, bytes: response.body.count, duration: ContinuousClock.now - started)
            log.isStored = request.options.transfer.isPersisted
            client.log(report, log)
        }
        return (transfer, request.options.needsRecords ? try records(of: transfer, request) : [])
    }
}
