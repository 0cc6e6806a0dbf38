// The scan of one endpoint: its pages in sequence, committed one by one or several together.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

/// A scan of an endpoint: of its list or, with `for_each`, of the lists of all parents.
struct EndpointScan {
    /// The request of the endpoint, without a parent.
    let request: EndpointRequest
    let options: APIMirror.Options
    let pipeline: ImportPipeline
    let progress: @Sendable (SyncProgress) -> Void
    var report: SyncReport.Endpoint
    /// The URL of the current request, as errors report it.
    var shownURL = ""
    /// The prefetch of the next page, under way while the current one is imported.
    var ahead: PageFetch?
    let transport: RetryingTransport
    /// The pages that one commit contains.
    let unit: Endpoint.CommitUnit
    /// The pages that are not committed yet.
    var batch = Batch()
    /// The batch that is being committed while the next one is fetched and drafted.
    var underWay: Batch?
    /// Whether the batch waits for other scans, to be committed with theirs as one change.
    var holdsCommits = false
    /// The import hooks of the endpoint.
    private(set) var hooks = ImportHooks()
    /// The part of the checkpoint's name that distinguishes scans of one endpoint; nil for its own.
    var variant: String?
    /// The hooks of the scan's own request, after those of the endpoint.
    var requestHooks = RequestHooks()
    /// Whether all pages are requested without conditions.
    var isUnconditional = false
    /// Requests whose 304 is void: another request has replaced the stored entry meanwhile.
    ///
    /// They are repeated without a condition.
    var overtakenRequests: Set<RequestKey> = []
    /// Indexes of the scans, among those of all parents, that lost pages to such a 304.
    var overtaken: Set<Int> = []
    /// The index of the current scan among those of all parents.
    private(set) var targetIndex = 0
    /// Whether the current scan is repeated in this sync.
    private(set) var isRepeated = false
    /// The sync that the scan belongs to; nil for a scan of a group.
    var syncRun: SyncRun?
    /// Whether the endpoint is the last one of the sync, and no earlier one was interrupted.
    var isLastOfSync = false
    private(set) var isLastTarget = false
    /// The current scan; nil before its first request.
    var current: ScanTarget?
    /// The failures that have stopped scans of single parents.
    var passedBy = PassedByParents()
    /// Whether the failure concerns the remaining parents, too.
    private var endsScans = false

    init(
        _ request: EndpointRequest, _ options: APIMirror.Options, pipeline: ImportPipeline, retry: RetryPolicy? = nil,
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        self.request = request
        self.options = options
        self.pipeline = pipeline
        self.progress = progress
        report = SyncReport.Endpoint(name: request.endpoint.name)
        unit = options.commitUnit ?? request.endpoint.commitUnit
        transport = request.client.transport(for: request.endpoint, retry: retry)
    }

    var client: APIClient { request.client }
    var endpoint: Endpoint { request.endpoint }
    /// The importer that drafts the next batch.
    var importer: Importer { pipeline.importer }

    /// Scans the endpoint, once or for every parent. Failures are in the report.
    mutating func run() async {
        hooks = options.hooks?(endpoint) ?? ImportHooks()
        let all = requestHooks.following(hooks)
        pipeline.configure {
            $0.hooks = all
            $0.keyLimit = client.options.keyLimit
        }
        defer { pipeline.configure { $0.hooks = ImportHooks() } }
        do {
            var targets: [ParentRecord?] = [nil]
            if let forEach = endpoint.forEach { (targets, report.skippedParents) = try request.parents(forEach) }
            await scan(targets)
        } catch {
            report.failures.append(MirrorError(error, url: "", place: endpoint.place))
        }
        if let forEach = endpoint.forEach {
            report.failures.insert(contentsOf: passedBy.failures(of: forEach.entity), at: 0)
        }
    }

