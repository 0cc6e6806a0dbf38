import TarnHTTP
import TarnImport
import TarnStore

/// How far a group is. Sent when a request of it is done.
public struct BatchProgress: Sendable, Hashable {
    /// The request, by its place in the group.
    public var index: Int
    /// Whether its report has failures.
    public var hasFailed: Bool
    /// How many are done, this one included, and how many there are.
    public var done: Int
    /// How many requests the group has.
    public var count: Int

    public init(index: Int, hasFailed: Bool, done: Int, count: Int) {
        self.index = index
        self.hasFailed = hasFailed
        self.done = done
        self.count = count
    }
}
