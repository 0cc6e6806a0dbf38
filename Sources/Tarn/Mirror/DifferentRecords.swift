import TarnStore

/// The different records that a list has so far, counted for its declared total, and to find
/// records that replace each other because they share a key.
///
/// Records are kept as hashes of 64 bits. If two records have the same one, the list may cost a
/// request more. At most a million are kept: a record that comes again after a million others
/// counts twice.
struct DifferentRecords {
    private static let most = 1 << 20
    /// The root entity of the records that count; nil for all.
    private let root: UInt16?
    /// Whether a record may be in the list several times: each time counts.
    private let mayRepeat: Bool
    private var hashes: Set<Int> = []
    /// The number of records whose hashes are no longer kept.
    private var earlier = 0
    /// Elements without a usable key: their records are unknown, and taken to differ.
    private var unknown = 0
    /// The number of listed records, also of those that came again.
    private var listed = 0

    init(root: UInt16?, mayRepeat: Bool) { (self.root, self.mayRepeat) = (root, mayRepeat) }

    var count: Int { (mayRepeat ? listed : earlier + hashes.count) + unknown }

    /// The records that came again, if they are too many for records that have moved to a later
    /// page during the scan: ten, and more than a tenth.
    var repeated: RepeatedRecords? {
        let found = RepeatedRecords(listed: listed, different: earlier + hashes.count)
        return found.count >= 10 && found.count > listed / 10 ? found : nil
    }

    /// Adds the records of a page.
    mutating func add(_ listing: ResponseEntry.Listing) {
        if hashes.count >= DifferentRecords.most {
            earlier += hashes.count
            hashes.removeAll(keepingCapacity: true)
        }
        for record in listing.listed where root == nil || record.entity == root {
            hashes.insert(record.hashValue)
            listed += 1
        }
        // In an envelope, they may be elements of any list.
        if root == nil { unknown += max(0, listing.count - listing.listed.count) }
    }

    /// Takes back the records of the last page, all of which earlier pages have.
    mutating func takeBack(_ listing: ResponseEntry.Listing) {
        listed -= listing.listed.count { root == nil || $0.entity == root }
        if root == nil { unknown -= max(0, listing.count - listing.listed.count) }
    }

    /// Forgets all records: the list begins anew behind its last one.
    mutating func restart() { self = DifferentRecords(root: root, mayRepeat: mayRepeat) }
}
