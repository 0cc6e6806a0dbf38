// A mirror: scans the endpoints of a description page by page into a store, with checkpoints.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// A mirror of an API in a store: keeps the endpoints of a description up to date.
///
/// By default, a commit contains a page and those that arrive shortly after it: their records, the
/// validators of their responses and the progress of the scan. So an interrupted sync continues
/// after the last committed page, and an unchanged page costs one conditional request.
public struct APIMirror: Sendable {
    /// The options of a mirror.
    public struct Options: Sendable {
        /// Whether validators are ignored and every page is fetched again, from the first one on.
        public var refetches = false
        /// Whether an interrupted scan begins again.
        public var restarts = false
        /// Whether incremental endpoints list everything, as in their first scan.
        public var isFull = false
        /// The value that incremental endpoints send instead of the stored one; nil for that.
        public var since: String?
        /// The maximum number of records of each list, and of lists of each endpoint; nil for all.
        ///
        /// Lists end with a whole page. The next sync continues behind it. Lists of an endpoint
        /// take turns: the next sync with a limit goes on with those that were left out.
        public var limit: Int?
        /// Whether only the first page of each endpoint is requested, and nothing is changed.
        ///
        /// The report tells what its import would change. Of an endpoint with several lists, only
        /// the first list is requested. Opening the store may already have adapted its schema.
        public var isDryRun = false
        /// Whether the next page is requested while the current one is imported and committed.
        public var prefetches = true
        /// The commit unit of all endpoints; nil for what each endpoint declares.
        public var commitUnit: Endpoint.CommitUnit?
        /// Whether orphans are only reported: no record is deleted or unlinked.
        public var reportsOrphansOnly = false
        /// Whether the sync is one of a watch, which selects the endpoints that are due.
        ///
        /// Each endpoint has a checkpoint of its own: whatever else is due by then, its next sync
        /// continues an interrupted one.
        package var isScheduled = false
        /// Called before an orphan is removed, in the same transaction; false keeps the record.
        ///
        /// It runs on the store's writer thread and must not use the store.
        public var mayDelete: (@Sendable (Record) -> Bool)?
        /// Called after ``mayDelete``, with a reader of the transaction.
        var decidesOrphan: (@Sendable (Record, StoreReader) throws -> Bool)?
        /// Changes an orphan instead of deleting it, in the same transaction.
        var marksOrphan: (@Sendable (RecordKey, inout StoreWriter) throws -> Void)?
        /// The maximum number of records that one deletion step deletes.
        package var orphanStep = 1000
        /// The maximum number of orphan candidates that one scan requests individually.
        ///
        /// Only endpoints that declare such a request are checked.
        package var orphanCheckLimit = 100
        /// Returns the import hooks of an endpoint; called once before its scan.
        ///
        /// The hooks run on the thread of the scan and on the store's writer thread. Their effect
        /// on a response is not computed again while the server answers 304.
        public var hooks: (@Sendable (Endpoint) -> ImportHooks)?
        /// Whether a sync waits while another one scans one of its endpoints into the store.
        ///
        /// The other sync may run in this process or in another. If this is false, the sync stops
        /// with ``MirrorError/busy(endpoint:processID:)``.
        public var waitsForOtherSyncs = false
        /// Called once when a sync begins to wait for another one.
        package var whenWaiting: (@Sendable (_ endpoint: String, _ processID: Int32?) -> Void)?
        /// The maximum number of lists and of endpoints that are scanned side by side.
        ///
        /// If it is nil, it follows from the pace: see ``APIMirror/sync(_:progress:)``. 1 scans one
        /// after the other, in the order of the description.
        public var concurrency: Int?
        /// Whether a sync claims its endpoints, so that no other sync scans them meanwhile.
        ///
        /// It is false only in tests of races. A dry run claims none.
        package var claimsEndpoints = true

        /// The number of records that a scan brings itself, and whose lists one sync requests.
        /// Further ones wait for the next.
        var mostNewParents = 10_000

        /// Creates the default options.
        public init() {}

        /// Whether scans begin with the first page.
        var beginsAnew: Bool { restarts || refetches || isFull || since != nil }

        /// Whether scans end before their lists do, so that the next sync continues them.
        var isPartial: Bool { limit != nil || isDryRun }

        /// The maximum number of lists of an endpoint.
        var mostLists: Int { isDryRun ? 1 : limit.map { max(0, $0) } ?? .max }
    }

