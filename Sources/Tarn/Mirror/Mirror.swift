// A mirror: the endpoints of a description, walked page by page into a store, with checkpoints.

import Foundation
import Logging
import TarnHTTP
import TarnImport
import TarnStore

/// Keeps the endpoints of a description in a store.
///
/// A page is one commit, if nothing else is said, or several pages are: their records, the responses' validators, and how far the
/// walk has come. So an interrupted sync goes on with the page after the last one that was committed, and a page that has not
/// changed costs one conditional request.
public struct Mirror: Sendable {
    public struct Options: Sendable {
        /// Where requests are sent instead of the description's base URL: a proxy, a gateway, a test server. Links to the
        /// base URL are followed there too. What is stored does not depend on it.
        public var base: String?
        /// Whether validators are ignored and everything is fetched again, from the first page on.
        public var refetches = false
        /// Whether an interrupted walk begins again.
        public var restarts = false
        /// Pages of one walk after which something must be wrong.
        public var pageLimit = 10_000
        /// Whether the next page is asked for while one is imported and committed.
        public var prefetches = true
        /// What is committed together, whatever the endpoints say; nil for what they say.
        public var commitUnit: Endpoint.CommitUnit?
        /// Whether records that the server no longer lists are only reported: none is deleted or unlinked.
        public var reportsOrphansOnly = false
        /// Asked before such a record goes, in the transaction in which it would: false keeps it. Called on the store's writer thread; it
        /// must not use the store.
        public var mayDelete: (@Sendable (Record) -> Bool)?
        /// How many records a step of deleting deletes, at most.
        public var orphanStep = 1000
        /// How many records are asked for by themselves at the end of one walk, at most, where an endpoint says how.
        public var orphanCheckLimit = 100
        /// The hooks of an endpoint's imports: called once before it is walked. They are called on the thread of the walk, and on the store's
        /// writer thread. What they make of a response is not asked for again while the server answers 304.
        public var hooks: (@Sendable (Endpoint) -> ImportHooks)?
        /// When a request is sent again, whatever the description says; nil for what it says.
        public var retry: RetryPolicy?
        /// Whether requests are sent although a server's limit is used up: what the store has of limits is forgotten, and what
        /// servers say of them before they refuse is not obeyed.
        public var ignoresLimits = false
        /// Called when requests begin to wait: for a limit, for the pace, or before another try.
        public var onWait: (@Sendable (RequestWait) -> Void)?
        /// A directory to which every exchange is written, without secrets, for a `FixtureTransport`; nil for none. Conditions are not sent then.
        public var recordsTo: String?
        /// Where requests, waits and retries are told of, without secrets; nil for nowhere.
        public var logger: Logger?
        /// The clock of waits and of what is noted with answers, and the chance of waits.
        public var time = TimeSource.system
        /// Whether a sync waits while another one, in this process or another, walks one of its
        /// endpoints into the store. Otherwise it ends with
        /// ``MirrorError/busy(endpoint:processID:)``.
        public var waitsForOtherSyncs = false
        /// Called wherever a sync or a cache is suspended: proofs of races delay it there.
        package var interleave: (@Sendable () async -> Void)?
        /// Whether a sync claims its endpoints, so that no other sync walks them meanwhile. False
        /// in proofs of races only.
        package var claimsEndpoints = true

        public init() {}
    }

    public let description: Description
    public let store: Store
    let options: Options
    private let paced: PacedTransport
    private let authorized: AuthorizedTransport
    private let recording: RecordingTransport?
    private let budgets: BudgetKeeper

