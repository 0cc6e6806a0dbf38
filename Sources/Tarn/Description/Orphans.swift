// The rules of an endpoint for records that the server no longer lists.

public import TarnStore

/// The rules for orphans: records that the server no longer lists.
///
/// Orphans are looked for only after a complete scan in which every record could be read. A record
/// that another stored response lists is never an orphan.
public struct Orphans: Sendable, Hashable {
    /// The records that an endpoint could list.
    public enum Scope: Sendable, Hashable {
        /// Records that earlier scans of the endpoint have listed.
        case listed
        /// Records that belong to the parent record of the scan.
        case owner
        /// Records of the entity that match a condition.
        case matching(Condition)
        /// All records of the entity.
        case entity
    }

    /// The action on an orphan.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// The record is deleted, with the delete rules of its relationships.
        case delete
        /// The record's reference to the parent is cleared; the record stays.
        case unlink
    }

    /// The records among which orphans are looked for.
    var scope: Scope
    /// The number of complete scans in a row that must miss a record.
    ///
    /// Pages shift during a scan: one scan is enough only if the pages are stable.
    package var scans: Int
    /// A condition that keeps a record although it is an orphan.
    package var keep: Condition?
    /// Whether a scan that lists nothing counts; otherwise it is refused.
    package var allowsEmpty: Bool
    /// The action on orphans.
    package var action: Action
    /// The path template of a request for one record.
    ///
    /// A 404 or 410 makes the record an orphan at once; a success or a redirect shows that it
    /// exists. `{issue.number}` is replaced by an attribute of the record.
    package var check: String?

    /// Creates rules for orphans.
    ///
    /// - Precondition: `scans` is positive.
    public init(
        _ scope: Scope = .listed, scans: Int = 2, keep: Condition? = nil, allowsEmpty: Bool = false,
        action: Action = .delete,
        check: String? = nil
    ) {
        precondition(scans > 0, "the number of scans must be at least 1")
        self.scope = scope
        self.scans = scans
        self.keep = keep
        self.allowsEmpty = allowsEmpty
        self.action = action
        self.check = check
    }
}
