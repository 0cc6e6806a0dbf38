public import TarnStore

/// The entry of a response that a 304 confirms.
public struct RevalidatedResponse: Sendable {
    /// The stored entry whose validators the request carried.
    public var asked: ResponseEntry
    /// The entry with the header fields and times of the 304.
    public var entry: ResponseEntry

    /// Pairs a stored entry with the entry that results from the 304.
    public init(asked: ResponseEntry, entry: ResponseEntry) {
        self.asked = asked
        self.entry = entry
    }
}
