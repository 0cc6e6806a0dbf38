// Groups of requests, whose records are returned together.

import TarnHTTP
import TarnImport
import TarnStore

extension RecordClient {
    /// Fetches several requests concurrently, and returns the records of each.
    ///
    /// ```swift
    /// let (issues, labels) = try await forge.batch(.issues("acme/anvil"), .labels("acme/anvil"))
    /// ```
    ///
    /// - Parameters:
    ///   - requests: the requests; all of their pages are fetched.
    ///   - isAtomic: whether the group is one change of the store: readers see all of it or
    ///     nothing, and if one request fails, nothing is stored. Every request then goes to the
    ///     server, with conditions.
    /// - Throws: the failure of the first request in the group that failed. Without `atomic`, the
    ///   others are stored all the same. `CancellationError` if the task is cancelled.
    public func batch<each Value: MappedRecord>(
        _ requests: repeat RecordRequest<each Value>, atomic isAtomic: Bool = false
    ) async throws -> (repeat [each Value]) {
        guard !isAtomic else { return try await atomicBatch(repeat each requests) }
        let tasks = (repeat Task { [self] in try await all(each requests) })
        return try await withTaskCancellationHandler {
            // All of them end before the first failure is thrown.
            for task in repeat each tasks { _ = await task.result }
            return (repeat try await (each tasks).value)
        } onCancel: {
            for task in repeat each tasks { task.cancel() }
        }
    }

    private func atomicBatch<each Value: MappedRecord>(
        _ requests: repeat RecordRequest<each Value>
    ) async throws -> (repeat [each Value]) {
        var endpoints: [Endpoint] = []
        for request in repeat each requests { endpoints.append(request.endpoint) }
        let mirror = APIMirror(client)
        let report = await mirror.sync(isAtomic: true) { pipeline, scope in
            endpoints.map { endpoint in
                var scan = EndpointScan(
                    EndpointRequest(
                        client: client, endpoint: endpoint, fingerprint: fingerprint(of: endpoint), authScope: scope),
                    mirror.options, pipeline: pipeline)
                scan.variant = EndpointScan.variant(of: endpoint.parameters)
                return scan
            }
        }
        try Task.checkCancellation()
        if let failure = report.failures.first { throw failure }
        return (repeat try await listed(each requests))
    }

    /// The records that the stored responses to a request list, over all pages.
    ///
    /// They are read whatever the rules of HTTP say: the responses have just been fetched.
    private func listed<Value>(_ request: RecordRequest<Value>) async throws -> [Value] {
        var records: [Value] = [], next: CacheRequest?
        repeat {
            let prepared = try await cache.prepared(
                request.cacheRequest(next), to: request.endpoint, fingerprint(of: request.endpoint))
            next = try store.read(verifyingRows: true) { reader in
                // Another program may have removed it: a part must not pass for the whole list.
                guard let view = try reader.access.responses.view(prepared.digest) else {
                    throw MirrorError.endpoint(
                        place: request.endpoint.place,
                        message: "the response of \(prepared.shownURL) was removed from the store: fetch it again")
                }
                let keys = ListedResponse(view, reader).listed()
                records += try reader.records(Value.self, listed: keys)
                return prepared.next(view.page(keys).end)
            }
        } while next != nil
        return records
    }
}
