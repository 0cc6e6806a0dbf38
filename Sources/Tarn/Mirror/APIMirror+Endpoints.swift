// The endpoints of a sync: those that do not depend on one another are scanned side by side.

import Locking
import TarnHTTP
import TarnImport
import TarnStore

extension APIMirror {
    /// The maximum number of endpoints, and of lists of one of them, that are scanned side by side.
    ///
    /// The transport and the pace limit the requests in progress. The number of lists is twice that
    /// limit: while a page is imported, the request of another list takes its place.
    var width: (endpoints: Int, lists: Int) {
        if let concurrency = options.concurrency { return (max(1, concurrency), max(1, concurrency)) }
        let api = description.api
        let requests = max(1, api.pace.concurrent ?? api.transport.concurrencyPerHost)
        return (requests, requests == 1 ? 1 : 2 * min(requests, 1 << 10))
    }

    /// Scans endpoints, and returns their reports in their order.
    ///
    /// The report of an endpoint that was not begun is missing.
    func scan(
        _ requests: [EndpointRequest], _ run: SyncRun, _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) async -> [SyncReport.Endpoint] {
        let width = width, stop = SyncStop(), lock = Lock()
        let serialized: @Sendable (SyncProgress) -> Void = { reported in
            lock.lock()
            defer { lock.unlock() }
            progress(reported)
        }
        // Hooks of a program may share state: they are never called for two endpoints at once.
        let most = options.hooks == nil ? width.endpoints : 1
        var pending = EndpointQueue(
            SyncOrder(requests.map(\.endpoint), description.schema), isSequential: options.concurrency == 1)
        var reports = [SyncReport.Endpoint?](repeating: nil, count: requests.count)
        await withTaskGroup(of: (Int, SyncReport.Endpoint).self) { group in
            while true {
                while !stop.isRequested, pending.running < most, let index = pending.take() {
                    let request = requests[index]
                    group.addTask {
                        (index, await scan(request, run, stop, width: width.lists, progress: serialized))
                    }
                }
                guard let (index, report) = await group.next() else { break }
                pending.ended(index)
                reports[index] = report
            }
        }
        return APIMirror.withoutRepetitions(reports.compactMap(\.self))
    }

    private func scan(
        _ request: EndpointRequest, _ run: SyncRun, _ stop: SyncStop, width: Int,
        progress: @escaping @Sendable (SyncProgress) -> Void
    ) async -> SyncReport.Endpoint {
        let started = ContinuousClock.now
        var report: SyncReport.Endpoint
        do {
            let pipeline = try ImportPipeline(description.mapping, store.catalog)
            let scan = EndpointScan(request, options, pipeline: pipeline, progress: progress)
            scan.syncRun = run
            scan.stop = stop
            scan.width = width
            await scan.run()
            await scan.noteOutcome()
            scan.reportEnd()
            report = scan.report
        } catch {
            report = SyncReport.Endpoint(name: request.endpoint.name)
            report.failures = [MirrorError(error, url: "", place: request.place)]
        }
        if report.failures.contains(where: \.endsEverything) { stop.request() }
        run.ended(
            request.endpoint.name, isInterrupted: report.wasStopped || report.failures.contains(where: \.isInterruption)
        )
        let elapsed = (ContinuousClock.now - started).components
        report.seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        return report
    }

    /// Removes the reports of endpoints that only failed for the same reason as an earlier one.
    ///
    /// Endpoints that are scanned side by side may meet the failure that ends a sync together.
    private static func withoutRepetitions(_ reports: [SyncReport.Endpoint]) -> [SyncReport.Endpoint] {
        guard let first = reports.firstIndex(where: { $0.failures.contains(where: \.endsEverything) }) else {
            return reports
        }
        return reports.indices.filter { index in
            let report = reports[index]
            guard index != first, report.pages == 0, !report.wasFinished, report.finishedParents == 0 else {
                return true
            }
            return !report.wasStopped && !report.failures.contains(where: \.endsEverything)
        }.map { reports[$0] }
    }
}

/// The endpoints that are still to be scanned, by their indexes.
private struct EndpointQueue {
    private let predecessors: [Set<Int>]
    private let isSequential: Bool
    private var waiting: [Int]
    private var unfinished: Set<Int>
    private(set) var running = 0

    /// - Parameter isSequential: whether the order of the description counts, and no other.
    init(_ order: SyncOrder, isSequential: Bool) {
        predecessors = order.predecessors
        waiting = Array(order.predecessors.indices)
        unfinished = Set(waiting)
        self.isSequential = isSequential
    }

    /// Removes the first endpoint that may begin; nil if all of them wait for others.
    mutating func take() -> Int? {
        let position =
            isSequential
            ? waiting.indices.first : waiting.firstIndex { predecessors[$0].isDisjoint(with: unfinished) }
        // Endpoints that wait for one another begin in the order of the description.
        guard let position = position ?? (running == 0 ? waiting.indices.first : nil) else { return nil }
        running += 1
        return waiting.remove(at: position)
    }

    mutating func ended(_ index: Int) {
        running -= 1
        unfinished.remove(index)
    }
}
