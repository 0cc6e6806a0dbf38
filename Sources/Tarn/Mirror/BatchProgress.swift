/// The progress of a group of requests, reported when a request is done.
public struct BatchProgress: Sendable, Hashable {
    /// The index of the request in the group.
    public var index: Int
    /// Whether the report of the request has failures.
    public var hasFailed: Bool
    /// The number of requests that are done, including this one.
    public var done: Int
    /// The number of requests in the group.
    public var count: Int

    /// Creates the progress of a group.
    package init(index: Int, hasFailed: Bool, done: Int, count: Int) {
        self.index = index
        self.hasFailed = hasFailed
        self.done = done
        self.count = count
    }
}
