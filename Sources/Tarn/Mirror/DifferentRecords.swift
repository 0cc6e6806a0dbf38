import TarnStore

/// The different records that a list has so far, counted for its declared total.
///
/// Records are kept as hashes of 64 bits. If two records have the same one, the list may cost a
/// request more.
struct DifferentRecords {
    /// The root entity of the records that count; nil for all.
    private let root: UInt16?
    private var hashes: Set<Int> = []
    /// Elements without a usable key: their records are unknown, and taken to differ.
    private var unknown = 0

    init(root: UInt16?) { self.root = root }

    var count: Int { hashes.count + unknown }

    /// Adds the records of a page.
    mutating func add(_ listing: ResponseEntry.Listing) {
        for record in listing.listed where root == nil || record.entity == root { hashes.insert(record.hashValue) }
        // In an envelope, they may be elements of any list.
        if root == nil { unknown += max(0, listing.count - listing.listed.count) }
    }

    /// Forgets all records: the list begins anew behind its last one.
    mutating func restart() { self = DifferentRecords(root: root) }
}
