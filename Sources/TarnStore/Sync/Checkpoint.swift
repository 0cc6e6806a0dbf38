// Checkpoints: the progress of a mirror, saved in the same transaction as the records of a page.

internal import LMDB

/// The progress of one scan over the pages of an endpoint.
public struct Checkpoint: Sendable, Hashable {
    /// The state of a scan.
    public enum State: String, Sendable, Hashable {
        /// Some pages are committed, others are not yet fetched.
        case underWay
        /// The last scan has reached the end without an error.
        case complete
    }

    /// The state of the scan.
    public var state: State
    /// A digest of the scan's first URL and mapping: a scan of another plan does not resume it.
    public var plan: String
    /// The URL of the next page while the scan is under way.
    public var nextURL: String?
    /// The number of the scan, higher than that of the previous one.
    public var scan: UInt64
    /// Pages that this scan has committed.
    public var pages: Int
    /// Records that this scan has committed.
    public var records: Int
    /// The time when the scan began.
    public var startedAt: Timestamp
    /// The time when the last complete scan ended; nil if there was none.
    public var completedAt: Timestamp?
    /// Elements of the scan's lists without a usable key: their records are unknown.
    public var skipped: Int
    /// Whether the orphans of the complete scan are still to be looked for.
    public var hasOrphans: Bool
    /// The name under which all pages of the scan have noted their records; nil if not all have.
    public var members: String?
    /// The sync in which the scan was last begun, completed or passed by; nil if there is none.
    ///
    /// In a sync's own checkpoint it is the id of that sync.
    public var sync: UInt64?
    /// The reason why that sync has passed by the scan; nil if it has not.
    public var failure: Failure?
    /// The time when the last attempt began that has committed a page; in a sync's own checkpoint.
    public var continuedAt: Timestamp?

    /// The failure that has stopped the scan for one parent, while the others continue.
    public struct Failure: Sendable, Hashable {
        /// The kind by which failures of several parents are counted, such as `403`.
        public var kind: String
        /// The description of the failure, with the request.
        public var text: String

        /// Creates a failure.
        public init(kind: String, text: String) {
            self.kind = kind
            self.text = text
        }
    }

    /// Creates a checkpoint.
    public init(
        state: State, plan: String, nextURL: String?, scan: UInt64, pages: Int, records: Int, startedAt: Timestamp,
        completedAt: Timestamp?, skipped: Int = 0, hasOrphans: Bool = false, members: String? = nil
    ) {
        self.members = members
        self.skipped = skipped
        self.hasOrphans = hasOrphans
        self.state = state
        self.plan = plan
        self.nextURL = nextURL
        self.scan = scan
        self.pages = pages
        self.records = records
        self.startedAt = startedAt
        self.completedAt = completedAt
    }

    private enum ID {
        static let state: UInt16 = 1, nextURL: UInt16 = 2, scan: UInt16 = 3, pages: UInt16 = 4, records: UInt16 = 5
        static let startedAt: UInt16 = 6, completedAt: UInt16 = 7, plan: UInt16 = 8
        static let skipped: UInt16 = 9, hasOrphans: UInt16 = 10, members: UInt16 = 11
        static let sync: UInt16 = 12, failureKind: UInt16 = 13, failureText: UInt16 = 14, continuedAt: UInt16 = 15
    }

    package init?(_ row: EncodedRow) {
        guard let state = row.text(ID.state).flatMap(State.init), let scan = row.unsigned(ID.scan),
            let startedAt = row.date(ID.startedAt)
        else { return nil }
        self.init(
            state: state, plan: row.text(ID.plan) ?? "", nextURL: row.text(ID.nextURL), scan: scan,
            pages: row.number(ID.pages) ?? 0,
            records: row.number(ID.records) ?? 0, startedAt: startedAt, completedAt: row.date(ID.completedAt),
            skipped: row.number(ID.skipped) ?? 0, hasOrphans: row.number(ID.hasOrphans) == 1,
            members: row.text(ID.members))
        sync = row.unsigned(ID.sync)
        failure = row.text(ID.failureKind).map { Failure(kind: $0, text: row.text(ID.failureText) ?? "") }
        continuedAt = row.date(ID.continuedAt)
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
        try row.store(raw, table, key, sequence: sequence)
    }
}