    /// A mirror that sends its requests over a transport: at the pace of the description, with its credentials, and again where that may
    /// help. What servers have said of their limits is taken from the store.
    ///
    /// - Throws: `MirrorError.missingToken` if the description names an environment variable that is not set, `.secret` if a file that it
    ///   names cannot be read. Commands are run when a request needs them.
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
                transport, logger: options.logger, secretParameters: Set([api.authentication.queryParameter].compactMap(\.self))), pace: pace, budgets: options.ignoresLimits ? [:] : budgets.restored, time: options.time, onWait: options.onWait)
        let retry = options.retry ?? api.retry
        var tokens = retry
        // What asks for a token may use up the one that it shows.
        tokens.methods = []
        authorized = AuthorizedTransport(
            paced, api.authentication,
            origins: Set([api.base, options.base].compactMap { $0.flatMap { try? HTTPURL($0) }?.origin }),
            tokens: RetryingTransport(paced, policy: tokens, time: options.time, logger: options.logger), environment: environment,
            time: options.time)
        do throws(RecordingError) {
            let hidden = Set([api.authentication.queryParameter].compactMap(\.self))
            recording = if let directory = options.recordsTo {
                try RecordingTransport(authorized, directory: directory, hiding: hidden)
            } else {
                nil
            }
        } catch {
            throw .endpoint(place: error.file, message: error.message)
        }
    }

    /// The servers to which redirects may lead: those to which links may.
    private var redirects: RedirectScope {
        let api = description.api
        return RedirectScope(
            bases: [api.base] + api.aliases + api.follows, moved: options.base.map { RedirectScope.Moved(from: api.base, to: $0) })
    }

    /// What an endpoint's requests go through.
    func transport(for endpoint: Endpoint, retry: RetryPolicy? = nil) -> RetryingTransport {
        RetryingTransport(
            RedirectGuard(recording ?? authorized, redirects), policy: retry ?? options.retry ?? description.api.retry, rules: rules(of: endpoint),
            refresh: { [authorized] () async throws(TransportError) in try await authorized.refresh() }, time: options.time,
            logger: options.logger, onWait: options.onWait)
    }

    /// A point where others may run.
    func pause() async { await options.interleave?() }

    /// What is to be done with certain answers, the first one that fits.
    func rules(of endpoint: Endpoint) -> [ResponseRule] { endpoint.responses + description.api.responses }

    /// Writes what servers have said of their limits, if it is new, with everything else in a transaction.
    func saveBudgets(_ writer: inout StoreWriter) throws { try budgets.save(paced.budgets, &writer) }

    /// Walks endpoints in the order of the description, those with the given names or all.
    ///
    /// A failure ends its walk and is in the report; other endpoints go on, unless they would fail for the same reason.
    /// Cancelling the task stops before the next page.
    ///
    /// A sync that was interrupted (killed, cancelled, or cut off from the network after some
    /// pages) is continued by the next one over the same endpoints: what it had finished, endpoints
    /// and parents of a `for_each`, is not requested again. See ``SyncReport/resumed``.
    ///
    /// One sync at a time walks an endpoint into a store. A second one, here or in another process,
    /// ends with ``MirrorError/busy(endpoint:processID:)``, or waits:
    /// ``Options/waitsForOtherSyncs``.
    public func sync(
        _ names: Set<String>? = nil, progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) async -> SyncReport {
        var sync = SyncReport()
        let pipeline: ImportPipeline
        let scope: String
        let claim: SyncClaim?
        let run: SyncRun
        let endpoints = description.endpoints.filter { names?.contains($0.name) ?? true }
        do {
            claim = try await claimed(endpoints.map(\.name))
            pipeline = try ImportPipeline(description.mapping, store.catalog)
            scope = try await self.scope()
            run = try SyncRun(
                self, endpoints.map { ($0.name, description.fingerprint(of: $0)) }, isAll: endpoints.count == description.endpoints.count,
                authScope: scope, now: Timestamp(options.time.now()))
        } catch {
            sync.endpoints = [failed(error)]
            return sync
        }
        // Until the sync is over.
        defer { withExtendedLifetime(claim) {} }
        sync.resumed = run.resumed
        for (index, endpoint) in endpoints.enumerated() {
            var walk = Walk(
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
        // A store that cannot be read has failed the sync already.
        sync.absentAttributes = (try? sync.report.absentAttributes.withoutStoredValues(in: store)) ?? []
        return sync
    }

    /// Notes that a sync is over, unless the next one is to continue it: one that was cancelled, or
    /// cut off after it has committed pages.
    private func finish(_ run: SyncRun, _ sync: inout SyncReport) async {
        let interruptions = sync.failures.filter(\.isInterruption)
        let isCancelled = interruptions.contains { if case .cancelled = $0 { true } else { false } }
        guard run.isOpen, !isCancelled, interruptions.isEmpty || sync.pages == 0 else { return }
        do {
            let checkpoint = run.completed(at: Timestamp(options.time.now()))
            try await store.write(alone: true) { try $0.setCheckpoint(run.name, checkpoint) }
        } catch {
            // A store that has failed already has said so.
            if !sync.failures.contains(where: { if case .store = $0 { true } else { false } }) { sync.endpoints.append(failed(error)) }
        }
    }

    /// Claims endpoints for a sync.
    ///
    /// - Throws: `MirrorError.busy`, `CancellationError`.
    private func claimed(_ endpoints: [String]) async throws -> SyncClaim? {
        guard options.claimsEndpoints else { return nil }
        while true {
            do throws(SyncClaim.Taken) {
                return try SyncClaim.claim(endpoints, directory: store.path)
            } catch {
                guard options.waitsForOtherSyncs else { throw MirrorError.busy(endpoint: error.endpoint, processID: error.processID) }
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    /// Who asks, as a keyed hash: what is stored for one is not served to another.
    func scope() async throws -> String {
        try await authorized.scope().map { secret in
            String(try store.read { SHA256.hexadecimal(try $0.incarnation + "\n" + secret.exposed) }.prefix(32))
        } ?? ""
    }

    /// What was learned after the last commit, such as from a refusal, must not be forgotten.
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
        failed.failures = [Mirror.mirrorError(error, url: "", place: description.file)]
        return failed
    }

    /// The URL at which a URL of the API is requested.
    func requestURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        if let moved = HTTPURL.rebase(link: url, from: [description.api.base], onto: base) { return moved }
        // A link may lead beside the path of the base URL. It must not lead to the real server all the same.
        guard let home = try? HTTPURL(description.api.base), let other = try? HTTPURL(base) else { return url }
        return HTTPURL.rebase(link: url, from: [home.origin], onto: other.origin) ?? url
    }

    /// The URL of the API that was requested at a URL: what links are relative to.
    func canonicalURL(_ url: String) -> String {
        guard let base = options.base else { return url }
        return HTTPURL.rebase(link: url, from: [base], onto: description.api.base) ?? url
    }

    func request(_ url: String) -> HTTPRequest {
        let headers = HTTPHeaders(description.api.headers)
        guard let target = try? HTTPURL(url), let home = try? HTTPURL(description.api.base), !target.hasSameOrigin(as: home) else {
            return HTTPRequest(records: requestURL(url), headers: headers)
        }
        // Another server, to which links may lead: it learns nothing that only this API should know.
        return HTTPRequest(records: url, headers: headers.harmless)
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

extension HTTPRequest {
    /// A request of which the records of a success are of use, and the beginning of a refusal.
    fileprivate init(records url: String, headers: HTTPHeaders) {
        self.init(url: url, headers: headers)
        responseLimits = .records
    }
}
