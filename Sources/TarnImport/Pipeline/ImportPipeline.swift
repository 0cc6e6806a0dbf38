// A pipeline of importers: the next unit is parsed and drafted while earlier units are written.

import Synchronization
public import TarnStore

/// An import of consecutive units that drafts one unit while the previous one is committed.
///
/// Parsing takes one core, and the store's writer another.
///
///     let pipeline = try ImportPipeline(mapping, store.catalog)
///     for pages in units {
///         for page in pages { _ = try pipeline.importer.add(page.body, entity: "Issue") }
///         if let report = try await pipeline.finish() { print(report) }   // of the unit before
///         await pipeline.start(to: store)
///     }
///     if let report = try await pipeline.finish() { print(report) }
///
/// Units are committed in the order in which they are started, each as one atomic change.
/// ``finish(isCancellable:)`` throws the error of a failed unit. All later units, started or added,
/// are discarded with it, since they may build on it. One task at a time uses a pipeline.
///
/// Small units cost little beyond the flushes of their commits. With a `depth` above 1, several
/// may be in progress, and waiting ones share a transaction, as small writes of a store do. None is
/// reported before all of them are durable.
///
///     while pipeline.isFull, let report = try await pipeline.finish() { print(report) }
///     await pipeline.start(to: store)
public final class ImportPipeline {
    private struct Outcome: Sendable {
        var report: ImportReport
        /// The time from the start to the commit.
        var duration: Duration
        var trainingFailure: (any Error)?
    }

    private struct Unit {
        let task: Task<Outcome, any Error>
        let cancellation: Cancellation
        let end: End
        /// The position of the unit's importer, and the bytes that it keeps.
        let importer: Int
        let byteCount: Int
    }

    /// Whether the work of a unit is over.
    private final class End: Sendable {
        let isReached = Atomic(false)
    }

    /// The maximum number of units in progress.
    package let depth: Int
    /// Whether units are merged and then rolled back: their reports tell what they would change.
    package var isDryRun = false
    /// Called when a unit has ended, whatever its outcome, on any thread.
    package var whenEnded: (@Sendable () -> Void)?
    private let importers: [Importer]
    private var current = 0
    /// Importers that are not in use. The last one was used most recently: its memory is allocated.
    private var free: [Int]
    /// The units in progress, oldest first.
    private var underWay: [Unit] = []
    /// The number of bytes kept by units in progress above which a pipeline is full.
    private static let mostKept = 4 << 20
    private let chain = UnitChain()
    /// The error of the dictionary training after the last finished unit; nil if there was none.
    ///
    /// The unit is stored all the same, and later rows are stored without a dictionary.
    public private(set) var trainingFailure: (any Error)?
    /// The time that the commit of the last finished unit took, with its wait for other writers.
    package private(set) var commitDuration = Duration.zero

    /// Creates a pipeline.
    ///
    /// - Parameters:
    ///   - catalog: that of the store to which units are committed.
    ///   - depth: the maximum number of small units in progress.
    /// - Precondition: the depth is at least 1.
    /// - Throws: the errors of ``Importer/init(_:_:)``.
    public convenience init(_ mapping: Mapping, _ catalog: Catalog, depth: Int = 1) throws(ImportError) {
        try self.init(mapping, catalog, plans: ImportPlanKeeper(), depth: depth)
    }

    /// Creates a pipeline.
    ///
    /// - Parameter plans: has the plan of the mapping, if another pipeline has made it.
    package init(
        _ mapping: Mapping, _ catalog: Catalog, plans: ImportPlanKeeper, depth: Int = 1
    ) throws(ImportError) {
        precondition(depth >= 1, "at least one unit must be in progress")
        self.depth = depth
        var importers: [Importer] = []
        for _ in 0...depth { importers.append(try Importer(plans.plan(mapping, catalog), catalog)) }
        self.importers = importers
        free = (1...depth).reversed()
    }

    deinit {
        for unit in underWay { unit.cancellation.cancel() }
    }

    /// The importer of the next unit, to which its documents are added.
    ///
    /// It is another one after each ``start(to:trains:)``.
    public var importer: Importer { importers[current] }

    /// Whether a unit was started and is not finished.
    package var isUnderWay: Bool { !underWay.isEmpty }

    /// Whether the oldest unit in progress has ended: ``finish(isCancellable:)`` returns at once.
    package var hasEnded: Bool { underWay.first?.end.isReached.load(ordering: .acquiring) ?? false }

    /// Whether ``finish(isCancellable:)`` must be called before the next start.
    ///
    /// If several units are in progress, more than one call may be necessary. A pipeline is full if
    /// as many units are in progress as allowed, or large ones, which gain nothing from a shared
    /// commit.
    public var isFull: Bool {
        underWay.count == depth || underWay.reduce(0) { $0 + $1.byteCount } > ImportPipeline.mostKept
    }

    /// Sets limits, hooks and other options of all importers, for units that begin from then on.
    ///
    /// - Precondition: no unit is under way.
    public func configure(_ change: (Importer) -> Void) {
        precondition(
            underWay.isEmpty, "a pipeline cannot be configured while units are in progress: call finish() first")
        for importer in importers { change(importer) }
    }

