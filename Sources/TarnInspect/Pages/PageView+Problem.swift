import LMDBPages

extension PageView {
    /// The fault of a tree page, as far as the page alone shows it; nil if there is none.
    var problem: String? {
        guard lower >= PageLayout.headerSize, lower <= upper, upper <= size, lower & 1 == 0 else {
            return "free room from \(lower) to \(upper) is not possible"
        }
        guard count > 0 else { return "it is empty" }
        if kind == .values { return hasValues ? nil : "\(count) values of \(valueSize) bytes do not lie in it" }
        var used = 0
        for index in 0..<count {
            guard let extent = extent(ofNode: index) else { return "node \(index) does not lie in it" }
            guard extent.lowerBound >= upper else { return "node \(index) lies in its free room" }
            // Nodes begin at even offsets.
            used += (extent.count + 1) & ~1
        }
        // Nodes are contiguous (mdb.c, `mdb_node_del` closes gaps).
        return used == size - upper ? nil : "its nodes overlap, or there are gaps between them"
    }
}
