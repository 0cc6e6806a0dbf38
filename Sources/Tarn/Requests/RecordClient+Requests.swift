// Requests for records: one, all of them, page by page.

import TarnImport
import TarnStore

extension RecordClient {
    /// Returns every record that a request lists, over all pages, in the order of the server.
    ///
    /// A record that moves while the pages are requested is there twice if both pages list it.
    /// Elements without a usable key, and new records with a unique value of another one, are left
    /// out: the report of their page has them. With ``KeylessPolicy/fail``, the former are errors.
    ///
    /// - Throws: `CacheError`; nothing is returned then, but the pages before are imported. Also if
    ///   the limit of pages is reached and more follow: a part of a list is never returned for the
    ///   whole. `MirrorError.endpoint` if the server may have cut the list off, at a total that is
    ///   the most that it counts. `CacheError` if a response states an error beside its records:
    ///   some of them, or parts of them, are missing. `StoreError` if the store cannot be read, or
    ///   a record does not fit the struct. If the task is cancelled, `CacheError` with
    ///   ``CacheError/isCancelled``.
    public func all<Value>(_ request: RecordRequest<Value>) async throws -> [Value] {
        var records: [Value] = []
        let pages = ResponsePages(client: self, request: request, deadline: request.options.deadline)
        for try await page in pages {
            try page.checkWhole()
            records += page.records
        }
        return records
    }

    /// Returns the one record of a response: the object at the request's key path.
    ///
    /// - Throws: `CacheError`, with `.request(.status(404, …), …)` if there is no such record at
    ///   the server; `MirrorError.endpoint` if the response has no record, or several. `CacheError`
    ///   if the response states an error beside the record: parts of it are missing.
    public func one<Value>(_ request: RecordRequest<Value>) async throws -> Value {
        try await page(request).theOne(request)
    }

    /// Returns the pages of a request, one after the other, each imported when it is asked for.
    ///
    /// A loop may stop at any time: what it has seen is in the store. If the task is cancelled, the
    /// transfer ends.
    public func pages<Value>(_ request: RecordRequest<Value>) -> ResponsePages<Value> {
        ResponsePages(client: self, request: request)
    }

    /// Returns the pages of a request that stores records, and needs none: their `records` are
    /// empty. A record that does not fit the struct does not stop them.
    ///
    /// The server is asked for every page.
    package func refreshedPages<Value>(_ request: RecordRequest<Value>) -> ResponsePages<Value> {
        var request = request.policy(.networkFirst)
        request.options.needsRecords = false
        return pages(request)
    }

    /// Returns one page of a request: the first, or one that follows another.
    ///
    /// - Throws: `CacheError`; `MirrorError` for a request that is not cached.
    public func page<Value>(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage? = nil
    ) async throws -> ResponsePage<Value> {
        let deadline = request.options.deadline
        return try await domains.call(in: request.options.domains).run { [self] in
            try await fetch(request, at: next, deadline)
        }
    }

    /// Returns one page of a request, as a part of a call with a deadline.
    func fetch<Value>(
        _ request: RecordRequest<Value>, at next: ResponsePage<Value>.NextPage?, _ deadline: RequestDeadline?
    ) async throws -> ResponsePage<Value> {
        guard request.options.orphans == nil || request.options.transfer.isPersisted else {
            throw MirrorError.endpoint(
                place: request.endpoint.place, message: "a request that does not persist cannot remove orphans")
        }
        guard request.endpoint.method == "GET", request.endpoint.body == nil else {
            return try await imported(request, at: next, deadline)
        }
        var known: CacheRequest?
        if case .cached(let request)? = next?.place { known = request }
        let reads = request.options.needsRecords
        let prepared = try await prepared(
            request, at: known, deadline, reading: reads ? ResponseReading(Value.self) : nil)
        return try await logged(request, url: prepared.shownURL) {
            // Only the server knows what it no longer lists.
            let policy = request.options.policy ?? (request.options.orphans == nil ? nil : .networkFirst)
            let answer = try await cache.fetch(prepared, policy: policy, copying: .keys)
            var page = ResponsePage(answer, reads ? try records(of: answer, request) : [], request)
            if request.options.findsPrevious, let end = answer.end { page.previous = prepared.preceding(end) }
            return page
        }
    }

    /// Looks up a page of a request.
    ///
    /// - Throws: `CacheError`.
    func prepared<Value>(
        _ request: RecordRequest<Value>, at next: CacheRequest? = nil, _ deadline: RequestDeadline? = nil,
        reading: ResponseReading? = nil
    ) async throws -> PreparedRequest {
        let url = next?.url ?? client.api.base + request.endpoint.path
        do {
            var options = request.transferOptions
            options.deadline = deadline
            options.reading = reading
            return try await deadline.run(method: request.endpoint.method, url: url) { [self, options] in
                try await cache.prepared(
                    request.cacheRequest(next), to: request.endpoint, fingerprint(of: request), options: options)
            }
        } catch {
            throw CacheError(error, url: url, place: request.endpoint.place)
        }
    }

    /// The records of an answer as structs, from the store or as the server has sent them.
    private func records<Value>(of answer: CachedAnswer, _ request: RecordRequest<Value>) throws -> [Value] {
        // They were read in the snapshot that has the response.
        if let values = answer.read?.values as? [Value] { return values }
        // A response that must not be stored leaves nothing in the store.
        return try records(listed: answer.listed, copies: answer.isStored ? nil : answer.records)
    }

    /// The records of a transfer as structs.
    func records<Value>(of transfer: Transfer, _ request: RecordRequest<Value>) throws -> [Value] {
        try records(listed: transfer.listed, copies: transfer.records)
    }

    /// Listed records as structs, from copies if there are any, and otherwise from the store.
    ///
    /// Records of other entities, which an envelope may list, too, are left out.
    private func records<Value: MappedRecord>(listed: [ListedRecord], copies: [Record]?) throws -> [Value] {
        try store.read(verifyingRows: true) { reader in
            guard let copies else { return try reader.records(Value.self, listed: listed) }
            let catalog = reader.catalog
            guard let id = catalog.entity(Value.entity)?.id else { return [] }
            return try copies.filter { catalog.entity($0.entity).map { catalog.isKind($0.id, of: id) } ?? false }
                .map { try reader.decode(Value.self, from: $0) }
        }
    }
}