    /// Starts the commit of the importer's unit, as ``Importer/commit(to:)`` does, and returns.
    ///
    /// Documents that are added from then on belong to the next unit.
    ///
    /// With hooks, it returns after the commit: two threads never call hooks at once.
    ///
    /// - Parameter trains: whether dictionaries are trained afterwards for entities that have
    ///   enough rows and no dictionary, which takes long. An error of the training is
    ///   ``trainingFailure``.
    /// - Precondition: the pipeline is not full.
    public nonisolated(nonsending) func start(to store: Store, trains: Bool = true) async {
        precondition(!isFull, "too many units in progress: call finish() before the next start")
        // The importer is not used again until the unit is finished.
        nonisolated(unsafe) let importer = importer
        let used = current, byteCount = importer.byteCount
        current = free.removeLast()
        let started = ContinuousClock.now, commit = UnitCommit(), end = End()
        importer.cancellation = commit.cancellation
        // Units are enqueued in their order: none is started before one that trains has been.
        let trainsFirst = trains && !isDryRun && underWay.isEmpty && importer.mayTrain && chain.takesTraining()
        let enqueue = enqueuing(importer, store, commit)
        if !trainsFirst { enqueue() }
        let task = Task.detached { [chain, isDryRun, whenEnded] () async throws -> Outcome in
            defer {
                end.isReached.store(true, ordering: .releasing)
                whenEnded?()
            }
            // Keeps the store open until the commit has ended.
            defer { withExtendedLifetime(store) {} }
            var trainingFailure: (any Error)?
            if trainsFirst {
                do { try chain.train(store, from: importer) } catch { trainingFailure = error }
                enqueue()
            }
            var outcome: Outcome
            do {
                let report = try await commit.report()
                outcome = Outcome(report: report, duration: ContinuousClock.now - started)
            } catch {
                importer.cancellation = nil
                importer.discard()
                throw error
            }
            importer.cancellation = nil
            do {
                if trains, !isDryRun, trainingFailure == nil { try chain.train(store) }
            } catch {
                trainingFailure = error
            }
            outcome.trainingFailure = trainingFailure
            return outcome
        }
        underWay.append(
            Unit(
                task: task, cancellation: commit.cancellation, end: end, importer: used,
                // A pipeline is full until a unit that trains is enqueued.
                byteCount: trainsFirst ? max(byteCount, ImportPipeline.mostKept + 1) : byteCount))
        if !importer.hooks.isEmpty {
            _ = await withTaskCancellationHandler {
                await task.result
            } onCancel: {
                commit.cancellation.cancel()
            }
        }
    }

    /// Waits for the oldest unit in progress.
    ///
    /// Cancelling the task cancels the commit, unless it is too late.
    ///
    /// - Parameter isCancellable: false to wait for the commit even if the task is cancelled.
    /// - Returns: the unit's report; nil if no unit is in progress.
    /// - Throws: the errors of ``Importer/commit(to:)``. The
    ///   store then has nothing of the unit, and all later units are discarded.
    public nonisolated(nonsending) func finish(isCancellable: Bool = true) async throws -> ImportReport? {
        guard !underWay.isEmpty else { return nil }
        let unit = underWay.removeFirst()
        defer { free.append(unit.importer) }
        trainingFailure = nil
        do {
            let finished =
                try await isCancellable
                ? withTaskCancellationHandler {
                    try await unit.task.value
                } onCancel: {
                    unit.cancellation.cancel()
                } : unit.task.value
            trainingFailure = finished.trainingFailure
            commitDuration = finished.duration
            return finished.report
        } catch {
            // Later units fail with `UnitBeforeFailed`: the chain is broken.
            for unit in underWay {
                _ = await unit.task.result
                free.append(unit.importer)
            }
            underWay.removeAll()
            chain.mend()
            discard()
            throw error
        }
    }

    /// Discards the documents that were added since the last start. Units in progress continue.
    public func discard() { importer.discard() }

    /// The size in bytes up to which waiting units share a transaction.
    ///
    /// Sharing saves most of the cost of a small commit. A larger unit gets its own transaction: a
    /// shared one keeps all changes of a unit in memory.
    private static let largestShared = 1 << 18

    /// Returns what enqueues the importer's unit as one write behind the waiting ones.
    ///
    /// The importer must not be used until the result is delivered.
    private func enqueuing(_ importer: Importer, _ store: Store, _ commit: UnitCommit) -> @Sendable () -> Void {
        let isAlone = depth == 1 || isDryRun || importer.byteCount > ImportPipeline.largestShared
        nonisolated(unsafe) let importer = importer
        return { [chain, isDryRun] in
            ImportPipeline.enqueue(importer, store, commit, chain, isAlone: isAlone, isDryRun: isDryRun)
        }
    }

    private static func enqueue(
        _ importer: Importer, _ store: Store, _ commit: UnitCommit, _ chain: UnitChain, isAlone: Bool, isDryRun: Bool
    ) {
        nonisolated(unsafe) let importer = importer
        do {
            try store.enqueue(alone: isAlone) { writer in
                do {
                    if chain.hasFailed { throw UnitBeforeFailed() }
                    let report = try importer.commit(into: &writer)
                    if isDryRun { throw UnitRolledBack(report: report) }
                    return report
                } catch let rolledBack as UnitRolledBack {
                    throw rolledBack
                } catch {
                    // Before the next unit runs, possibly in the same transaction.
                    chain.fail()
                    throw error
                }
            } deliver: { result in
                if case .failure(let error) = result {
                    if let rolledBack = error as? UnitRolledBack { return commit.deliver(.success(rolledBack.report)) }
                    chain.fail()
                }
                commit.deliver(result)
            }
        } catch {
            chain.fail()
            commit.deliver(.failure(error))
        }
    }
}