    /// The client that sends the requests.
    public let client: APIClient
    let options: Options

    /// Creates a mirror over a client.
    public init(_ client: APIClient, options: Options = Options()) {
        self.client = client
        self.options = options
    }

    /// Creates a mirror with a client of its own.
    ///
    /// - Throws: as ``APIClient/init(_:store:transport:options:environment:)``.
    public init(
        _ description: Description, store: Store, transport: any Transport,
        client: APIClient.Options = APIClient.Options(), options: Options = Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        self.init(
            try APIClient(description, store: store, transport: transport, options: client, environment: environment),
            options: options)
    }

    /// The description of the mirrored API.
    package var description: Description { client.description }
    /// The store that receives the records.
    package var store: Store { client.store }

    /// Scans endpoints: those with the given names, or all.
    ///
    /// Endpoints that do not depend on one another are scanned side by side, and so are the lists
    /// of a `for_each`. As many requests are in progress as the pace of the description
    /// allows (`pace: { concurrent }`, by default 4). The pages of one list are requested, imported
    /// and committed in their order. An endpoint with `for_each` waits for the endpoints that list
    /// its parents.
    ///
    /// A failure stops the scan of its endpoint and is in the report. Other endpoints continue,
    /// unless they would fail for the same reason. Cancelling the task stops before the next page.
    ///
    /// The next sync over the same endpoints continues an interrupted one: one that was killed,
    /// cancelled, or cut off from the network after some pages. Finished endpoints, and finished
    /// parents of a `for_each`, are not requested again. See ``SyncReport/resumed``. If only some
    /// of several APIs were cut off, the endpoints of the others are requested again. What a run
    /// continues stays to be continued if it is cut off before its first page.
    ///
    /// Only one sync at a time scans an endpoint into a store. A second one, in this process or in
    /// another, stops with ``MirrorError/busy(endpoint:processID:)`` or waits:
    /// ``Options/waitsForOtherSyncs``.
    ///
    /// - Parameters:
    ///   - names: the names of the endpoints; nil for all. If one of them is unknown, nothing is
    ///     requested, and the report has `MirrorError.endpoint`.
    ///   - progress: called before every request and after every committed page, one call at a
    ///     time.
    /// - Returns: a report with an entry per endpoint, its failures included.
    public func sync(
        _ names: Set<String>? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport()
        let claim: SyncLock?
        let runs: [SyncRun]
        let requests: [EndpointRequest], refused: [SyncReport.Endpoint]
        do {
            try client.checkNames(names)
            var endpoints = description.endpoints.filter { names?.contains($0.name) ?? true }
            let busy: [SyncReport.Endpoint]
            (claim, busy) = try await claimed(&endpoints)
            let found = try await requestsOrReports(to: endpoints)
            (requests, refused) = (found.all, busy + found.refused)
            if requests.isEmpty, !refused.isEmpty {
                sync.endpoints = refused
                return sync
            }
            runs = try self.runs(of: requests, isAll: endpoints.count == description.endpoints.count)
            try await noteFormerLists(names)
        } catch {
            sync.endpoints = [failed(error)]
            return sync
        }
        // The claim is held until the sync is over.
        defer { withExtendedLifetime(claim) {} }
        sync.resumed = runs.compactMap(\.resumed).min()
        sync.endpoints = await scan(requests, runs, progress, isCutShort: &sync.isCutShort) + refused
        for run in runs { await finish(run, &sync) }
        if names == nil, refused.isEmpty, !options.isScheduled, let run = runs.first {
            await removeUnused(Set(requests.map(\.authScope)), run, &sync)
        } else {
            await removeUnused(of: requests, &sync)
        }
        await saveBudgets(&sync)
        do {
            sync.absentAttributes = try sync.report.absentAttributes.withoutStoredValues(in: store)
            sync.formerValues = try await noteSources(after: sync)
            let former = try await findUnlisted(sync, names, Set(requests.map(\.authScope)))
            (sync.unlisted, sync.unlistedSoFar) = (former.found, former.waiting)
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
        return sync
    }

    /// Returns the status of endpoints: the times of complete scans, progress, the last failures.
    ///
    /// It is read from the store, and nothing is requested: see ``APIClient/status(of:)``.
    public func status(of names: Set<String>? = nil) async throws(MirrorError) -> [EndpointStatus] {
        try await client.status(of: names)
    }

    /// The sync over some requests; in a watch, one for each of them.
    private func runs(of requests: [EndpointRequest], isAll: Bool) throws -> [SyncRun] {
        if options.isScheduled {
            return try requests.map { request in
                try SyncRun(
                    self, [(request.endpoint.name, request.fingerprint)], isAll: false, apis: [],
                    authScope: request.authScope)
            }
        }
        return [
            try SyncRun(
                self, requests.map { ($0.endpoint.name, $0.fingerprint) }, isAll: isAll,
                apis: Set(requests.compactMap(\.client.apiName)), authScope: APIMirror.scope(of: requests))
        ]
    }

    /// Marks a sync as over, unless the next one is to continue it.
    private func finish(_ run: SyncRun, _ sync: inout SyncReport) async {
        guard run.isOpen, !options.isDryRun, let checkpoint = outcome(of: run, sync) else { return }
        do {
            try await store.write(alone: true) { try $0.setCheckpoint(run.name, checkpoint) }
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
    }

    /// The checkpoint of a sync that has ended; nil if the next one continues it as it is stored.
    ///
    /// A sync is continued if it was cancelled, or if it was cut off after it committed pages, in
    /// this run or in an earlier one. With several APIs, the second reason counts for each of them.
    private func outcome(of run: SyncRun, _ sync: SyncReport) -> Checkpoint? {
        if options.isScheduled {
            let endpoints = sync.endpoints.filter { run.isOf($0.name) }
            let stays = run.wasInterrupted && (endpoints.contains { $0.pages > 0 } || mayStayOpen(run, endpoints))
            return stays ? nil : run.completed(at: client.now)
        }
        let interruptions = sync.failures.filter(\.isInterruption), isContinued = run.resumed != nil
        if interruptions.contains(where: { if case .cancelled = $0 { true } else { false } }) { return nil }
        // A failure of the store cuts off all of them.
        if interruptions.contains(where: \.endsSync), isContinued || sync.pages > 0 { return nil }
        let interrupted = sync.interruptedAPIs, active = interrupted.filter { sync.hasPages(of: $0) }
        let open = interrupted.filter { api in
            isContinued && mayStayOpen(run, sync.endpoints.filter { $0.api == api })
        }
        let cutOff = active.union(open)
        if cutOff.isEmpty { return run.completed(at: client.now) }
        return run.continued(for: cutOff, hasProgress: !active.isEmpty)
    }

    /// Whether the next sync continues a run that has no pages.
    ///
    /// An endpoint may have a limit of its own that is always used up. The finished ones must not
    /// wait for it for long.
    private func mayStayOpen(_ run: SyncRun, _ endpoints: [SyncReport.Endpoint]) -> Bool {
        let interrupted = endpoints.filter { $0.wasStopped || $0.failures.contains(where: \.isInterruption) }
        guard interrupted.contains(where: { $0.failures.contains(where: \.isLimited) }),
            !interrupted.contains(where: { $0.failures.contains(where: \.isUnreachable) })
        else { return true }
        let hasProgress = interrupted.contains { $0.isResumed || $0.finishedParents > 0 }
        return run.hasProgress(within: hasProgress ? 86_400 : 3_900, of: client.now)
    }

    /// The requests of endpoints. If credentials are missing, their failure is thrown.
    func requests(to endpoints: [Endpoint]) async throws(MirrorError) -> [EndpointRequest] {
        let found = try await requestsOrReports(to: endpoints)
        if let failure = found.refused.first?.failures.first { throw failure }
        return found.all
    }

    /// The requests of endpoints, each with the client and the auth scope of its API, and a report
    /// for each API whose credentials are missing.
    private func requestsOrReports(
        to endpoints: [Endpoint]
    ) async throws(MirrorError) -> (all: [EndpointRequest], refused: [SyncReport.Endpoint]) {
        var scopes: [String?: String] = [:], requests: [EndpointRequest] = []
        var failures: [String?: MirrorError] = [:], refused: [SyncReport.Endpoint] = []
        for endpoint in endpoints {
            let own = client.client(of: endpoint)
            if scopes[own.apiName] == nil, failures[own.apiName] == nil {
                do { scopes[own.apiName] = try await own.authScope() } catch {
                    var failure = MirrorError(error, url: "", place: description.file)
                    if case .transport(var reason) = failure, reason.url.isEmpty {
                        reason.url = own.api.base
                        failure = .transport(reason)
                    }
                    guard failure.isAuthentication else { throw failure }
                    failures[own.apiName] = failure
                    var report = SyncReport.Endpoint(name: endpoint.name)
                    report.api = own.apiName
                    report.failures = [failure]
                    refused.append(report)
                }
            }
            if let scope = scopes[own.apiName] {
                requests.append(request(endpoint, authScope: scope))
            } else if !options.isDryRun {
                await own.note(failures[own.apiName], of: endpoint.outcomeName)
            }
        }
        return (requests, refused)
    }

    /// The auth scopes of all requests, each once.
    private static func scope(of requests: [EndpointRequest]) -> String {
        var scopes: [String] = []
        for request in requests where !scopes.contains(request.authScope) { scopes.append(request.authScope) }
        return scopes.joined(separator: " ")
    }

    /// The request of an endpoint, within the limits of the options.
    func request(_ endpoint: Endpoint, authScope: String) -> EndpointRequest {
        var limited = endpoint
        if options.isDryRun { limited.limits.pages = 1 }
        if let limit = options.limit { limited.limits.part = max(1, limit) }
        if options.isDryRun { limited.limits.stopsQuietly = true }
        return EndpointRequest(
            client: client.client(of: endpoint), endpoint: limited, fingerprint: description.fingerprint(of: endpoint),
            authScope: authScope)
    }

    /// Adds a failure of the store to a report, once.
    func addFailure(ofStore error: any Error, to sync: inout SyncReport) {
        if !sync.failures.contains(where: { if case .store = $0 { true } else { false } }) {
            sync.endpoints.append(failed(error))
        }
    }

    /// Claims the endpoints of a sync.
    ///
    /// In a watch, endpoints that another sync scans do not hold up the others, which are due by
    /// schedules of their own.
    ///
    /// - Parameter endpoints: loses the endpoints that another sync scans.
    /// - Returns: the lock, and the reports of these endpoints.
    /// - Throws: as ``claimed(_:)``; without a watch, `MirrorError.busy` for the first of them.
    private func claimed(
        _ endpoints: inout [Endpoint]
    ) async throws -> (lock: SyncLock?, busy: [SyncReport.Endpoint]) {
        let names = endpoints.map(\.name)
        guard options.isScheduled, options.claimsEndpoints, !options.waitsForOtherSyncs else {
            return (try await claimed(names), [])
        }
        let (lock, taken) = try SyncLock.claimFree(names, directory: store.directory)
        let busy = taken.map { taken in
            var report = SyncReport.Endpoint(name: taken.endpoint)
            report.failures = [MirrorError.busy(endpoint: taken.endpoint, processID: taken.processID)]
            return report
        }
        endpoints.removeAll { endpoint in taken.contains { $0.endpoint == endpoint.name } }
        return (lock, busy)
    }

    /// Claims endpoints for a sync, all or none.
    ///
    /// - Throws: `MirrorError.busy`, `CancellationError`; `StoreError` without a file to lock.
    func claimed(_ endpoints: [String]) async throws -> SyncLock? {
        // A dry run stores nothing: it must not stop a sync, nor be stopped by one.
        guard options.claimsEndpoints, !options.isDryRun else { return nil }
        var isWaiting = false
        while true {
            do {
                return try SyncLock.claim(endpoints, directory: store.directory)
            } catch let error as SyncLock.Taken {
                guard options.waitsForOtherSyncs else {
                    throw MirrorError.busy(endpoint: error.endpoint, processID: error.processID)
                }
                if !isWaiting { options.whenWaiting?(error.endpoint, error.processID) }
                isWaiting = true
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Saves rate limits that were learned after the last commit, such as from a refusal.
    func saveBudgets(_ sync: inout SyncReport) async {
        if options.isDryRun { return }
        do {
            try await client.saveBudgets()
        } catch {
            sync.endpoints.append(failed(error))
        }
    }

    func failed(_ error: any Error) -> SyncReport.Endpoint {
        var failed = SyncReport.Endpoint(name: "")
        failed.failures = [MirrorError(error, url: "", place: description.file)]
        return failed
    }
}

extension APIMirror: CustomDebugStringConvertible {
    /// One line: the API and the store.
    public var debugDescription: String { "APIMirror(\(description.file), \(store.path))" }
}
