// Groups of requests, whose records are returned together.

import Locking
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
    ///     server, with conditions. The shortest deadline is that of the group.
    /// - Throws: the failure of the first request in the group that failed. Without `atomic`, the
    ///   others are stored all the same. If the call is cancelled, `CacheError` with
    ///   ``CacheError/isCancelled`` for an atomic group, of which nothing is stored then, and what
    ///   ``all(_:)`` throws for others. At the deadline, `CacheError` as for one request.
    ///   `MirrorError.endpoint` if a request of an atomic group is not stored: POST, or not
    ///   persisted.
    public func batch<each Value: MappedRecord>(
        _ requests: repeat RecordRequest<each Value>, atomic isAtomic: Bool = false
    ) async throws -> (repeat [each Value]) {
        guard !isAtomic else {
            var group: [GroupedRequest] = []
            for request in repeat each requests { group.append(grouped(request)) }
            let ends = BatchEnds(try await commit(group))
            return (repeat try await stored(each requests, ends.next()))
        }
        let tasks = (repeat Task { [self] in try await all(each requests) })
        return try await withTaskCancellationHandler {
            // All of them end before the first failure is thrown.
            for task in repeat each tasks { _ = await task.result }
            return (repeat try await (each tasks).value)
        } onCancel: {
            for task in repeat each tasks { task.cancel() }
        }
    }

    /// Fetches several requests for records of one type concurrently, and returns those of each.
    ///
    /// - Parameters:
    ///   - requests: the requests; all of their pages are fetched.
    ///   - isAtomic: whether the group is one change of the store, as for requests of several
    ///     types.
    /// - Returns: the records of each request, in the order of the requests.
    /// - Throws: the failure of the first request in the group that failed. Without `atomic`, the
    ///   others are stored all the same; ``results(of:)`` returns them.
    public func batch<Value>(
        _ requests: [RecordRequest<Value>], atomic isAtomic: Bool = false
    ) async throws -> [[Value]] {
        guard isAtomic else { return try await results(of: requests).map { try $0.get() } }
        let ends = BatchEnds(try await commit(requests.map { grouped($0) }))
        var lists: [[Value]] = []
        for request in requests { lists.append(try await stored(request, ends.next())) }
        return lists
    }

    /// Fetches several requests concurrently, and returns the records or the failure of each.
    ///
    /// - Returns: a result for each request, in the order of the requests.
    public func results<Value>(of requests: [RecordRequest<Value>]) async -> [Result<[Value], any Error>] {
        await withTaskGroup(of: (Int, Result<[Value], any Error>).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { [self] in
                    do { return (index, .success(try await all(request))) } catch { return (index, .failure(error)) }
                }
            }
            var results = requests.map { _ in Result<[Value], any Error>.failure(CancellationError()) }
            for await (index, result) in group { results[index] = result }
            return results
        }
    }

    // MARK: Atomic groups

    /// A request of a group, without the type of its records.
    private struct GroupedRequest: Sendable {
        var endpoint: Endpoint
        var options: RequestOptions
        var fingerprint: String
    }

    private func grouped<Value>(_ request: RecordRequest<Value>) -> GroupedRequest {
        GroupedRequest(
            endpoint: request.endpoint, options: request.options, fingerprint: fingerprint(of: request))
    }

    /// The results of the requests of a group that is stored, one after the other.
    private final class BatchEnds {
        private var reports: ArraySlice<SyncReport.Endpoint>

        init(_ reports: [SyncReport.Endpoint]) { self.reports = reports[...] }

        func next() -> SyncReport.Endpoint? { reports.popFirst() }
    }

    /// Fetches a group, and stores it as one change.
    private func commit(_ group: [GroupedRequest]) async throws -> [SyncReport.Endpoint] {
        for request in group {
            guard request.endpoint.method == "GET", request.endpoint.body == nil, request.options.transfer.isPersisted
            else {
                throw MirrorError.endpoint(
                    place: request.endpoint.place, message: "a group that is one change stores all of its responses")
            }
        }
        let domains = group.reduce(into: Set<String>()) { $0.formUnion($1.options.domains) }
        let deadline = group.compactMap(\.options.timeLimit).min().map { RequestDeadline($0) }
        let result = Guarded<SyncReport?>(nil)
        var ending: (any Error)?
        do {
            try await self.domains.call(in: domains).run { [self] in
                try await deadline.run(method: "GET", url: client.api.base) { [self] in
                    let commit = AtomicCommit(), task = Task { commit.end(await sync(group, commit)) }
                    let report = await withTaskCancellationHandler {
                        await commit.report()
                    } onCancel: {
                        commit.cancel()
                        task.cancel()
                    }
                    result.withLock { $0 = report }
                }
            }
        } catch {
            ending = CacheError(error, url: client.api.base, place: "the batch")
        }
        let report = result.withLock(\.self)
        if let report { for (request, part) in zip(group, report.endpoints) { log(part, of: request) } }
        // A cancellation or the deadline may have come after the commit had begun.
        if let report, report.failures.isEmpty { return report.endpoints }
        if let ending { throw ending }
        if let failure = report?.failures.first {
            if case .cancelled = failure { throw CacheError.request(failure, nil) }
            throw failure
        }
        throw CacheError.request(.cancelled, nil)
    }

    /// The records of a request of a group that is stored.
    ///
    /// They are read in a task of their own: after the commit, a cancellation of the caller must
    /// not end the call with an error that promises that nothing is stored.
    private func stored<Value>(
        _ request: RecordRequest<Value>, _ report: SyncReport.Endpoint?
    ) async throws -> [Value] {
        try await Task { [self] in try await listed(request, report) }.value
    }

    private func sync(_ group: [GroupedRequest], _ commit: AtomicCommit) async -> SyncReport {
        await APIMirror(client).sync(isAtomic: true) { pipeline, scope in
            group.map { grouped in
                var request = EndpointRequest(
                    client: client, endpoint: grouped.endpoint, fingerprint: grouped.fingerprint, authScope: scope)
                request.priority = grouped.options.transfer.priority
                var options = APIMirror.Options()
                // One change: a cancellation rolls it back until its commit begins.
                options.commitUnit = .scan
                // Also a list that a rule has ended, or that a sync has begun.
                options.restarts = true
                options.hooks = { [hooks = cache.options.hooks] endpoint in
                    var hooks = hooks?(endpoint) ?? ImportHooks()
                    let own = hooks.afterMerge
                    hooks.afterMerge = { report, writer in
                        try own?(report, &writer)
                        try commit.begin()
                    }
                    return hooks
                }
                let scan = EndpointScan(request, options, pipeline: pipeline)
                scan.variant = EndpointScan.variant(of: grouped.endpoint.parameters)
                scan.requestHooks = grouped.options.transfer.hooks
                return scan
            }
        }
    }

    private func log(_ report: SyncReport.Endpoint, of request: GroupedRequest) {
        guard let logger = request.options.transfer.logger else { return }
        if let failure = report.failures.first {
            logger.notice(
                "no answer",
                metadata: [
                    "method": "\(request.endpoint.method)", "path": "\(request.endpoint.path)", "reason": "\(failure)",
                ])
        } else {
            logger.info(
                "answer",
                metadata: [
                    "method": "\(request.endpoint.method)", "path": "\(request.endpoint.path)",
                    "pages": "\(report.pages)", "notModified": "\(report.notModified)", "records": "\(report.listed)",
                ])
        }
    }

    /// The records that the stored responses to a request list, over all pages.
    ///
    /// They are read whatever the rules of HTTP say: the responses have just been fetched. Orphans
    /// are looked for then.
    ///
    /// - Parameter report: the result of the request. A rule for responses may have ended its list
    ///   before a page that the page before names.
    private func listed<Value>(
        _ request: RecordRequest<Value>, _ report: SyncReport.Endpoint?
    ) async throws -> [Value] {
        let rules = client.rules(of: request.endpoint)
        let mayEnd = report?.isResumed == false && rules.contains { $0.action == .ignore || $0.action == .stop }
        let count = mayEnd ? report?.pages ?? .max : .max
        var records: [Value] = [], list = ListedPages(startedAt: client.now), next: CacheRequest?
        while list.pages < count {
            let prepared = try await prepared(request, at: next)
            next = try store.read(verifyingRows: true) { reader in
                // Another program may have removed it: a part must not pass for the whole list.
                guard let view = try reader.access.responses.view(prepared.digest) else {
                    throw MirrorError.endpoint(
                        place: request.endpoint.place,
                        message: "the response of \(prepared.shownURL) was removed from the store: fetch it again")
                }
                let keys = ListedResponse(view, reader).listed()
                records += try reader.records(Value.self, listed: keys)
                let (next, isCutOff) = prepared.following(view.page(keys).end)
                list.add(PageListing(records: keys, skipped: view.skipped, isCutOff: isCutOff))
                return next
            }
            if next == nil { break }
        }
        if report?.ignored ?? 0 > 0 { list.refuse("a response was passed over by a rule: its records are unknown") }
        if let orphans = request.options.orphans { _ = try await removeOrphans(of: request, orphans, after: list) }
        return records
    }
}
