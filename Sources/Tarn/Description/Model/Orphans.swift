// What an endpoint says about records that the server no longer lists.

public import TarnStore

/// Which records are taken for gone when an endpoint does not list them any more, and what becomes of them.
///
/// They are looked for only at the end of a complete walk in which every record could be read, and never taken if another stored
/// response lists them.
public struct Orphans: Sendable, Hashable {
    /// Which records the endpoint could list.
    public enum Scope: Sendable, Hashable {
        /// Those that its earlier walks have listed.
        case listed
        /// Those that belong to the record that it is walked for.
        case owner
        /// Those of its entity that meet a condition.
        case matching(Condition)
        /// All of its entity.
        case entity
    }

    /// What becomes of a record that is taken for gone.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// They are deleted by their delete rules.
        case delete
        /// They let go of the record that the endpoint is walked for, and stay.
        case unlink
    }

    /// Among which records those that are gone are looked for.
    public var scope: Scope
    /// How many complete walks in a row must miss a record: pages shift while one walks. One is enough only if the pages are stable.
    public var walks: Int
    /// Records that stay all the same.
    public var keep: Condition?
    /// Whether a walk that lists nothing at all counts, instead of being refused.
    public var allowsEmpty: Bool
    /// What becomes of those that are gone.
    public var action: Action
    /// The path of a request for one record: what it answers with 404 or 410 is gone at once, what it answers otherwise is not.
    /// As an endpoint's path; `{issue.number}` is an attribute of the record.
    public var check: String?

    public init(
        _ scope: Scope = .listed, walks: Int = 2, keep: Condition? = nil, allowsEmpty: Bool = false, action: Action = .delete,
        check: String? = nil
    ) {
        precondition(walks > 0, "a record is gone after one walk at least")
        self.scope = scope
        self.walks = walks
        self.keep = keep
        self.allowsEmpty = allowsEmpty
        self.action = action
        self.check = check
    }
}

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
