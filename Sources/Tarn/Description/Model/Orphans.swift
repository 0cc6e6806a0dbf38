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
