// The status of requests that a cache answers: of the stored pages of a list.

import TarnHTTP
import TarnStore

extension RecordCache {
    /// Returns the status of a request: of all its stored pages. Nothing is requested.
    ///
    /// - Throws: `CacheError`: as ``prepare(_:)``, or if the store cannot be read.
    /// - Complexity: linear in the number of stored pages.
    public func status(of request: CacheRequest) async throws(CacheError) -> EndpointStatus {
        let first = try await prepare(request)
        do {
            return try await status(of: first) { try await self.prepare($0) }
        } catch {
            throw CacheError(error, url: first.shownURL, place: first.endpoint.place)
        }
    }

    /// Reads the stored pages of a list from the first one on.
    func status(
        of first: PreparedRequest, next prepare: (CacheRequest) async throws -> PreparedRequest
    ) async throws -> EndpointStatus {
        var status = EndpointStatus(named: first.endpoint.name), page: PreparedRequest? = first
        var read = EndpointStatus.Progress(startedAt: client.now, pages: 0, records: 0), oldest: Timestamp?
        status.setFailure(try store.read { try first.request.lastFailure($0) })
        while let current = page {
            guard let (stored, next) = try stored(current) else { break }
            read.add(pages: 1, records: stored.count, since: stored.validatedAt)
            oldest = min(oldest ?? stored.validatedAt, stored.validatedAt)
            if let until = stored.freshUntil { status.freshUntil = min(status.freshUntil ?? until, until) }
            guard let next else {
                (status.completedAt, status.completeLists) = (oldest, 1)
                status.complete = EndpointStatus.Counts(pages: read.pages, records: read.records)
                break
            }
            // A list that stops at a page which does not follow is not complete.
            page = next.failure == nil ? try await prepare(next) : nil
        }
        if status.completedAt == nil, read.pages > 0 { status.unfinished = read }
        status.setAge(at: client.now)
        return status
    }

    private struct StoredPage {
        var validatedAt: Timestamp
        var count: Int
        var freshUntil: Timestamp?
    }

    private func stored(_ page: PreparedRequest) throws -> (StoredPage, next: CacheRequest?)? {
        try store.read { reader in
            guard let view = try reader.access.responses.view(page.digest) else { return nil }
            let keys = ListedResponse(view, reader).listed()
            let decision = options.rules.decide(page.selectingMessage, CachedResponse(view), at: now)
            let until = decision.freshness.map { Timestamp(seconds: now + $0.remaining) }
            return (
                StoredPage(validatedAt: view.validatedAt, count: view.count, freshUntil: until),
                page.next(view.page(keys).end)
            )
        }
    }
}

extension RecordClient {
    /// Returns the status of a request: of all its stored pages. Nothing is requested.
    ///
    /// Responses to requests with other methods than GET are not kept: their status has only the
    /// last failure.
    ///
    /// ```swift
    /// let status = try await forge.status(of: .issues("acme/anvil"))
    /// if let failure = status.failure { print("\(failure.message); \(status.age ?? 0) s old") }
    /// ```
    ///
    /// - Throws: `CacheError` if the request has no valid URL, or the store cannot be read.
    public func status<Value>(of request: RecordRequest<Value>) async throws(CacheError) -> EndpointStatus {
        let endpoint = request.endpoint
        do {
            guard endpoint.method == "GET", endpoint.body == nil else {
                var status = EndpointStatus(named: endpoint.name)
                let target = EndpointRequest(client: client, endpoint: endpoint, fingerprint: "", authScope: "")
                status.setFailure(try store.read { try target.lastFailure($0) })
                return status
            }
            return try await cache.status(of: try await prepared(request)) { try await prepared(request, at: $0) }
        } catch {
            throw CacheError(error, url: "", place: endpoint.place)
        }
    }
}
