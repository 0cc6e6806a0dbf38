// The scan of one endpoint: its pages in sequence, committed one by one or several together.

import Foundation
import Locking
import TarnHTTP
import TarnImport
import TarnStore

/// A scan of an endpoint: of its list or, with `for_each`, of the lists of all parents.
final class EndpointScan {
    /// The request of the endpoint, without a parent.
    let request: EndpointRequest
    let options: APIMirror.Options
    let pipeline: ImportPipeline
    let progress: @Sendable (SyncProgress) -> Void
    var report: SyncReport.Endpoint
    /// The URL of the current request, as errors report it.
    var shownURL = ""
    /// The request for the first page of a scan in a group, sent before the scan's turn.
    var first: PageFetch?
    /// The signal of responses and commits.
    let arrivals = Arrivals()
    let transport: RetryingTransport
    /// The status monitors of answers that come later.
    let answers: AwaitedAnswers
    /// The pages that one commit contains.
    let unit: Endpoint.CommitUnit
    /// The pages that are not committed yet.
    var batch = Batch()
    /// The time when the first page of the batch began to wait for others; nil if none waits.
    var batchBegan: ContinuousClock.Instant?
    /// The number of records after which a first commit trains a dictionary; nil for none.
    var rowsToTrain: Int?
    /// The batch that is being committed while the next one is fetched and drafted.
    var underWay: Batch?
    /// Whether the batch waits for other scans, to be committed with theirs as one change.
    var holdsCommits = false
    /// The import hooks of the endpoint.
    private(set) var hooks = ImportHooks()
    /// The part of the checkpoint's name that distinguishes scans of one endpoint; nil for its own.
    var variant: String?
    /// The name of the list of a typed request; nil for that of the endpoint and the variant.
    var listName: String?
    /// The hooks of the scan's own request, after those of the endpoint.
    var requestHooks = RequestHooks()
    /// Whether the URLs end with the key of the record that each of them requests.
    let requestsByKey: Bool
    /// Whether all pages are requested without conditions.
    var isUnconditional = false
    /// Requests whose 304 is void: another request has replaced the stored entry meanwhile.
    ///
    /// They are repeated without a condition.
    var overtakenRequests: Set<RequestKey> = []
    /// Indexes of the scans, among those of all parents, that lost pages to such a 304.
    var overtaken: Set<Int> = []
    /// The sync that the scan belongs to; nil for a scan of a group.
    var syncRun: SyncRun?
    /// The id of the sync.
    var syncID: UInt64? { syncRun?.id(of: client.apiName) }
    /// The stop of all scans of the sync; nil for a scan of a group.
    var stop: SyncStop?
    /// The maximum number of lists that are scanned at once.
    var width = 1
    /// The parents instead of all stored records; nil for those.
    var givenParents: [ParentRecord]?
    /// The records that the endpoint is requested for.
    var parents = ParentRounds()
    /// The number of them that were stored when the scan began.
    var storedParents = 0
    /// The records that lack a value for the path, and are not requested.
    var lackingParents: [RecordKey] = []
    /// Whether records of a tree were found whose lists wait for the next sync.
    var leavesNewParents = false
    /// The created and updated records of the report when new parents were looked for.
    var changedBefore = 0
    /// The position in the log of changes up to which parents were looked for.
    var parentsToken: ChangeToken?
    /// Whether only changed records were looked at since then.
    var hasToLookAgain = false
    /// The lists that are scanned at this moment, in the order in which they began.
    var lists: [ListScan] = []
    /// The lists of all parents that are not begun.
    var queue = ListQueue(count: 0)
    /// The list whose page is being processed, with its progress; nil between pages.
    var current: ListScan?
    /// The lists of this sync, by the identities in their responses.
    var scannedLists: Set<String> = []
    /// See ``OrphanPass/former``.
    var formerEndpoints: Set<String>?
    /// The checkpoints of whole lists with pages that were not stored before.
    var listsWithNewPages: Set<ExactText> = []
    /// Whether the style that was chosen automatically for the last complete list counts pages; nil
    /// if none was chosen.
    var countsPages: Bool?
    /// Complete lists whose orphans are looked for when all lists of the endpoint are complete.
    var heldOrphans: [Batch.Completed] = []
    /// The time when the earliest of the lists' scans began; nil before the first one.
    var began: Timestamp?
    /// The last commit that has changed records before that; nil if it is unknown.
    var begunAfter: UInt64?
    /// Whether a list was passed by that exists, and that did not fail alike in the sync before.
    var hasNewFailure = false
    /// Whether it is unknown what one of the lists has now: others may have lost records to it.
    var hasUnknownList = false
    /// Whether an interrupted part of this sync has scanned lists, or their first pages.
    var hasEarlierPages = false
    /// Whether the parent of a list has lost a value for the path since the sync before.
    var hasLostParents = false
    /// The lists of other endpoints, read from the store when they are needed.
    lazy var otherLists = OtherLists(request)
    /// The scans of other endpoints to which orphans may have moved; nil if there are none.
    lazy var otherScans = scansOfOthers()
    /// The lists of which a scan has reached all pages, for the orphans of all lists.
    let wholeLists = WholeLists()
    /// Whether the scan is one of a sync of the description, with its mapping.
    private(set) lazy var isOfDescription =
        syncRun != nil
        && Description.fingerprint(of: endpoint, mappedBy: client.mappingDigest) == request.fingerprint
    /// The endpoints without a declaration whose progress this scan has forgotten.
    let forgottenEndpoints = Guarded<Set<String>>([])
    /// Whether the credentials of a list were compared with those of the stored pages.
    var hasComparedCredentials = false
    /// The digest of the endpoint's pagination in the checkpoints of its lists.
    private(set) lazy var pagination = EndpointScan.digest(of: endpoint.pagination)
    /// The digest of the API's header fields in the checkpoints of its lists.
    private(set) lazy var headers = EndpointScan.digest(ofHeaders: request)
    /// The names of the change feeds that keep the list of this endpoint up to date.
    private(set) lazy var feeds = client.description.endpoints.compactMap { other in
        other.incremental?.start?.list == endpoint.name ? other.name : nil
    }
    /// The names of the endpoints whose lists change feeds keep up to date.
    private(set) lazy var followedLists = Set(
        client.description.endpoints.compactMap { $0.incremental?.start?.list })
    /// The importer of the last list that has begun, whose plan others share.
    var lastImporter: PageImporter?
    /// The lists of which this run has completed a window.
    var begunWindows: Set<Int> = []
    /// The counts in the report of lists that have ended, by their indexes.
    var endCounts: [Int: EndCounts] = [:]
    /// The facts for progress that the report does not have.
    var measured = ScanMeasure()
    /// The failures that have stopped scans of single parents.
    var passedBy = PassedByParents()
    /// Whether the failure concerns the remaining parents, too.
    var endsScans = false

