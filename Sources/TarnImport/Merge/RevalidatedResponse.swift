public import TarnStore

/// The entry of a response that a 304 has confirmed.
public struct RevalidatedResponse: Sendable {
    /// The stored entry whose validators the request was sent with.
    public var asked: ResponseEntry
    /// The entry with the header fields and times of the 304.
    public var entry: ResponseEntry

    /// A stored entry, and what the 304 makes of it.
    public init(asked: ResponseEntry, entry: ResponseEntry) {
        self.asked = asked
        self.entry = entry
    }
}
