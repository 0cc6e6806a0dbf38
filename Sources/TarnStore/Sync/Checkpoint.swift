// Checkpoints: the progress of a mirror, saved in the same transaction as the records of a page.

internal import LMDB

/// The progress of one scan over the pages of an endpoint.
package struct Checkpoint: Sendable, Hashable {
    /// The state of a scan.
    package enum State: String, Sendable, Hashable {
        /// Some pages are committed, others are not yet fetched.
        case underWay
        /// The last scan has reached the end without an error.
        case complete
    }

    /// The state of the scan.
    package var state: State
    /// A digest of the scan's first URL and mapping: a scan of another plan does not resume it.
    package var plan: String
    /// The plan of the last scans before those of ``plan``; nil if there were none.
    package var earlierPlan: String?
    /// A digest of what determines which records the list has, apart from their values; nil if it
    /// is unknown. Scans of other plans with the same one have the same members.
    package var listing: String?
    /// Whether the list has returned from another plan to the one before that.
    package var hasReturned = false
    /// The URL of the next page while the scan is under way.
    package var nextURL: String?
    /// The number of the scan, higher than that of the previous one.
    package var scan: UInt64
    /// Pages that this scan has committed.
    package var pages = 0
    /// Records that this scan has committed.
    package var records = 0
    /// The time when the scan began.
    package var startedAt: Timestamp
    /// The last commit that has changed records before the scan began; nil if it is not needed.
    package var begunAfter: UInt64?
    /// The time when the last complete scan ended; nil if there was none.
    package var completedAt: Timestamp?
    /// Elements of the scan's lists without a usable key: their records are unknown.
    package var skipped = 0
    /// Whether the orphans of the complete scan are still to be looked for.
    package var hasOrphans = false
    /// The name under which all pages of the scan have noted their records; nil if not all have.
    package var members: String?
    /// The name under which the scans of an earlier plan have noted their records; nil if they were
    /// compared with a complete scan.
    package var earlierMembers: String?
    /// The sync in which the scan was last begun, completed or passed by; nil if there is none.
    ///
    /// In a sync's own checkpoint it is the id of that sync.
    package var sync: UInt64?
    /// The id of the sync for each of several APIs, in a sync's own checkpoint.
    package var syncs: [String: UInt64] = [:]
    /// The reason why that sync has passed by the scan; nil if it has not.
    package var failure: Failure?
    /// The time when the last attempt began that has committed a page.
    package var continuedAt: Timestamp?

    /// The failure of the last attempt; nil if it has succeeded since.
    package var lastFailure: LastFailure?
    /// The value by which the next scan requests changes, from the last complete scan.
    package var since: String?
    /// The value with which this scan began; nil if it lists everything.
    package var begunSince: String?
    /// The end of the window that this scan requests; nil without one.
    package var begunUntil: Timestamp?
    /// The last commit that had changed records when the first value of a change feed was
    /// requested, and the time when it had arrived; nil if the feed has no such request.
    package var tokenAfter: UInt64?, tokenAt: Timestamp?
    /// The value that this scan has found so far.
    package var seen: String?
    /// The value that this scan had found when it was first interrupted; nil if it was not.
    ///
    /// Records that moved past the scan meanwhile have no smaller value: the next scan begins here.
    package var heldSince: String?
    /// Whether something of this scan was left out: a record kept its values, because an operation
    /// of the outbox has reached the server meanwhile, or could not be stored for now. The scan
    /// leaves ``since`` as it was, and the list is requested again although its record has not
    /// changed.
    package var isOvertaken = false
    /// Whether the scan began with a value of ``since``. It is not stored.
    package var hadValue = false
    /// Whether the last complete scan ended at the limit of the description, with pages left.
    package var isCutOff = false
    /// Whether the last complete scan ended where the list may go on.
    package var wasInDoubt = false
    /// Whether that end may be a limit of the server, and no empty page.
    package var mayEndAtLimit = false
    /// Whether the last scan of the whole list has found no records, and none came since.
    package var isKnownEmpty = false
    /// The identity of the last complete scan in the entries of its responses; nil if it is
    /// unknown.
    package var scanned: String?
    /// Whether pages of the list had a JSON array, in this scan or in an earlier one.
    package var hasArrays = false
    /// Whether a page of the scan had a single object in the place of the array.
    package var hasObject = false
    /// Whether the scan leaves open what the list has now: others may have lost records to it.
    package var holdsOthers = false
    /// The last scan that has reached all pages of the whole list; nil if there was none.
    package var whole: WholeScan?
    /// The time when the last complete scan began that has requested the whole list; nil if it is
    /// unknown.
    package var wholeSince: Timestamp?
    /// The time when the last scan began that has reached the end of its list; nil if it is
    /// unknown.
    package var knownSince: Timestamp?
    /// The last scan after whose end a scan of every other list of the entity began and reached its
    /// end: what this one missed has not moved there.
    package var settledScan: UInt64?
    /// The scan that is to be settled next, and the time when it had ended; nil for none.
    package var awaitedScan: UInt64?, awaitedSince: Timestamp?
    /// The last scan that has gone on where an earlier run had ended: records may have moved past
    /// it. Nil if there was none.
    package var resumedScan: UInt64?
    /// A digest of the pagination with which the scan has found its pages; nil if it is unknown.
    package var pagination: String?
    /// A digest of the header fields of the API with which the list is requested; nil if it is
    /// unknown.
    package var headers: String?
    /// A digest of the elements of the last committed page, if a page with the same ones may be the
    /// end of the list, and their positions are in the keys of records.
    package var lastContent: UInt64?

    /// The first error that a page of the scan has stated beside its records; nil if none has.
    package var partialError: PartialError?

    /// An error beside the records of a page: the end of the scan reports it, in whichever run.
    package struct PartialError: Sendable, Hashable {
        /// The status of the response.
        package var status: Int
        /// The URL of the page, without secrets.
        package var url: String
        /// The message about the error.
        package var message: String

        /// Creates an error.
        package init(status: Int, url: String, message: String) {
            (self.status, self.url, self.message) = (status, url, message)
        }
    }

    /// A scan whose end has shown which pages the list has: it has no others of earlier scans.
    package struct WholeScan: Sendable, Hashable {
        /// The identity of the scan in the entries of its responses.
        package var identity: String
        /// The number of the scan.
        package var scan: UInt64

        /// Creates the description of a scan.
        package init(identity: String, scan: UInt64) {
            self.identity = identity
            self.scan = scan
        }
    }

    /// A failure with its time, for the status of an endpoint.
    package struct LastFailure: Sendable, Hashable {
        /// The time of the failure.
        package var at: Timestamp
        /// The description of the failure.
        package var text: String

        /// Creates a failure.
        package init(at: Timestamp, text: String) {
            self.at = at
            self.text = text
        }
    }

    /// The failure that has stopped the scan for one parent, while the others continue; or that a
    /// rule of the description has ignored the response.
    package struct Failure: Sendable, Hashable {
        /// The kind by which failures of several parents are counted, such as `403`.
        package var kind: String
        /// The description of the failure, with the request.
        package var text: String

        /// Creates a failure.
        package init(kind: String, text: String) {
            self.kind = kind
            self.text = text
        }
    }

    /// Whether a page had an object where others have arrays: it may be an error in disguise.
    package var isOfTwoShapes: Bool { hasArrays && hasObject }

    /// Whether the endpoint requests what has changed since a value.
    package var isIncremental: Bool { since != nil || begunSince != nil || seen != nil || heldSince != nil }

    /// The progress of a list that is to be requested as a whole; nil if the next scan does so.
    package var forgotten: Checkpoint? {
        guard isIncremental || state == .underWay else { return nil }
        var other = self
        (other.plan, other.nextURL, other.state) = ("", nil, .complete)
        (other.since, other.begunSince, other.seen, other.heldSince) = (nil, nil, nil, nil)
        return other
    }

    /// The progress of a list of which records were changed or removed without a request: the next
    /// scan requests the whole list, also if its record has not changed (`only: changed`); nil if
    /// it does so anyway.
    package var outdated: Checkpoint? {
        if let forgotten { return forgotten }
        guard let begunAfter, begunAfter > 0, !plan.isEmpty else { return nil }
        var other = self
        // Any record is later.
        other.begunAfter = 0
        return other
    }

    package init(
        state: State, plan: String, nextURL: String? = nil, scan: UInt64, startedAt: Timestamp,
        completedAt: Timestamp? = nil
    ) {
        self.state = state
        self.plan = plan
        self.nextURL = nextURL
        self.scan = scan
        self.startedAt = startedAt
        self.completedAt = completedAt
    }

    /// Returns the checkpoint with other counts.
    package func counting(pages: Int, records: Int, skipped: Int = 0) -> Checkpoint {
        var checkpoint = self
        (checkpoint.pages, checkpoint.records, checkpoint.skipped) = (pages, records, skipped)
        return checkpoint
    }

    fileprivate enum ID {
        static let state: UInt16 = 1, nextURL: UInt16 = 2, scan: UInt16 = 3, pages: UInt16 = 4, records: UInt16 = 5
        static let startedAt: UInt16 = 6, completedAt: UInt16 = 7, plan: UInt16 = 8
        static let skipped: UInt16 = 9, hasOrphans: UInt16 = 10, members: UInt16 = 11
        static let sync: UInt16 = 12, failureKind: UInt16 = 13, failureText: UInt16 = 14, continuedAt: UInt16 = 15
        static let failedAt: UInt16 = 16, lastFailure: UInt16 = 17
        static let since: UInt16 = 18, begunSince: UInt16 = 19, seen: UInt16 = 20, isCutOff: UInt16 = 21
        static let heldSince: UInt16 = 22, isOvertaken: UInt16 = 23, wholeIdentity: UInt16 = 24, wholeScan: UInt16 = 25
        static let syncs: UInt16 = 30, wasInDoubt: UInt16 = 31, isKnownEmpty: UInt16 = 32
        static let holdsOthers: UInt16 = 33, scanned: UInt16 = 34
        static let hasArrays: UInt16 = 35, hasObject: UInt16 = 36, knownSince: UInt16 = 37
        static let settledScan: UInt16 = 38, awaitedScan: UInt16 = 39, awaitedSince: UInt16 = 40
        static let resumedScan: UInt16 = 41, pagination: UInt16 = 42, lastContent: UInt16 = 43,
            mayEndAtLimit: UInt16 = 44
        static let begunAfter: UInt16 = 45, earlierPlan: UInt16 = 46, headers: UInt16 = 47, listing: UInt16 = 48
        static let hasReturned: UInt16 = 49, earlierMembers: UInt16 = 50
        static let partialStatus: UInt16 = 51, partialURL: UInt16 = 52, partialMessage: UInt16 = 53
        static let wholeSince: UInt16 = 54, begunUntil: UInt16 = 55, tokenAfter: UInt16 = 56, tokenAt: UInt16 = 57
    }

    package init?(_ row: EncodedRow) {
        guard let state = row.text(ID.state).flatMap(State.init), let scan = row.unsigned(ID.scan),
            let startedAt = row.date(ID.startedAt)
        else { return nil }
        self.init(
            state: state, plan: row.text(ID.plan) ?? "", nextURL: row.text(ID.nextURL), scan: scan,
            startedAt: startedAt, completedAt: row.date(ID.completedAt))
        pages = row.number(ID.pages) ?? 0
        records = row.number(ID.records) ?? 0
        skipped = row.number(ID.skipped) ?? 0
        hasOrphans = row.number(ID.hasOrphans) == 1
        members = row.text(ID.members)
        sync = row.unsigned(ID.sync)
        syncs = row.text(ID.syncs).map(Checkpoint.parsed) ?? [:]
        failure = row.text(ID.failureKind).map { Failure(kind: $0, text: row.text(ID.failureText) ?? "") }
        continuedAt = row.date(ID.continuedAt)
        lastFailure = row.date(ID.failedAt).map { LastFailure(at: $0, text: row.text(ID.lastFailure) ?? "") }
        since = row.text(ID.since)
        begunSince = row.text(ID.begunSince)
        seen = row.text(ID.seen)
        heldSince = row.text(ID.heldSince)
        isOvertaken = row.number(ID.isOvertaken) == 1
        isCutOff = row.number(ID.isCutOff) == 1
        wasInDoubt = row.number(ID.wasInDoubt) == 1
        mayEndAtLimit = row.number(ID.mayEndAtLimit) == 1
        isKnownEmpty = row.number(ID.isKnownEmpty) == 1
        holdsOthers = row.number(ID.holdsOthers) == 1
        scanned = row.text(ID.scanned)
        hasArrays = row.number(ID.hasArrays) == 1
        hasObject = row.number(ID.hasObject) == 1
        knownSince = row.date(ID.knownSince)
        settledScan = row.unsigned(ID.settledScan)
        awaitedScan = row.unsigned(ID.awaitedScan)
        awaitedSince = row.date(ID.awaitedSince)
        resumedScan = row.unsigned(ID.resumedScan)
        pagination = row.text(ID.pagination)
        lastContent = row.unsigned(ID.lastContent)
        begunAfter = row.unsigned(ID.begunAfter)
        earlierPlan = row.text(ID.earlierPlan)
        headers = row.text(ID.headers)
        listing = row.text(ID.listing)
        hasReturned = row.number(ID.hasReturned) == 1
        earlierMembers = row.text(ID.earlierMembers)
        wholeSince = row.date(ID.wholeSince)
        begunUntil = row.date(ID.begunUntil)
        tokenAfter = row.unsigned(ID.tokenAfter)
        tokenAt = row.date(ID.tokenAt)
        partialError = PartialError(row)
        if let identity = row.text(ID.wholeIdentity), let scan = row.unsigned(ID.wholeScan) {
            whole = WholeScan(identity: identity, scan: scan)
        }
    }

    func store(_ raw: RawTransaction, _ table: Table, _ key: Bytes, sequence: UInt64) throws(LMDBError) {
        var row = SystemRowBuilder()
        row.field(ID.state, state.rawValue)
        row.field(ID.nextURL, nextURL)
        row.field(ID.scan, scan)
        row.field(ID.pages, pages)
        row.field(ID.records, records)
        row.field(ID.startedAt, startedAt)
        row.field(ID.completedAt, completedAt)
        row.field(ID.plan, plan)
        if skipped > 0 { row.field(ID.skipped, skipped) }
        if hasOrphans { row.field(ID.hasOrphans, 1) }
        row.field(ID.members, members)
        row.field(ID.sync, sync)
        row.field(ID.failureKind, failure?.kind)
        row.field(ID.failureText, failure?.text)
        row.field(ID.continuedAt, continuedAt)
        row.field(ID.failedAt, lastFailure?.at)
        row.field(ID.lastFailure, lastFailure?.text)
        row.field(ID.since, since)
        row.field(ID.begunSince, begunSince)
        row.field(ID.seen, seen)
        if isCutOff { row.field(ID.isCutOff, 1) }
        row.field(ID.heldSince, heldSince)
        if isOvertaken { row.field(ID.isOvertaken, 1) }
        row.field(ID.wholeIdentity, whole?.identity)
        row.field(ID.wholeScan, whole?.scan)
        if !syncs.isEmpty { row.field(ID.syncs, Checkpoint.text(syncs)) }
        if wasInDoubt { row.field(ID.wasInDoubt, 1) }
        if isKnownEmpty { row.field(ID.isKnownEmpty, 1) }
        if holdsOthers { row.field(ID.holdsOthers, 1) }
        row.field(ID.scanned, scanned)
        if hasArrays { row.field(ID.hasArrays, 1) }
        if hasObject { row.field(ID.hasObject, 1) }
        row.field(ID.knownSince, knownSince)
        row.field(ID.settledScan, settledScan)
        row.field(ID.awaitedScan, awaitedScan)
        row.field(ID.awaitedSince, awaitedSince)
        row.field(ID.resumedScan, resumedScan)
        row.field(ID.pagination, pagination)
        row.field(ID.lastContent, lastContent)
        if mayEndAtLimit { row.field(ID.mayEndAtLimit, 1) }
        row.field(ID.begunAfter, begunAfter)
        row.field(ID.earlierPlan, earlierPlan)
        row.field(ID.headers, headers)
        row.field(ID.listing, listing)
        if hasReturned { row.field(ID.hasReturned, 1) }
        row.field(ID.earlierMembers, earlierMembers)
        row.field(ID.partialStatus, partialError?.status)
        row.field(ID.partialURL, partialError?.url)
        row.field(ID.partialMessage, partialError?.message)
        row.field(ID.wholeSince, wholeSince)
        row.field(ID.begunUntil, begunUntil)
        row.field(ID.tokenAfter, tokenAfter)
        row.field(ID.tokenAt, tokenAt)
        try row.store(raw, table, key, sequence: sequence)
    }

    /// A line for each API: an id and a name.
    private static func text(_ syncs: [String: UInt64]) -> String {
        syncs.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: "\n")
    }

    private static func parsed(_ text: String) -> [String: UInt64] {
        var syncs: [String: UInt64] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", maxSplits: 1)
            if parts.count == 2, let id = UInt64(parts[0]) { syncs[String(parts[1])] = id }
        }
        return syncs
    }
}

extension Checkpoint.PartialError {
    /// The error in the row of a checkpoint; nil if it has none.
    fileprivate init?(_ row: EncodedRow) {
        guard let message = row.text(Checkpoint.ID.partialMessage) else { return nil }
        self.init(
            status: row.number(Checkpoint.ID.partialStatus) ?? 200, url: row.text(Checkpoint.ID.partialURL) ?? "",
            message: message)
    }
}