    init(
        _ request: EndpointRequest, _ options: APIMirror.Options, pipeline: ImportPipeline, retry: RetryPolicy? = nil,
        progress: @escaping @Sendable (SyncProgress) -> Void = { _ in }
    ) {
        self.request = request
        let waits = !request.endpoint.prefetches
        self.options = options.waiting(waits)
        self.pipeline = pipeline
        self.progress = progress
        report = SyncReport.Endpoint(name: request.endpoint.name)
        report.api = request.client.apiName
        unit = waits ? .pages(1) : options.commitUnit ?? request.endpoint.commitUnit
        let answers = AwaitedAnswers(request.client.store)
        var transport = request.client.transport(for: request.endpoint, retry: retry)
        if !options.isDryRun {
            transport.onMonitor = { request, monitor in await answers.keep(monitor, for: request) }
        }
        self.answers = answers
        self.transport = transport
        requestsByKey = request.requestsByKey(request.client.description.schema)
    }

    var client: APIClient { request.client }
    var endpoint: Endpoint { _read { yield request.endpoint } }
    /// The importer that drafts the next batch.
    var importer: Importer { pipeline.importer }

    /// Scans the endpoint, once or for every parent. Failures are in the report.
    func run() async {
        hooks = options.hooks?(endpoint) ?? ImportHooks()
        let all = requestHooks.following(hooks)
        pipeline.configure {
            $0.hooks = all
            $0.keyLimit = client.options.keyLimit
            $0.mappingDigest = client.mappingDigest
            $0.collectsMirrors = endpoint.isTypedRequest
        }
        defer { pipeline.configure { $0.hooks = ImportHooks() } }
        recognizeBodies()
        defer { pipeline.configure { $0.bodyDigest = nil } }
        pipeline.isDryRun = options.isDryRun
        pipeline.whenEnded = { [arrivals] in arrivals.signal() }
        defer { pipeline.whenEnded = nil }
        stop?.wakes(arrivals)
        do {
            if !options.isDryRun { rowsToTrain = try client.store.rowsToTrain(of: endpoint.entity) }
            parents = ParentRounds(try await firstParents(), partitions: endpoint.combinations)
            storedParents = parents.all.count
            queue = try limitedQueue() ?? ListQueue(count: min(parents.count, options.mostLists))
            report.leftOut = parents.count - queue.count
            measured.lists = queue.count
            await scan()
            await noteNewParents()
            try await notePass(over: parents.all)
            await removeLostPages()
            await removeFormerLists(of: parents.all.map { $0?.key } + lackingParents)
        } catch {
            report.failures.append(MirrorError(error, url: "", place: endpoint.place))
        }
        // Several elements may contain one record: only different values show a lack in the key.
        if endpoint.listsContainedRecords, report.report.conflicts == 0 { report.repeated = nil }
        if endpoint.hasSeveralLists {
            report.failures.insert(contentsOf: passedBy.failures(of: endpoint), at: 0)
        }
    }

