import TarnHTTP
import TarnStore

/// The records that the pages of one call have listed, for the orphans after its last page.
struct ListedPages: Sendable {
    private(set) var records: [ListedRecord] = []
    private(set) var pages = 0
    private(set) var skipped = 0
    /// The reason why the list is not known to be complete; nil if it is.
    private(set) var refusal: String?
    /// The time before the first request, which another call may have sent before this one began.
    private(set) var startedAt: Timestamp
    /// The last commit before that; 0 if it is unknown.
    private(set) var begunAfter: UInt64
    /// The time of the commit, if one stores all pages; lists that ended before it are older.
    var storedAt: Timestamp?

    /// Begins a list whose first request is not sent yet.
    ///
    /// - Parameter begunAfter: the last commit; 0 if it is unknown.
    init(startedAt: Timestamp, begunAfter: UInt64) { (self.startedAt, self.begunAfter) = (startedAt, begunAfter) }

    /// Adds a page.
    mutating func add<Value>(_ page: ResponsePage<Value>) {
        if page.source == .stored || page.source == .stale {
            refusal = refusal ?? "a page was answered from the store: the server was not asked for the whole list"
        }
        if page.partialFailure != nil {
            refusal = refusal ?? "a page states an error beside its records: the missing records are unknown"
        }
        // Records that have reached the server since then may be missing on the page.
        let time = page.requestedAt ?? startedAt
        if time < startedAt || page.isShared && time == startedAt { begunAfter = 0 }
        startedAt = min(startedAt, time)
        add(page.listing)
    }

    /// Notes a reason why the list is not known to be complete.
    mutating func refuse(_ reason: String) { refusal = refusal ?? reason }

    /// Adds a page that the server has answered.
    mutating func add(_ page: PageListing) {
        records += page.records
        pages += 1
        skipped += page.skipped
        if page.isCutOff {
            refusal = refusal ?? "the list ended at a limit or a rule of its request: later records are unknown"
        }
        if page.hasOpenEnd { refusal = refusal ?? EndDoubt.openEnd.finding }
        if page.skipped > 0 { refusal = refusal ?? "unreadable records in the list: the missing records are unknown" }
    }
}

/// The records that a page lists.
struct PageListing: Sendable {
    var records: [ListedRecord] = []
    /// The number of elements whose records are unknown.
    var skipped = 0
    /// Whether the list ends here because of a limit.
    var isCutOff = false
    /// Whether only the end of the connection shows the end of the page's lines.
    var hasOpenEnd = false
    /// The reason why the list may go on behind its end; nil if the responses do not show one.
    var doubt: EndDoubt?

    /// The reason why the server may have cut the list off at the page; nil if it has not.
    ///
    /// A page without records behind the last one is usual for some servers.
    var cutOffFinding: String? { doubt.flatMap { $0.countsIfRepeated ? nil : $0.finding } }

    /// Checks that the list is not cut off by the server, if it ends at the page.
    ///
    /// The caller's own limits and rules may end it.
    ///
    /// - Parameter place: the request, for the error.
    /// - Throws: `MirrorError.endpoint` if the server may have more records.
    func checkEnd(place: String) throws(MirrorError) {
        guard let finding = cutOffFinding else { return }
        throw .endpoint(
            place: place,
            message: "the list may be cut off: \(finding); request smaller lists, or take what there is with pages")
    }
}
