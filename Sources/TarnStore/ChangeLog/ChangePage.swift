/// A part of the change log, and the token of the next part.
public struct ChangePage: Sendable, Equatable {
    /// The changes, in the order of their commits.
    public internal(set) var changes: [Change]
    /// The token for the next page, at any later time.
    public internal(set) var token: ChangeToken
    /// Whether there were more changes when the page was read.
    public internal(set) var hasMore: Bool
}
