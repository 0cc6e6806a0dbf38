// Groups of requests, whose records are returned together.

import Locking
import Logging
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
    ///     nothing, and if one request fails, a record does not fit its struct, or the server may
    ///     have cut a list off, nothing is stored. Every request then goes to the server, with
    ///     conditions. The shortest deadline is that of the group. Requests to one URL with other
    ///     header fields or hooks share their records: all of them have the values of the change.
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
            let results = GroupResults(try await commit(group))
            return (repeat await result(of: each requests, results.next()))
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
        let results = GroupResults(try await commit(requests.map { grouped($0) }))
        var lists: [[Value]] = []
        for request in requests { lists.append(await result(of: request, results.next())) }
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
        var list: String
        var reading: ResponseReading
    }

    private func grouped<Value>(_ request: RecordRequest<Value>) -> GroupedRequest {
        GroupedRequest(
            endpoint: request.endpoint, options: request.options, fingerprint: fingerprint(of: request),
            list: request.scanName, reading: ResponseReading(Value.self))
    }

    /// The result of one request of a group, as the transaction that stores the group has read it.
    private struct GroupResult: Sendable {
        var list: ListedPages
        var records: ResponseReading.Records?
    }

    /// The results of the requests of a group that is stored, one after the other.
    private final class GroupResults {
        private var results: ArraySlice<GroupResult>

        init(_ results: [GroupResult]) { self.results = results[...] }

        func next() -> GroupResult? { results.popFirst() }
    }

    /// The outcome of the transaction of a group.
    private struct GroupOutcome: Sendable {
        var results: [GroupResult] = []
        /// The reason why the records could not be read: nothing is stored then.
        var failure: (any Error)?
    }

    /// Fetches a group, and stores it as one change.
    ///
    /// - Returns: a result for each request: after the commit, nothing can take it away.
    private func commit(_ group: [GroupedRequest]) async throws -> [GroupResult] {
        for request in group {
            guard request.endpoint.method == "GET", request.endpoint.body == nil, request.options.transfer.isPersisted
            else {
                throw MirrorError.endpoint(
                    place: request.endpoint.place, message: "a group that is one change stores all of its responses")
            }
        }
        let domains = group.reduce(into: Set<String>()) { $0.formUnion($1.options.domains) }
        let deadline = group.compactMap(\.options.timeLimit).min().map { RequestDeadline($0) }
        let result = Guarded<SyncReport?>(nil), outcome = Guarded(GroupOutcome())
        var ending: (any Error)?
        do {
            try await self.domains.call(in: domains).run { [self] in
                try await deadline.run(method: "GET", url: client.api.base) { [self] in
                    let commit = AtomicCommit(), task = Task { commit.end(await sync(group, commit, outcome)) }
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
        let known = outcome.withLock(\.self)
        // A cancellation or the deadline may have come after the commit had begun.
        if let report, report.failures.isEmpty {
            return zip(known.results, report.endpoints).map { result, part in
                var result = result
                if part.ignored > 0 {
                    result.list.refuse("a response was passed over by a rule: its records are unknown")
                }
                if let doubt = part.doubts.keys.first { result.list.refuse(doubt.finding) }
                return result
            }
        }
        if let ending { throw ending }
        if let failure = known.failure { throw failure }
        if let failure = report?.failures.first {
            if case .cancelled = failure { throw CacheError.request(failure, nil) }
            throw failure
        }
        throw CacheError.request(.cancelled, nil)
    }

    /// The records of a request of a group that is stored. Orphans are looked for then.
    ///
    /// The group is stored: a failure of that search is logged, and the next complete list makes
    /// up for it. A cancellation of the caller does not end it.
    private func result<Value>(of request: RecordRequest<Value>, _ result: GroupResult?) async -> [Value] {
        if let orphans = request.options.orphans, let list = result?.list {
            do {
                _ = try await Task { [self] in try await removeOrphans(of: request, orphans, after: list) }.value
            } catch {
                let logger = request.options.transfer.logger ?? client.options.logger
                logger?.warning(
                    "the batch is stored, but its orphans were not looked for",
                    metadata: ["path": "\(request.endpoint.path)", "reason": "\("\(error)".singleLine)"])
            }
        }
        return result?.records?.values as? [Value] ?? []
    }

    private func sync(
        _ group: [GroupedRequest], _ commit: AtomicCommit, _ outcome: Guarded<GroupOutcome>
    ) async -> SyncReport {
        let begun = beginList()
        return await APIMirror(client).sync(
            isAtomic: true,
            atCommit: { [client, others = cache.others] lists, report, writer in
                try writer.outdateCollectedMirrors(of: others)
                let dropped = Set(report.dropped), reader = try writer.reader()
                do {
                    var results: [GroupResult] = []
                    for (request, pages) in zip(group, lists) {
                        var list = begun
                        list.storedAt = client.now
                        for var page in pages {
                            try page.checkEnd(place: request.endpoint.place)
                            page.records.removeAll { dropped.contains($0) }
                            list.add(page)
                        }
                        let records = try request.reading.records(list.records, reader)
                        results.append(GroupResult(list: list, records: records))
                    }
                    let all = results
                    outcome.withLock { $0 = GroupOutcome(results: all) }
                } catch {
                    outcome.withLock { $0.failure = error }
                    throw error
                }
                try commit.begin()
            },
            scans: { pipeline, scope in group.map { scan(of: $0, pipeline, scope) } })
    }

    private func scan(of grouped: GroupedRequest, _ pipeline: ImportPipeline, _ scope: String) -> EndpointScan {
        var request = EndpointRequest(
            client: client, endpoint: grouped.endpoint, fingerprint: grouped.fingerprint, authScope: scope)
        request.priority = grouped.options.transfer.priority
        var options = APIMirror.Options()
        // One change: a cancellation rolls it back until its commit begins.
        options.commitUnit = .scan
        // Also a list that a rule has ended, or that a sync has begun.
        options.restarts = true
        options.hooks = cache.options.hooks
        let scan = EndpointScan(request, options, pipeline: pipeline)
        scan.variant = EndpointScan.variant(of: grouped.endpoint.parameters)
        scan.listName = grouped.list
        scan.requestHooks = grouped.options.transfer.hooks
        return scan
    }

    private func log(_ report: SyncReport.Endpoint, of request: GroupedRequest) {
        guard let logger = request.options.transfer.logger else { return }
        if let failure = report.failures.first {
            logger.notice(
                "no answer",
                metadata: [
                    "method": "\(request.endpoint.method)", "path": "\(request.endpoint.path)",
                    "reason": "\("\(failure)".singleLine)",
                ])
        } else {
            var metadata: Logger.Metadata = [
                "method": "\(request.endpoint.method)", "path": "\(request.endpoint.path)",
                "pages": "\(report.pages)", "notModified": "\(report.notModified)", "records": "\(report.listed)",
            ]
            if let doubt = report.doubts.keys.first { metadata["doubt"] = "\(doubt.finding)" }
            logger.info("answer", metadata: metadata)
        }
    }
}
