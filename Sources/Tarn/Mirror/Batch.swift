// The fetched but uncommitted pages of a scan: they become one change.

import TarnStore

/// Pages that are committed together, with their entries, checkpoints and scan members.
///
/// The importer holds their records.
struct Batch {
    struct Page {
        var entry: ResponseEntry
        /// The stored entry that a 304 has confirmed; nil for an imported page.
        var asked: ResponseEntry?
        /// The index of the page's scan among the scans of all parents.
        var target: Int
        /// The name of the list's checkpoint.
        var list = ""
        /// The name under which the listed records are noted; nil if no orphans are looked for.
        var members: String?
        /// The first request for the whole list, if the page was requested for changes only.
        var base: RequestKey?
        /// Whether the entry is removed: it lists nothing, and its request is not sent again.
        var isOutdated = false
        /// The revision of the outbox before the page was requested.
        var outboxRevision: UInt64?
        /// The last commit before the page was requested.
        var requestedAfter: UInt64?
        /// The size of the body, and the time that drafting its records took.
        var byteCount = 0
        var drafting = Duration.zero
        /// Whether the document is an object, and that is the record; nil if it is not known.
        var isObject: Bool?
        /// A digest of the list's elements as sent, if keys depend on their positions.
        var contentDigest: UInt64?
        /// The error that the page has stated beside its records.
        var partialError: Checkpoint.PartialError?

        var isImported: Bool { asked == nil }

        /// Forgets the progress of this list under the name of another endpoint, which the
        /// description no longer has; also if it is the list of a variant, which
        /// ``StoreWriter/forgetLists(of:)`` leaves.
        ///
        /// If it comes back, the records have the values of this mapping, whether they have changed
        /// at the server or not.
        func forgetList(of other: String, _ writer: inout StoreWriter) throws {
            let name = other + list.dropFirst(RequestKey.name(ofEndpoint: entry.request.endpoint).count)
            guard let known = try writer.access.checkpoints.checkpoint(name), let forgotten = known.outdated else {
                return
            }
            try writer.setCheckpoint(name, forgotten)
        }
    }

    /// A scan that this batch completes: after the commit, its orphans are looked for.
    struct Completed {
        var identity: ScanIdentity
        var parent: RecordKey?
        var checkpointName: String
        var scan: UInt64
        /// The time when the complete scan before this one began; nil if it is unknown.
        var previous: Timestamp?
    }

    private(set) var pages: [Page] = []
    /// The size of the pages' bodies.
    private(set) var byteCount = 0
    /// The number of records that imported pages list.
    private(set) var records = 0
    /// Checkpoints by name; a later one replaces an earlier one.
    private(set) var checkpoints: [ExactText: Checkpoint] = [:]
    var completed: [Completed] = []
    /// The indexes of lists of which the batch has progress, but maybe no page.
    private var withProgress: Set<Int> = []

    /// The indexes of the lists that are to be repeated if the batch is not committed.
    var targets: Set<Int> { withProgress.union(pages.map(\.target)) }

    var isEmpty: Bool { pages.isEmpty && checkpoints.isEmpty }

    mutating func add(_ page: Page, _ checkpoint: Checkpoint, _ name: String) {
        pages.append(page)
        byteCount += page.byteCount
        if page.isImported { records += page.entry.listing.count }
        checkpoints[ExactText(name)] = checkpoint
    }

    /// Adds the pages of another scan.
    mutating func append(_ other: Batch) {
        pages += other.pages
        byteCount += other.byteCount
        records += other.records
        checkpoints.merge(other.checkpoints) { $1 }
        completed += other.completed
        withProgress.formUnion(other.withProgress)
    }

    /// Marks the pages of a list without records as outdated.
    mutating func outdateEmptyPages(of target: Int) {
        for index in pages.indices where pages[index].target == target && pages[index].base != nil {
            pages[index].isOutdated = pages[index].isImported && pages[index].entry.listing.count == 0
        }
    }

    /// Adds a checkpoint without a page.
    ///
    /// - Parameter target: the index of its list; nil for the checkpoint of a sync.
    mutating func add(_ checkpoint: Checkpoint, _ name: String, of target: Int?) {
        checkpoints[ExactText(name)] = checkpoint
        if let target { withProgress.insert(target) }
    }
}
