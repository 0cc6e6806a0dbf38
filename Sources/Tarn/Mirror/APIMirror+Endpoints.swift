// The endpoints of a sync: those that do not depend on one another are scanned side by side.

import Locking
import TarnHTTP
import TarnImport
import TarnStore

extension APIMirror {
    /// The largest number of an API's endpoints, and of lists of each, that are scanned side by
    /// side.
    ///
    /// The transport and the pace limit the requests in progress. The number of lists is twice that
    /// limit: while a page is imported, the request of another list takes its place.
    func width(of api: APIDescription) -> (endpoints: Int, lists: Int) {
        if let concurrency = options.concurrency { return (max(1, concurrency), max(1, concurrency)) }
        let requests = max(1, api.pace.concurrent ?? api.transport.concurrencyPerHost)
        return (requests, requests == 1 ? 1 : 2 * min(requests, 1 << 10))
    }

    /// Scans endpoints, and returns their reports in their order.
    ///
    /// The report of an endpoint that was not begun is missing.
    ///
    /// - Parameters:
    ///   - runs: the sync that the scans belong to, or one for each of them.
    ///   - isCutShort: set if endpoints were stopped or not begun because of another one.
    func scan(
        _ requests: [EndpointRequest], _ runs: [SyncRun], _ progress: @escaping @Sendable (SyncProgress) -> Void,
        isCutShort: inout Bool
    ) async -> [SyncReport.Endpoint] {
        let lock = Lock()
        let serialized: @Sendable (SyncProgress) -> Void = { reported in
            lock.lock()
            defer { lock.unlock() }
            progress(reported)
        }
        // A failure for all endpoints of an API does not concern those of another one.
        let names = Set(requests.map(\.client.apiName))
        let stops = Dictionary(uniqueKeysWithValues: names.map { ($0, SyncStop()) })
        var pending = EndpointQueue(
            SyncOrder(requests.map(\.endpoint), description.schema, description.mapping),
            groups: requests.map(\.client.apiName),
            isSequential: options.concurrency == 1)
        for request in requests {
            // Hooks of a program may share state: they are never called for two endpoints at once.
            pending.most[request.client.apiName] =
                options.hooks == nil ? width(of: request.client.api).endpoints : 1
        }
        pending.isShared = options.hooks != nil
        var reports = [SyncReport.Endpoint?](repeating: nil, count: requests.count)
        var ended = BitSet(bound: requests.count), before = requests.map { _ in ended }
        await withTaskGroup(of: (Int, SyncReport.Endpoint).self) { group in
            while true {
                while let index = pending.take(unless: { stops[$0]?.holdsOthers ?? false }) {
                    before[index] = ended
                    let request = requests[index], run = runs.count == 1 ? runs[0] : runs[index]
                    let stop = stops[request.client.apiName] ?? SyncStop()
                    group.addTask { (index, await scan(request, run, stop, progress: serialized)) }
                }
                guard let (index, report) = await group.next() else { break }
                pending.ended(index)
                ended.insert(index)
                if report.failures.contains(where: \.endsSync) { stops.values.forEach { $0.request() } }
                reports[index] = report
            }
        }
        isCutShort = reports.contains { $0?.wasStopped ?? true }
        noteLaterParents(requests, endedBefore: before, in: &reports)
        return APIMirror.withoutRepetitions(reports.compactMap(\.self))
    }

    private func scan(
        _ request: EndpointRequest, _ run: SyncRun, _ stop: SyncStop,
        progress: @escaping @Sendable (SyncProgress) -> Void
    ) async -> SyncReport.Endpoint {
        let started = ContinuousClock.now
        var report: SyncReport.Endpoint
        do {
            let pipeline = try ImportPipeline(description.mapping, store.catalog, plans: description.plans)
            let scan = EndpointScan(request, options, pipeline: pipeline, progress: progress)
            scan.syncRun = run
            scan.stop = stop
            scan.width = width(of: request.client.api).lists
            await scan.run()
            await scan.noteOutcome()
            scan.reportEnd()
            report = scan.report
        } catch {
            report = SyncReport.Endpoint(name: request.endpoint.name)
            report.api = request.client.apiName
            report.failures = [MirrorError(error, url: "", place: request.place)]
        }
        stop.note(report)
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
        var first: [String?: Int] = [:], ofAll: Int?
        for (index, report) in reports.enumerated().reversed()
        where report.failures.contains(where: \.endsEverything) {
            first[report.api] = index
            if report.failures.contains(where: \.endsSync) { ofAll = index }
        }
        guard !first.isEmpty else { return reports }
        return reports.indices.filter { index in
            let report = reports[index]
            guard let cause = first[report.api] ?? ofAll, index != cause else { return true }
            guard report.pages == 0, !report.wasFinished, report.finishedParents == 0 else { return true }
            return !report.wasStopped && !report.failures.contains(where: \.endsEverything)
        }.map { reports[$0] }
    }
}