    /// Scans the lists of all parents, and repeats those that lost pages to a void 304.
    private mutating func scan(_ targets: [ParentRecord?]) async {
        var next = 0, again: [Int] = []
        while true {
            if !again.isEmpty || next < targets.count {
                isRepeated = !again.isEmpty
                targetIndex = isRepeated ? again.removeFirst() : next
                if !isRepeated { next += 1 }
                isLastTarget = again.isEmpty && next == targets.count
                await scan(targets[targetIndex])
            } else {
                await end()
                if overtaken.isEmpty { return }
            }
            if endsScans || report.failures.contains(where: \.endsEverything) {
                overtaken = []
                return await end()
            }
            // Voided scans are repeated from their last committed page on.
            again = overtaken.union(again).sorted()
            overtaken = []
        }
    }

    private mutating func scan(_ parent: ParentRecord?) async {
        current = nil
        shownURL = Redaction.url(client.requestURL(client.description.api.base + endpoint.path))
        var request = request
        request.parent = parent
        do {
            try await scan(request)
        } catch {
            ahead?.cancel()
            ahead = nil
            if error is RevalidationConflict { return discard() }
            await stop(by: MirrorError(error, url: shownURL, place: request.place), isOfParent: parent != nil)
        }
    }

    // MARK: Failures

    /// Reports the error that has stopped the current scan, and keeps or discards its pages.
    private mutating func stop(by error: MirrorError, isOfParent hasParent: Bool) async {
        // The outcome of the batch under way does not depend on this error.
        do {
            try await settle()
        } catch is RevalidationConflict {
            // This scan is one of those that are repeated, unless the task is cancelled.
            if case .cancelled = error { report.failures.append(error) }
            return discard()
        } catch let other {
            let other = MirrorError(other, url: shownURL, place: request.place)
            // Cancelling the task also cancels the wait for the commit.
            if case .cancelled = other {} else { report.failures.append(other) }
        }
        if hasParent, error.isOfParent {
            // Pages of earlier parents are kept. If the scan is one change, nothing is kept.
            if unit == .scan || importer.hasFailed {
                discard()
                if let beginning = current?.beginning { current?.checkpoint = beginning }
            }
            if holdsCommits { return report.failures.append(error) }
            return await passBy(error)
        }
        report.failures.append(error)
        endsScans = hasParent
        // After a cancellation nothing is kept. Nothing is kept either if the scan is one change,
        // or if a record without a key has failed the unit. Otherwise pages that were fetched
        // before are kept.
        if case .cancelled = error { return discard() }
        if holdsCommits || unit == .scan || batch.isEmpty || importer.hasFailed { return discard() }
        await end()
        // The repeated scan reports the error if it meets it again.
        if !overtaken.isEmpty { report.failures.removeLast() }
    }

    /// Notes that the scan for a parent has failed: a continuing sync does not request it again.
    private mutating func passBy(_ error: MirrorError) async {
        let ends = passedBy.add(error, wasKnown: current?.beginning.failure?.kind == error.kind)
        if let run = syncRun, let current {
            var checkpoint = current.checkpoint
            checkpoint.sync = run.id
            checkpoint.failure = Checkpoint.Failure(kind: error.kind, text: error.description)
            batch.add(checkpoint, current.name)
        }
        if ends {
            endsScans = true
            report.failures.append(error)
        }
        await end()
        // The repeated scan counts the failure.
        if !ends, !overtaken.isEmpty { passedBy.removeLast(error) }
    }

    /// Stores the last failure of the endpoint's own scan, or that it has succeeded.
    func noteOutcome() async {
        if variant == nil { await client.note(report.failures.last, of: endpoint.outcomeName) }
    }

    // MARK: Progress

    mutating func count(_ entry: ResponseEntry, isImported: Bool) {
        report.pages += 1
        report.listed += entry.listing.count
        if !isImported { report.notModified += 1 }
        progress(snapshot(requesting: nil))
    }

    func snapshot(requesting url: String?) -> SyncProgress {
        SyncProgress(
            endpoint: endpoint.name, pages: report.pages, notModified: report.notModified, listed: report.listed,
            requesting: url)
    }
}
