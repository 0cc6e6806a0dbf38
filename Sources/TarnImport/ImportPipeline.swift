// Two importers of one mapping that take turns: the next unit is parsed and drafted while the one before is written.

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
/// Units are committed in the order in which they are started, each in a transaction of its own. One that fails is told by ``finish(isCancellable:)``; what
/// was added meanwhile is discarded with it, since a later unit may build on it. A pipeline is used by one task at a time.
public final class ImportPipeline {
    private let importers: [Importer]
    private var current = 0
    private var underWay: Task<(report: ImportReport, trainingFailure: (any Error)?), any Error>?
    /// Why the dictionaries could not be trained after the unit that was finished last; nil if nothing went wrong. The unit is stored all the
    /// same, and later rows are stored without a dictionary.
    public private(set) var trainingFailure: (any Error)?

    /// - Throws: as ``Importer/init(_:_:)``.
    public init(_ mapping: Mapping, _ catalog: Catalog) throws(ImportError) {
        importers = [try Importer(mapping, catalog), try Importer(mapping, catalog)]
    }

    deinit { underWay?.cancel() }

    /// What the documents of the next unit are added to. Another one after each ``start(to:responses:revalidated:checkpoints:trains:and:)``.
    public var importer: Importer { importers[current] }

    /// Whether a unit was started and not finished.
    public var isUnderWay: Bool { underWay != nil }

    /// Sets limits, hooks and whatever else importers have, for all units that are begun from then on.
    ///
    /// - Precondition: no unit is under way.
    public func configure(_ change: (Importer) -> Void) {
        precondition(underWay == nil, "a pipeline is configured between units: call finish() first")
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
    /// - Precondition: no unit is under way.
    public nonisolated(nonsending) func start(
        to store: Store, responses: [ResponseEntry] = [], revalidated: [ResponseEntry] = [], checkpoints: [String: Checkpoint] = [:],
        trains: Bool = true, and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)? = nil
    ) async {
        precondition(underWay == nil, "one unit at a time is committed: call finish() before the next start")
        // It is left alone until the unit is finished.
        nonisolated(unsafe) let importer = importer
        current = 1 - current
        let task = Task.detached { () async throws -> (report: ImportReport, trainingFailure: (any Error)?) in
            let report = try await importer.commit(
                to: store, responses: responses, revalidated: revalidated, checkpoints: checkpoints, and: additions)
            do {
                if trains { try store.trainDictionaries() }
                return (report, nil)
            } catch {
                return (report, error)
            }
        }
        underWay = task
        if !importer.hooks.isEmpty {
            _ = await withTaskCancellationHandler { await task.result } onCancel: { task.cancel() }
        }
    }

    /// Waits for the unit that is under way.
    ///
    /// If the task is cancelled meanwhile, so is the commit, if it is not too late.
    ///
    /// - Parameter isCancellable: false to wait for the commit whether the task is cancelled or not.
    /// - Returns: its report; nil if there was none.
    /// - Throws: as ``Importer/commit(to:responses:revalidated:checkpoints:and:)``. Then nothing of it is in the store, and what was added since
    ///   is discarded as well.
    public nonisolated(nonsending) func finish(isCancellable: Bool = true) async throws -> ImportReport? {
        guard let task = underWay else { return nil }
        (underWay, trainingFailure) = (nil, nil)
        do {
            let finished = try await isCancellable
                ? withTaskCancellationHandler { try await task.value } onCancel: { task.cancel() } : task.value
            trainingFailure = finished.trainingFailure
            return finished.report
        } catch {
            discard()
            throw error
        }
    }

    /// Forgets what was added since the last start. The unit that is under way goes on.
    public func discard() { importer.discard() }
}
