// Requests for records: one, all of them, page by page.

import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Returns every record that a request lists, over all pages, in the order of the server.
    ///
    /// - Throws: `CacheError`; nothing is returned then, but the pages before are imported. Also if
    ///   the limit of pages is reached and more follow: a part of a list is never returned for the
    ///   whole. `CancellationError` if the task is cancelled.
    public func all<Value>(_ request: RecordRequest<Value>) async throws -> [Value] {
        var records: [Value] = []
        for try await page in pages(request) { records += page.records }
        return records
    }

    /// Returns the one record of a response: the object at the request's key path.
    ///
    /// - Throws: `CacheError`, with `.request(.status(404, …), …)` if there is no such record at
    ///   the server; `MirrorError.endpoint` if the response has no record, or several.
    public func one<Value>(_ request: RecordRequest<Value>) async throws -> Value {
        let records = try await page(request).records
        guard let record = records.first, records.count == 1 else {
            throw MirrorError.endpoint(
                place: request.endpoint.place,
                message: "one record was expected, but the response has \(records.count): use all, or name its key path"
            )
        }
        return record
    }

    /// Returns the pages of a request, one after the other, each imported when it is asked for.
    ///
    /// A loop may stop at any time: what it has seen is in the store. If the task is cancelled, the
    /// transfer ends.
    public func pages<Value>(_ request: RecordRequest<Value>) -> ResponsePages<Value> {
        ResponsePages(client: self, request: request)
    }

    /// Returns one page of a request: the first, or one that follows another.
    ///
    /// - Throws: `CacheError`; `MirrorError` for a request that is not cached.
    public func page<Value>(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage? = nil
    ) async throws -> ResponsePage<Value> {
        guard request.endpoint.method == "GET", request.endpoint.body == nil else {
            return try await imported(request, at: next)
        }
        var known: CacheRequest?
        if case .cached(let request)? = next?.place { known = request }
        let prepared: PreparedRequest
        do {
            prepared = try await cache.prepared(
                request.cacheRequest(known), to: request.endpoint, fingerprint(of: request.endpoint))
        } catch {
            throw CacheError(error, url: known?.url ?? "", place: request.endpoint.place)
        }
        let answer = try await cache.fetch(prepared, policy: request.policy, copying: .keys)
        let records = try records(of: answer, request)
        var page = ResponsePage<Value>(
            records: records, source: answer.source, decision: answer.decision, age: answer.age,
            metadata: answer.metadata, report: answer.report, failure: answer.failure)
        page.next = answer.next.map { .init(place: .cached($0)) }
        return page
    }

    /// The records of an answer as structs, from the store or as the server has sent them.
    private func records<Value>(
        of answer: CachedAnswer, _ request: RecordRequest<Value>
    ) throws -> [Value] {
        try store.read(verifyingRows: true) { reader in
            // A response that must not be stored leaves nothing in the store.
            guard answer.isStored else {
                return try answer.records.map { try reader.decode(Value.self, from: $0) }
            }
            return try reader.records(Value.self, listed: answer.listed)
        }
    }
}
