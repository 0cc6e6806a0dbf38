/// The findings of a scan about records that it did not list.
public struct OrphanReport: Sendable, Hashable {
    /// Whether records were only reported, not removed.
    public var isDryRun = false
    /// Records that the server no longer lists and that were examined.
    public var candidates = 0
    /// Candidates that complete scans have not missed often enough yet; a later scan decides.
    package var waiting = 0
    /// Candidates that were deleted, without cascades of delete rules.
    public var deleted = 0
    /// Candidates whose reference to the parent record was cleared.
    public var unlinked = 0
    /// Candidates that a request has marked instead of deleting them.
    public var marked = 0
    /// Candidates that a dry run would have deleted or unlinked.
    package var due = 0
    /// Candidates that another response lists.
    package var listedElsewhere = 0
    /// Candidates that a condition of the description keeps.
    public var kept = 0
    /// Candidates that ``APIMirror/Options/mayDelete`` keeps.
    package var vetoed = 0
    /// Candidates with local changes that have not reached the server.
    package var changedLocally = 0
    /// Candidates that a delete rule keeps.
    package var denied = 0
    /// Candidates that the server still has, as individual requests show.
    package var existing = 0
    /// The reasons why orphans were not looked for.
    package var refusals: [String] = []
    /// The first records that were deleted, unlinked or marked, or are due.
    public var records: [String] = []

    /// The outcome of each candidate, by the hash of its record.
    package var outcomes: [Int: OrphanOutcome] = [:]

    /// The maximum number of records in ``records``.
    static let recordLimit = 20

    /// Creates an empty report.
    init() {}

    /// Adds the counts of another report. At most `recordLimit` records stay.
    package mutating func add(_ other: OrphanReport) {
        isDryRun = isDryRun || other.isDryRun
        candidates += other.candidates
        waiting += other.waiting
        deleted += other.deleted
        unlinked += other.unlinked
        marked += other.marked
        due += other.due
        listedElsewhere += other.listedElsewhere
        kept += other.kept
        vetoed += other.vetoed
        changedLocally += other.changedLocally
        denied += other.denied
        existing += other.existing
        addOutcomes(of: other)
        refusals += other.refusals.filter { !refusals.contains($0) }
        records += other.records.prefix(max(0, OrphanReport.recordLimit - records.count))
    }
}
