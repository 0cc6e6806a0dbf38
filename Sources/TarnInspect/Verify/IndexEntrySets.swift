import TarnStore

/// The sets of entries that rows require in indexes. A store has few indexes, and a row adds to
/// some of them, mostly in the same order as the row before.
struct IndexEntrySets {
    private var ids: [UInt32] = []
    private var sets: [EntrySet] = []
    /// The position behind the last one.
    private var next = 0

    mutating func add(_ entry: Bytes, to id: UInt32) {
        var position = next < ids.count ? next : 0
        if position >= ids.count || ids[position] != id { position = self.position(of: id) }
        sets[position].add(entry)
        next = position + 1
    }

    private mutating func position(of id: UInt32) -> Int {
        if let known = ids.firstIndex(of: id) { return known }
        ids.append(id)
        sets.append(EntrySet())
        return ids.count - 1
    }

    /// The set of an index; empty if no row has an entry.
    subscript(id: UInt32) -> EntrySet { ids.firstIndex(of: id).map { sets[$0] } ?? EntrySet() }
}
