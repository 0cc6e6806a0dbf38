import Foundation
import Locking
public import Logging
public import Metrics
public import ServiceLifecycle
import Tarn
public import Tracing

#if !CommandLine
    #error("TarnService needs the trait CommandLine of the package tarn: remove `traits: []` from its .package(…) line")
#endif

/// A service that keeps records up to date: repeats requests and syncs on their schedules.
///
/// ```swift
/// let refreshes = try RefreshService([
///     ScheduledRefresh(.issues("acme/anvil"), of: forge, every: .seconds(60)),
///     ScheduledRefresh(.labels("acme/anvil"), of: forge, every: .seconds(3600)),
/// ])
/// let group = ServiceGroup(
///     services: [refreshes, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// Each refresh has a schedule of its own: one that fails does not delay the others, and is retried
/// after waits that double. Graceful shutdown ends a refresh after the page under way, and its
/// waits for limits, retries and credentials at once; every page that was answered is in the store,
/// and the next refresh confirms it with a conditional request. Cancellation, and the shutdown of a
/// mirror's refresh, also end the transfer under way.
///
/// Logs are lines at level info for complete refreshes, and at level warning for failures and for
/// refreshes that lack records. Metrics and spans are listed in <doc:Services>.
public final class RefreshService: Service, Sendable {
    /// The first refresh of a process.
    public enum Start: Sendable, Hashable {
        /// It starts at once.
        case immediately
        /// It starts when the interval has passed since the last complete refresh, also one of an
        /// earlier process.
        case whenDue
        /// It starts after an interval.
        case afterInterval
    }

    /// The waits after failures: each is twice the one before.
    public struct Retry: Sendable, Hashable {
        /// The wait after the first failure; at most the interval of the refresh.
        public var first: Duration
        /// The longest wait.
        public var maximum: Duration

        /// Creates waits.
        public init(first: Duration = .seconds(5), maximum: Duration = .seconds(600)) {
            self.first = first
            self.maximum = maximum
        }
    }

    /// The options of a service.
    public struct Options: Sendable {
        /// The first refresh of this process.
        public var start = Start.whenDue
        /// The number of refreshes of one API that run at once. Its others wait in the order of
        /// priorities.
        public var concurrency = 4
        /// The waits after failures.
        public var retry = Retry()
        /// The time between two records of the ages as metrics.
        public var ageInterval = Duration.seconds(15)
        /// The logger; nil for none.
        public var logger: Logger?
        /// The factory of metrics; nil for the one of the process.
        public var metrics: (any MetricsFactory)?
        /// The tracer; nil for the one of the process.
        public var tracer: (any Tracer)?

        /// Creates the default options.
        public init() {}
    }

    private let options: Options
    /// The turns of the refreshes of each API.
    private let queues: [String: RefreshQueue]
    private let states: Guarded<[RefreshState]>
    private let count: Int

    /// Creates a service.
    ///
    /// The times of earlier refreshes are read from the stores: ``health`` knows them before
    /// ``run()``. They count for the same request only: with other parameters, another base URL or
    /// other fields of the records, the refresh has not been complete yet. With other credentials
    /// neither; that is known as soon as ``run()`` has read them.
    ///
    /// - Throws: `StoreError` if a store cannot be read.
    /// - Precondition: no two refreshes have the same name.
    public init(_ refreshes: [ScheduledRefresh], options: Options = Options()) throws {
        let names = Dictionary(refreshes.map { ($0.name, 1) }, uniquingKeysWith: +).filter { $0.value > 1 }.keys
        precondition(
            names.isEmpty,
            "several refreshes have the name \(names.sorted().joined(separator: ", ")): name them (`name:`)")
        self.options = options
        queues = Dictionary(
            refreshes.map { ($0.plan.api, RefreshQueue(options.concurrency)) }, uniquingKeysWith: { first, _ in first })
        count = refreshes.count
        states = Guarded(
            try refreshes.map { refresh in
                var state = RefreshState(refresh)
                try state.restore()
                return state
            })
    }

    /// The health of the refreshes now. Reading it takes a lock for a moment, and no transaction.
    public var health: RefreshHealth {
        let states = states.withLock(\.self)
        return RefreshHealth(states, at: Date())
    }

