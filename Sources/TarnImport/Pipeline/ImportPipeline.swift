// Importers of one mapping that take turns: the next unit is parsed and drafted while those before are written.

public import TarnStore

/// Imports unit after unit, and drafts each while the one before is committed: parsing takes one core, and the store's writer another.
///
///     let pipeline = try ImportPipeline(mapping, store.catalog)
///     for pages in units {
///         var entries: [ResponseEntry] = []
///         for page in pages { entries.append(page.entry(listing: try pipeline.importer.add(page.body, entity: "Issue"))) }
///         if let report = try await pipeline.finish() { print(report) }   // of the unit before
///         await pipeline.start(to: store, responses: entries)
///     }
///     if let report = try await pipeline.finish() { print(report) }
///
/// Units are committed in the order in which they are started, each as one change: all of it, or nothing. One that fails is told by
/// ``finish(isCancellable:)``; what was started or added since is discarded with it, since a later unit may build on it. A pipeline is used by one task at a
/// time.
///
/// Small units cost little but the flushes of their commits. With a ``depth`` above 1 several may be under way, and those that wait together share a
/// transaction, as small writes of a store do: none is reported before all of them are durable.
///
///     while pipeline.isFull, let report = try await pipeline.finish() { print(report) }
///     await pipeline.start(to: store, responses: entries)
public final class ImportPipeline {
    private struct Unit {
        let task: Task<(report: ImportReport, trainingFailure: (any Error)?), any Error>
        let cancellation: Cancellation
        /// Its importer, and how much this keeps.
        let importer: Int
        let byteCount: Int
    }

    /// How many units may be under way.
    public let depth: Int
    private let importers: [Importer]
    private var current = 0
    /// Importers that are not in use; the last one was used last, and has memory for a unit.
    private var free: [Int]
    /// The oldest first.
    private var underWay: [Unit] = []
    /// More than one unit is under way only as long as they keep less than this together.
    private static let mostKept = 4 << 20
    private let chain = UnitChain()
    /// Why the dictionaries could not be trained after the unit that was finished last; nil if nothing went wrong. The unit is stored all the
    /// same, and later rows are stored without a dictionary.
    public private(set) var trainingFailure: (any Error)?

    /// - Parameter depth: how many small units may be under way.
    /// - Precondition: the depth is at least 1.
    /// - Throws: as ``Importer/init(_:_:)``.
    public init(_ mapping: Mapping, _ catalog: Catalog, depth: Int = 1) throws(ImportError) {
        precondition(depth >= 1, "at least one unit has to be under way")
        self.depth = depth
        var importers: [Importer] = []
        for _ in 0...depth { importers.append(try Importer(mapping, catalog)) }
        self.importers = importers
        free = (1...depth).reversed()
    }

    deinit {
        for unit in underWay { unit.cancellation.cancel() }
    }

    /// What the documents of the next unit are added to. Another one after each ``start(to:responses:revalidated:checkpoints:trains:and:)``.
    public var importer: Importer { importers[current] }

    /// Whether a unit was started and not finished.
    public var isUnderWay: Bool { !underWay.isEmpty }

    /// Whether ``finish(isCancellable:)`` has to be called, perhaps more than once, before the next start: as many units are under way as may be, or large ones, which gain
    /// nothing from waiting together.
    public var isFull: Bool {
        underWay.count == depth || underWay.reduce(0) { $0 + $1.byteCount } > ImportPipeline.mostKept
    }

    /// Sets limits, hooks and whatever else importers have, for all units that are begun from then on.
    ///
    /// - Precondition: no unit is under way.
    public func configure(_ change: (Importer) -> Void) {
        precondition(underWay.isEmpty, "a pipeline is configured between units: call finish() first")
        for importer in importers { change(importer) }
    }

    /// Begins to commit what was added, with its responses and checkpoints, and returns at once; see
    /// ``Importer/commit(to:responses:revalidated:checkpoints:and:)``. What is added from then on is of the next unit.
    ///
    /// With hooks it returns when the commit has ended: hooks are never called by two threads at once.
    ///
    /// - Parameters:
    ///   - trains: whether dictionaries are trained afterwards for entities that have enough rows and none yet, which takes long. What
    ///     goes wrong then is ``trainingFailure``.
    ///   - additions: what else belongs to the unit.
    /// - Precondition: the pipeline is not full.
    public nonisolated(nonsending) func start(
        to store: Store, responses: [ResponseEntry] = [], revalidated: [RevalidatedResponse] = [], checkpoints: [String: Checkpoint] = [:],
        trains: Bool = true, and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) async {
        precondition(!isFull, "no more units may be under way: call finish() before the next start")
        // It is left alone until the unit is finished.
        nonisolated(unsafe) let importer = importer
        let used = current, byteCount = importer.byteCount
        current = free.removeLast()
        let commit = importer.enqueue(
            to: store, responses: responses, revalidated: revalidated, checkpoints: checkpoints, after: chain, mayShare: depth > 1,
            and: additions)
        let task = Task.detached { [chain] () async throws -> (report: ImportReport, trainingFailure: (any Error)?) in
            // Nobody else keeps the store until the commit has ended.
            defer { withExtendedLifetime(store) {} }
            let report: ImportReport
            do {
                report = try await commit.report()
            } catch {
                importer.cancellation = nil
                importer.discard()
                throw error
            }
            importer.cancellation = nil
            do {
                if trains { try chain.train(store) }
                return (report, nil)
            } catch {
                return (report, error)
            }
        }
        underWay.append(Unit(task: task, cancellation: commit.cancellation, importer: used, byteCount: byteCount))
        if !importer.hooks.isEmpty {
            _ = await withTaskCancellationHandler { await task.result } onCancel: { commit.cancellation.cancel() }
        }
    }

    /// Waits for the oldest unit that is under way.
    ///
    /// If the task is cancelled meanwhile, so is the commit, if it is not too late.
    ///
    /// - Parameter isCancellable: false to wait for the commit whether the task is cancelled or not.
    /// - Returns: its report; nil if there was none.
    /// - Throws: as ``Importer/commit(to:responses:revalidated:checkpoints:and:)``. Then nothing of it is in the store, and what was added since
    ///   is discarded as well.
    public nonisolated(nonsending) func finish(isCancellable: Bool = true) async throws -> ImportReport? {
        guard !underWay.isEmpty else { return nil }
        let unit = underWay.removeFirst()
        defer { free.append(unit.importer) }
        trainingFailure = nil
        do {
            let finished = try await isCancellable
                ? withTaskCancellationHandler { try await unit.task.value } onCancel: { unit.cancellation.cancel() } : unit.task.value
            trainingFailure = finished.trainingFailure
            return finished.report
        } catch {
            // None of those that were started since is committed.
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

    /// Forgets what was added since the last start. The unit that is under way goes on.
    public func discard() { importer.discard() }
}