    /// The records that the endpoint is requested for when the scan begins; nil for the list
    /// without one.
    private func firstParents() async throws -> [ParentRecord?] {
        if let givenParents { return givenParents }
        guard let forEach = endpoint.forEach else {
            try await forgetLists(butOf: [nil])
            return [nil]
        }
        let found = try request.parents(forEach)
        (lackingParents, report.skippedParents, parentsToken) = (found.lacking, found.skipped, found.token)
        try await forgetLists(butOf: found.parents)
        // They are requested again when their records have the values.
        scannedLists.formUnion(request.lists(of: found.lacking))
        try await noteLacking(found.lacking)
        return found.parents
    }

    /// Begins to recognise bodies that come again, if their import depends on nothing else.
    private func recognizeBodies() {
        guard !holdsCommits, importer.canRecognizeBodies,
            let origin = try? client.store.read({ try $0.responseOrigin }),
            let digest = KeyedDigest(secret: "\(origin) \(request.fingerprint)")
        else { return }
        pipeline.configure { $0.bodyDigest = digest }
    }

    /// Stores the last failure of the endpoint's own scan, or that it has succeeded.
    func noteOutcome() async {
        if variant == nil, givenParents == nil, !report.wasStopped, !options.isDryRun {
            await client.note(report.failures.last, of: endpoint.outcomeName)
        }
    }

    // MARK: Progress

    func count(_ page: Batch.Page) {
        let entry = page.entry
        report.pages += 1
        report.listed += entry.listing.count
        report.skipped += entry.listing.skipped
        if !page.isImported {
            report.notModified += 1
            report.confirm(entry.listing.listed, client.store.catalog)
        }
        measured.count(page)
        var progress = snapshot(requesting: nil)
        progress.event = .page(
            SyncProgress.Page(
                url: Redaction.shown(client.sentURL(entry.request.url)), isNotModified: !page.isImported,
                listed: entry.listing.count, bytes: page.byteCount,
                metadata: endpoint.metadata.isEmpty ? [:] : PageMetadata.declared(in: entry.listing.metadata)))
        self.progress(progress)
    }

    /// Reports the end of the endpoint.
    func reportEnd() {
        var progress = snapshot(requesting: nil)
        progress.event = .end
        self.progress(progress)
    }

    func snapshot(requesting url: String?) -> SyncProgress {
        var progress = SyncProgress(
            endpoint: endpoint.name, pages: report.pages, notModified: report.notModified, listed: report.listed,
            requesting: url)
        let imported = report.report
        progress.confirmed = report.confirmed
        progress.created = imported.created
        progress.updated = imported.updated
        progress.unchanged = imported.unchanged
        progress.deleted = imported.deleted
        progress.failures = report.failures.count
        progress.resumedLists = report.finishedParents
        measured.add(to: &progress)
        return progress
    }
}

extension APIMirror.Options {
    /// Returns the options of a scan.
    ///
    /// - Parameter waits: whether each page is committed before the next one is requested.
    fileprivate func waiting(_ waits: Bool) -> Self {
        var options = self
        if waits { options.prefetches = false }
        return options
    }
}
