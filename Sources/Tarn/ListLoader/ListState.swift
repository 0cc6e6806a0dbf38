public import Foundation

/// A list at a moment: its items, the load under way, and what the last loads have found.
public struct ListState<Value: Sendable>: Sendable {
    /// The items: the records of the list in the order of the server, or those of the query.
    public internal(set) var items: [Value]
    /// The load under way; nil if there is none.
    public internal(set) var loading: ListLoad?
    /// Whether a first page was ever loaded. If not, the list is unknown, and not empty.
    public internal(set) var isLoaded: Bool
    /// Whether the server has a page after the list.
    public internal(set) var hasNext: Bool
    /// Whether the page before the list can be loaded.
    public internal(set) var hasPrevious: Bool
    /// The reason why there is no page before the list; nil if there is one.
    public internal(set) var noPrevious: String?
    /// The failure of the last load; nil after a success. The list is as it was before.
    ///
    /// If the server was unreachable and the store had the page, the list has that page.
    public internal(set) var failure: (any Error)?
    /// The load that has failed.
    public internal(set) var failed: ListLoad?
    /// The time of the last success, in this process or another one; nil if there was none.
    public internal(set) var lastSuccess: Date?
}
