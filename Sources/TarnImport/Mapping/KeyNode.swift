// The tree of JSON keys of an entity, in which every key of every object is looked up.

/// A node of the tree of keys.
struct KeyNode: ~Copyable {
    /// JSON key → entry.
    var table = KeyTable()
    var entries: [Entry] = []
    /// The keys that lead to the node.
    var path: [String] = []
    /// The numbers of registered keys that are unmapped, or ignored.
    var unmappedCount = 0, ignoredCount = 0
    /// Whether a slot takes the object of these keys as a whole, or all of them are ignored: then
    /// none of them is unmapped.
    var isCovered = false

    init() {}

    init(copying other: borrowing KeyNode) {
        table = KeyTable(copying: other.table)
        entries = other.entries
        path = other.path
        unmappedCount = other.unmappedCount
        ignoredCount = other.ignoredCount
        isCovered = other.isCovered
    }

    /// The entry of one key. A trivial value; -1 means none.
    struct Entry {
        /// The first taker of this key's value, in the plan's takers.
        var taker: Int32 = -1
        /// The node below, for paths that continue.
        var child: Int32 = -1
        /// For a key that is neither mapped nor ignored: the index of its count, or `kept`.
        var unmapped = Entry.none

        static let none: Int32 = -1, kept: Int32 = -2
    }
}
