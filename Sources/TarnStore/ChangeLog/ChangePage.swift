/// A part of the change log, and where the next one begins.
public struct ChangePage: Sendable, Equatable {
    /// In the order in which they were made.
    public internal(set) var changes: [Change]
    /// What to ask for the next page with: now or another day.
    public internal(set) var token: ChangeToken
    /// Whether there was more when the page was read.
    public internal(set) var hasMore: Bool
}
