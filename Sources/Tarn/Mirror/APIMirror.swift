// A mirror: scans the endpoints of a description page by page into a store, with checkpoints.

import Foundation
import Logging
import TarnHTTP
import TarnImport
import TarnStore

/// A mirror of an API in a store: keeps the endpoints of a description up to date.
///
/// By default, each page is one commit; a commit unit can combine several pages. A commit contains
/// the records of its pages, the validators of the responses and the progress of the scan. So an
/// interrupted sync continues after the last committed page, and an unchanged page costs one
/// conditional request.
public struct APIMirror: Sendable {
    /// The options of a mirror.
    public struct Options: Sendable {
        /// The URL that replaces the description's base URL: a proxy, a gateway or a test server.
        ///
        /// Links to the base URL are requested there, too. Stored data does not depend on it.
        public var base: String?
        /// Whether validators are ignored and every page is fetched again, from the first one on.
        public var refetches = false
        /// Whether an interrupted scan begins again.
        public var restarts = false
        /// The page limit of one scan: a guard against endless pagination.
        public var pageLimit = 10_000
        /// Whether the next page is requested while the current one is imported and committed.
        public var prefetches = true
        /// The commit unit of all endpoints; nil for what each endpoint declares.
        public var commitUnit: Endpoint.CommitUnit?
        /// Whether orphans are only reported: no record is deleted or unlinked.
        public var reportsOrphansOnly = false
        /// Called before an orphan is removed, in the same transaction; false keeps the record.
        ///
        /// It runs on the store's writer thread and must not use the store.
        public var mayDelete: (@Sendable (Record) -> Bool)?
        /// The maximum number of records that one deletion step deletes.
        public var orphanStep = 1000
        /// The maximum number of orphan candidates that one scan requests individually.
        ///
        /// Only endpoints that declare such a request are checked.
        public var orphanCheckLimit = 100
        /// Returns the import hooks of an endpoint; called once before its scan.
        ///
        /// The hooks run on the thread of the scan and on the store's writer thread. Their effect
        /// on a response is not computed again while the server answers 304.
        public var hooks: (@Sendable (Endpoint) -> ImportHooks)?
        /// The retry policy that replaces the description's; nil keeps the description's.
        public var retry: RetryPolicy?
        /// Whether requests are sent even if a server's limit is used up.
        ///
        /// Stored limits are ignored, and limits that servers announce before they refuse are not
        /// obeyed.
        public var ignoresLimits = false
        /// Called when requests begin to wait: for a limit, for the pace, or before a retry.
        public var onWait: (@Sendable (RequestWait) -> Void)?
        /// The directory where exchanges are recorded for a `FixtureTransport`; nil for none.
        ///
        /// Recordings contain no secrets. Conditions are not sent while recording.
        public var recordsTo: String?
        /// The logger of requests, waits and retries, without secrets; nil for none.
        public var logger: Logger?
        /// The clock of waits and of stored times, and the random source of waits.
        public var time = TimeSource.system
        /// Whether a sync waits while another one scans one of its endpoints into the store.
        ///
        /// The other sync may run in this process or in another. If this is false, the sync stops
        /// with ``MirrorError/busy(endpoint:processID:)``.
        public var waitsForOtherSyncs = false
        /// Called wherever a sync or a cache is suspended: tests of races delay it there.
        package var interleave: (@Sendable () async -> Void)?
        /// Whether a sync claims its endpoints, so that no other sync scans them meanwhile.
        ///
        /// It is false only in tests of races.
        package var claimsEndpoints = true

        /// Creates the default options.
        public init() {}
    }

    /// The description of the mirrored API.
    public let description: Description
    /// The store that receives the records.
    public let store: Store
    let options: Options
    private let paced: PacedTransport
    private let authorized: AuthorizedTransport
    private let recording: RecordingTransport?
    private let budgets: BudgetKeeper

