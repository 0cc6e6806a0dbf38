// The tree of JSON keys of an entity: every key of every object is looked up in it, and leads to what takes its value.

/// A node of the tree of keys.
struct KeyNode: ~Copyable {
    /// JSON key → entry.
    var table = KeyTable()
    var entries: [Entry] = []
    var unmappedCount = 0
    /// Whether a slot takes an object as a whole whose keys these are: then none of them is unmapped.
    var isCovered = false

    /// A plain value, as a slot is; -1 stands for nothing.
    struct Entry {
        /// The first of the slots that take the value of this key, in the plan's takers.
        var taker: Int32 = -1
        /// The node below, for paths that go on.
        var child: Int32 = -1
        /// For keys that the description neither takes nor ignores: where they are counted, or that they are kept.
        var unmapped = Entry.none

        static let none: Int32 = -1, kept: Int32 = -2
    }
}
