package import TarnStore

/// The entry of a response that a 304 confirms.
package struct RevalidatedResponse: Sendable {
    /// The stored entry whose validators the request carried.
    package var asked: ResponseEntry
    /// The entry with the header fields and times of the 304.
    package var entry: ResponseEntry

    /// Pairs a stored entry with the entry that results from the 304.
    package init(asked: ResponseEntry, entry: ResponseEntry) {
        self.asked = asked
        self.entry = entry
    }
}