    /// Creates a mirror that sends its requests over a transport.
    ///
    /// Requests follow the pace, the credentials and the retry policy of the description. Known
    /// limits of servers are restored from the store. Commands that print secrets run only when a
    /// request needs them.
    ///
    /// - Throws: `MirrorError.missingToken` if the description names an environment variable that
    ///   is not set, `.secret` if a file that it names cannot be read.
    public init(
        _ description: Description, store: Store, transport: any Transport, options: Options = Options(),
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(MirrorError) {
        self.description = description
        self.store = store
        self.options = options
        let api = description.api
        for source in api.authentication.sources {
            if case .command = source { continue }
            do throws(SecretError) { _ = try source.read(environment: environment) } catch {
                if case .environment(let variable) = source { throw .missingToken(variable: variable) }
                throw .secret(error)
            }
        }
        budgets = BudgetKeeper(store)
        var pace = api.pace
        if options.ignoresLimits { pace.obeysHeaders = false }
        paced = PacedTransport(
            ObservedTransport(
                transport, logger: options.logger,
                secretParameters: Set([api.authentication.queryParameter].compactMap(\.self))), pace: pace,
            budgets: options.ignoresLimits ? [:] : budgets.restored, time: options.time, onWait: options.onWait)
        let retry = options.retry ?? api.retry
        var tokens = retry
        // A retried token request may present a token that the first attempt has already used up.
        tokens.methods = []
        authorized = AuthorizedTransport(
            paced, api.authentication,
            origins: Set([api.base, options.base].compactMap { $0.flatMap { try? HTTPURL($0) }?.origin }),
            tokens: RetryingTransport(paced, policy: tokens, time: options.time, logger: options.logger),
            environment: environment,
            time: options.time)
        do throws(RecordingError) {
            let hidden = Set([api.authentication.queryParameter].compactMap(\.self))
            recording =
                if let directory = options.recordsTo {
                    try RecordingTransport(authorized, directory: directory, hiding: hidden)
                } else {
                    nil
                }
        } catch {
            throw .endpoint(place: error.file, message: error.message)
        }
    }

    /// The servers that redirects may lead to: the same ones as for links.
    private var redirects: RedirectScope {
        let api = description.api
        return RedirectScope(
            bases: [api.base] + api.aliases + api.follows,
            moved: options.base.map { RedirectScope.Moved(from: api.base, to: $0) })
    }

    /// The chain of transports for the requests of an endpoint.
    func transport(for endpoint: Endpoint, retry: RetryPolicy? = nil) -> RetryingTransport {
        RetryingTransport(
            RedirectGuard(recording ?? authorized, redirects), policy: retry ?? options.retry ?? description.api.retry,
            rules: rules(of: endpoint),
            refresh: { [authorized] () async throws(TransportError) in try await authorized.refresh() },
            time: options.time,
            logger: options.logger, onWait: options.onWait)
    }

    /// A suspension point where tests interleave other tasks.
    func pause() async { await options.interleave?() }

    /// The rules for responses; the first one that matches applies.
    func rules(of endpoint: Endpoint) -> [ResponseRule] { endpoint.responses + description.api.responses }

    /// Writes new rate limits of servers within the transaction of other changes.
    func saveBudgets(_ writer: inout StoreWriter) throws { try budgets.save(paced.budgets, &writer) }

    /// Scans endpoints in the order of the description: those with the given names, or all.
    ///
    /// A failure stops the scan of its endpoint and is in the report. Other endpoints continue,
    /// unless they would fail for the same reason. Cancelling the task stops before the next page.
    ///
    /// The next sync over the same endpoints continues an interrupted one: one that was killed,
    /// cancelled, or cut off from the network after some pages. Finished endpoints, and finished
    /// parents of a `for_each`, are not requested again. See ``SyncReport/resumed``.
    ///
    /// Only one sync at a time scans an endpoint into a store. A second one, in this process or in
    /// another, stops with ``MirrorError/busy(endpoint:processID:)`` or waits:
    /// ``Options/waitsForOtherSyncs``.
    ///
    /// - Parameters:
    ///   - names: the names of the endpoints; nil for all.
    ///   - progress: called before every request and after every committed page.
    /// - Returns: a report with an entry per endpoint, its failures included.
    public func sync(
        _ names: Set<String>? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport()
        let pipeline: ImportPipeline
        let scope: String
        let claim: SyncLock?
        let run: SyncRun
        let endpoints = description.endpoints.filter { names?.contains($0.name) ?? true }
        do {
            claim = try await claimed(endpoints.map(\.name))
            pipeline = try ImportPipeline(description.mapping, store.catalog)
            scope = try await self.scope()
            run = try SyncRun(
                self, endpoints.map { ($0.name, description.fingerprint(of: $0)) },
                isAll: endpoints.count == description.endpoints.count,
                authScope: scope, now: Timestamp(options.time.now()))
        } catch {
            sync.endpoints = [failed(error)]
            return sync
        }
        // The claim is held until the sync is over.
        defer { withExtendedLifetime(claim) {} }
        sync.resumed = run.resumed
        for (index, endpoint) in endpoints.enumerated() {
            var walk = EndpointScan(
                mirror: self, endpoint: endpoint, pipeline: pipeline, authScope: scope,
                fingerprint: description.fingerprint(of: endpoint),
                progress: progress)
            walk.syncRun = run
            walk.isLastOfSync = index == endpoints.count - 1 && !sync.failures.contains(where: \.isInterruption)
            let started = ContinuousClock.now
            await walk.run()
            let elapsed = (ContinuousClock.now - started).components
            walk.report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
            sync.endpoints.append(walk.report)
            if walk.report.failures.contains(where: \.endsEverything) { break }
        }
        await finish(run, &sync)
        await saveBudgets(&sync)
        do {
            sync.absentAttributes = try sync.report.absentAttributes.withoutStoredValues(in: store)
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
        return sync
    }

    /// Marks a sync as over, unless the next one is to continue it.
    ///
    /// A sync is continued if it was cancelled, or if it was cut off after it committed pages.
    private func finish(_ run: SyncRun, _ sync: inout SyncReport) async {
        let interruptions = sync.failures.filter(\.isInterruption)
        let isCancelled = interruptions.contains { if case .cancelled = $0 { true } else { false } }
        guard run.isOpen, !isCancelled, interruptions.isEmpty || sync.pages == 0 else { return }
        do {
            let checkpoint = run.completed(at: Timestamp(options.time.now()))
            try await store.write(alone: true) { try $0.setCheckpoint(run.name, checkpoint) }
        } catch {
            addFailure(ofStore: error, to: &sync)
        }
    }

    /// Adds a failure of the store to a report, once.
    private func addFailure(ofStore error: any Error, to sync: inout SyncReport) {
        if !sync.failures.contains(where: { if case .store = $0 { true } else { false } }) {
            sync.endpoints.append(failed(error))
        }
    }

    /// Claims endpoints for a sync.
    ///
    /// - Throws: `MirrorError.busy`, `CancellationError`.
    private func claimed(_ endpoints: [String]) async throws -> SyncLock? {
        guard options.claimsEndpoints else { return nil }
        while true {
            do throws(SyncLock.Taken) {
                return try SyncLock.claim(endpoints, directory: store.path)
            } catch {
                guard options.waitsForOtherSyncs else {
                    throw MirrorError.busy(endpoint: error.endpoint, processID: error.processID)
                }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// The auth scope as a keyed hash: responses stored for one scope are not served to another.
    func scope() async throws -> String {
        try await authorized.scope().map { secret in
            String(try store.read { SHA256.hexadecimal(try $0.incarnation + "\n" + secret.exposed) }.prefix(32))
        } ?? ""
    }

    /// Saves rate limits that were learned after the last commit, such as from a refusal.
    func saveBudgets(_ sync: inout SyncReport) async {
        guard budgets.isNew(paced.budgets) else { return }
        do {
            try await store.write(alone: true) { try saveBudgets(&$0) }
        } catch {
            sync.endpoints.append(failed(error))
        }
    }

    func failed(_ error: any Error) -> SyncReport.Endpoint {
        var failed = SyncReport.Endpoint(name: "")
        failed.failures = [APIMirror.mirrorError(error, url: "", place: description.file)]
        return failed
    }

    /// Maps a URL of the API to the URL that is requested.
    func requestURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        if let moved = HTTPURL.rebase(link: url, from: [description.api.base], onto: base) { return moved }
        // A link may lead outside the path of the base URL. Even then it must not reach the real
        // server.
        guard let home = try? HTTPURL(description.api.base), let other = try? HTTPURL(base) else { return url }
        return HTTPURL.rebase(link: url, from: [home.origin], onto: other.origin) ?? url
    }

    /// Maps a requested URL back to the URL of the API, which links are relative to.
    func canonicalURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        return HTTPURL.rebase(link: url, from: [base], onto: description.api.base) ?? url
    }

    func request(_ url: String) -> TransportRequest {
        let headers = TransportHeaders(description.api.headers)
        guard let target = try? HTTPURL(url), let home = try? HTTPURL(description.api.base),
            !target.hasSameOrigin(as: home)
        else {
            return TransportRequest(records: requestURL(url), headers: headers)
        }
        // A link to another server: headers that only this API may see are not sent.
        return TransportRequest(records: url, headers: headers.harmless)
    }

    static func mirrorError(_ error: any Error, url: String, place: String) -> MirrorError {
        switch error {
        case let error as MirrorError: error
        case let error as TransportError: error.kind == .cancelled ? .cancelled : .transport(error)
        case let error as ImportError: .response(error, url: url, place: place)
        case let error as PaginationError: .pagination(error, place: place)
        case let error as StoreError: .store(error)
        case is CancellationError: .cancelled
        default: .endpoint(place: place, message: "\(error)")
        }
    }
}

extension TransportRequest {
    /// Creates a request that reads a successful body fully, and only the beginning of a refusal.
    fileprivate init(records url: String, headers: TransportHeaders) {
        self.init(url: url, headers: headers)
        responseLimits = .records
    }
}
