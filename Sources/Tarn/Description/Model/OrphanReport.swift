/// What the end of a walk found out about records that it did not list.
public struct OrphanReport: Sendable, Hashable {
    /// Whether nothing was to be deleted, only reported.
    public var isDryRun = false
    /// Records that the server does not list any more, and that were looked at.
    public var candidates = 0
    /// Of them, those that a walk missed for the first time, and that the next one decides about.
    public var waiting = 0
    /// Those that were deleted. What their delete rules took along is not counted.
    public var deleted = 0
    /// Those that let go of the record that the endpoint is walked for.
    public var unlinked = 0
    /// Those that a dry run would have deleted or unlinked.
    public var due = 0
    /// Those that another response lists.
    public var listedElsewhere = 0
    /// Those that the description keeps.
    public var kept = 0
    /// Those that the program keeps.
    public var vetoed = 0
    /// Those that were changed here and not yet at the server.
    public var changedLocally = 0
    /// Those that a delete rule keeps.
    public var denied = 0
    /// Those that the server still has, as it says when it is asked for them.
    public var existing = 0
    /// Why nothing was looked at.
    public var refusals: [String] = []
    /// The first of those that were deleted or unlinked, or are due.
    public var records: [String] = []

    /// How many are named.
    public static let recordLimit = 20

    public init() {}

    /// Adds the counts of another look; of the named records at most `recordLimit` stay.
    public mutating func add(_ other: OrphanReport) {
        isDryRun = isDryRun || other.isDryRun
        candidates += other.candidates
        waiting += other.waiting
        deleted += other.deleted
        unlinked += other.unlinked
        due += other.due
        listedElsewhere += other.listedElsewhere
        kept += other.kept
        vetoed += other.vetoed
        changedLocally += other.changedLocally
        denied += other.denied
        existing += other.existing
        refusals += other.refusals.filter { !refusals.contains($0) }
        records += other.records.prefix(max(0, OrphanReport.recordLimit - records.count))
    }
}