    /// Repeats the refreshes until the service shuts down.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for place in 0..<count { group.addTask { try await self.untilShutdown { try await self.keep(place) } } }
            group.addTask { try await self.untilShutdown { try await self.recordAges() } }
        }
    }

    /// Runs an endless closure; its cancellation by a graceful shutdown is its end.
    private func untilShutdown(_ body: () async throws -> Void) async throws {
        do { try await body() } catch is CancellationError where Task.isShuttingDownGracefully && !Task.isCancelled {}
    }

    private func recordAges() async throws {
        let metrics = RefreshMetrics(factory: options.metrics ?? MetricsSystem.factory)
        while true {
            metrics.note(ages: health)
            try await pause(options.ageInterval)
        }
    }

    private func pause(_ wait: Duration) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: wait.ofRefresh) }
    }

    // MARK: One refresh

    /// Repeats one refresh.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the service shuts down.
    private func keep(_ place: Int) async throws {
        let refresh = states.withLock { $0[place].refresh }
        let queue = queues[refresh.plan.api] ?? RefreshQueue(options.concurrency)
        await cancelWhenGracefulShutdown { await self.checkScope(of: refresh, place) }
        var wait = states.withLock { $0[place].firstWait(options.start, now: Date()) }
        while true {
            change(place) { $0.nextStart = Date() + wait.inSeconds }
            try await pause(wait)
            // It is due, and waits for its turn.
            change(place) { $0.nextStart = nil }
            try await queue.take(refresh.priority)
            defer { queue.release() }
            change(place) { $0.isRunning = true }
            await run(refresh, place)
            try Task.checkCancellation()
            wait = states.withLock { $0[place].nextWait(options.retry) }
        }
    }

    /// Forgets the last complete refresh of an earlier process if it was that of another account.
    private func checkScope(of refresh: ScheduledRefresh, _ place: Int) async {
        guard states.withLock({ $0[place].scope != nil }) else { return }
        // If a secret cannot be read, the refresh fails, and says why.
        guard let scope = try? await refresh.scope() else { return }
        change(place) { if $0.scope != scope { $0.lastComplete = nil } }
    }

    /// Runs one refresh once, and notes its outcome.
    private func run(_ refresh: ScheduledRefresh, _ place: Int) async {
        let started = Date(), clock = ContinuousClock.now
        let tracer = options.tracer ?? InstrumentationSystem.tracer
        let run = RefreshRun(tracer)
        let outcome = await tracer.withAnySpan("tarn.refresh") { span in
            span.attributes["tarn.refresh.name"] = refresh.name
            let outcome = await RefreshRun.$current.withValue(run) { await self.outcome(of: refresh, run) }
            span.attributes["tarn.refresh.outcome"] = outcome.name
            span.attributes["tarn.refresh.pages"] = run.totals.pages.values.reduce(0, +)
            span.attributes["tarn.refresh.records"] = run.totals.listed
            if case .failed = outcome { span.setStatus(SpanStatus(code: .error)) }
            return outcome
        }
        let duration = ContinuousClock.now - clock
        await note(outcome, run.totals, refresh, place, startedAt: started)
        let metrics = RefreshMetrics(factory: options.metrics ?? MetricsSystem.factory)
        metrics.note(refresh.name, outcome: outcome.name, run.totals, duration)
        metrics.note(ages: health)
        log(outcome, refresh, run.totals, duration)
    }

    private func outcome(of refresh: ScheduledRefresh, _ run: RefreshRun) async -> RefreshOutcome {
        do {
            return try await refresh.run(run) ? .complete : .interrupted
        } catch {
            return Task.isCancelled ? .interrupted : .failed("\(error)")
        }
    }

    private func note(
        _ outcome: RefreshOutcome, _ totals: RefreshRun.Totals, _ refresh: ScheduledRefresh, _ place: Int,
        startedAt: Date
    ) async {
        let now = Date()
        if case .complete = outcome {
            let scope = await scope(of: refresh)
            let (name, checkpoint) = states.withLock {
                $0[place].checkpoint(
                    totals, startedAt: startedAt, completedAt: totals.continuedFrom ?? now, scope: scope)
            }
            do {
                try await refresh.store.write { try $0.setCheckpoint(name, checkpoint) }
            } catch {
                // The records are stored: only the next process will not know the time.
                options.logger?.warning("the time of a refresh was not stored", metadata: ["error": "\(error)"])
            }
        }
        change(place) { $0.note(outcome, totals, at: now) }
    }

    /// The time that a shutdown leaves to programs that print secrets.
    private static let shutdownWait = Duration.seconds(3)

    /// The account of a complete refresh; nil if it is not known in time.
    ///
    /// Without it, the next process does not know the time of the refresh: a shutdown does not end
    /// the question at once.
    private func scope(of refresh: ScheduledRefresh) async -> String? {
        let scope = Task { try? await refresh.scope() }
        return await withTaskCancellationOrGracefulShutdownHandler {
            await scope.value
        } onCancelOrGracefulShutdown: {
            Task {
                try? await Task.sleep(for: RefreshService.shutdownWait)
                scope.cancel()
            }
        }
    }

    private func log(
        _ outcome: RefreshOutcome, _ refresh: ScheduledRefresh, _ totals: RefreshRun.Totals, _ duration: Duration
    ) {
        guard let logger = options.logger else { return }
        let changed = totals.entities.values.reduce(0) { $0 + $1.created + $1.updated + $1.deleted }
        var metadata: Logger.Metadata = [
            "refresh": "\(refresh.name)", "pages": "\(totals.pages.values.reduce(0, +))", "listed": "\(totals.listed)",
            "changed": "\(changed)", "seconds": "\(duration.inSeconds)",
        ]
        if totals.cutOff > 0 { metadata["cut_off"] = "\(totals.cutOff)" }
        if totals.withoutValue > 0 { metadata["without_value"] = "\(totals.withoutValue)" }
        if let finding = totals.finding { metadata["finding"] = "\(finding.singleLine)" }
        if case .failed(let text) = outcome {
            metadata["error"] = "\(text.singleLine)"
            logger.warning("refresh failed", metadata: metadata)
        } else if case .complete = outcome, totals.finding != nil {
            logger.warning("refresh \(outcome.name), but not of all records", metadata: metadata)
        } else {
            logger.info("refresh \(outcome.name)", metadata: metadata)
        }
    }

    private func change(_ place: Int, _ body: (inout RefreshState) -> Void) {
        states.withLock { body(&$0[place]) }
    }
}
