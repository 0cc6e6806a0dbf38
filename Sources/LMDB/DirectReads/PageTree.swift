// The page tree of a table in a snapshot, read in place, and the search for keys in it.

import CLMDB
import LMDBPages

/// The location of a table's pages in the map.
///
/// Every offset and page number is checked: a damaged file is an error.
struct PageTree {
    private let base: UnsafeRawPointer
    private let pageSize: Int
    let lastPage: Int
    /// The root page; nil if the table is empty.
    let root: PageView?
    /// The number of branch levels above the leaves.
    let branches: Int

    private static let mainTable: MDB_dbi = 1

    static var damaged: LMDBError { LMDBError(.corrupted, operation: "scan") }

    /// Returns the tree of a table; nil where pages must not be read in place.
    ///
    /// - Parameter name: The table's name.
    static func of(_ table: Table, _ name: @autoclosure () -> String, _ transaction: RawTransaction) throws(LMDBError)
        -> PageTree?
    {
        guard let known = transaction.trees else { return nil }
        if let tree = known.pointee[table] { return tree }
        guard let tree = try read(table, name(), transaction) else { return nil }
        known.pointee[table] = tree
        return tree
    }

    private static func read(_ table: Table, _ name: String, _ transaction: RawTransaction) throws(LMDBError)
        -> PageTree?
    {
        var name = name, k = MDB_val(), v = MDB_val()
        let code = name.withUTF8 { name in
            k = MDB_val(UnsafeRawBufferPointer(name))
            return mdb_get(transaction.pointer, mainTable, &k, &v)
        }
        var statistics = MDB_stat(), information = MDB_envinfo()
        guard code == 0, let record = TableRecord(UnsafeRawBufferPointer(v)),
            mdb_stat(transaction.pointer, table.handle, &statistics) == 0,
            let size = DirectReads.pageSize(Int(statistics.ms_psize)),
            // The record must agree with `mdb_stat`, and the table must have no flags.
            record.flags == 0, record.depth == Int(statistics.ms_depth),
            record.entries == UInt64(statistics.ms_entries),
            mdb_env_info(mdb_txn_env(transaction.pointer), &information) == 0,
            let holding = PageView(holding: v.mv_data, size: size)
        else { return nil }
        let last = information.me_last_pgno
        guard holding.isLeaf, holding.number >= PageLayout.metaPages, holding.number <= UInt64(last) else { return nil }
        let base = holding.start - Int(holding.number) * size
        guard record.depth > 0 else {
            return PageTree(base: base, pageSize: size, lastPage: last, root: nil, branches: 0)
        }
        guard record.depth <= PageLayout.deepest, let number = record.root, number >= PageLayout.metaPages,
            number <= UInt64(last)
        else { throw damaged }
        let root = PageView(start: base + Int(number) * size, size: size)
        guard root.number == number else { throw damaged }
        return PageTree(base: base, pageSize: size, lastPage: last, root: root, branches: record.depth - 1)
    }

    /// Returns the page with a number, unread; nil if the number is out of range.
    @inline(__always)
    func page(_ number: UInt64) -> PageView? {
        guard number >= PageLayout.metaPages, number <= UInt64(lastPage) else { return nil }
        return PageView(start: base + Int(number) * pageSize, size: pageSize)
    }

    /// Returns the page that a node of a branch refers to.
    @inline(__always)
    func child(_ page: PageView, _ index: Int) throws(LMDBError) -> PageView {
        guard let number = page.child(index), let child = self.page(number), child.number == number else {
            throw PageTree.damaged
        }
        return child
    }

    /// Returns whether the number in a page matches its position in the map.
    @inline(__always)
    private func isInPlace(_ page: PageView) -> Bool {
        base + Int(truncatingIfNeeded: page.number) &* pageSize == page.start
    }

    /// Finds the leaves that must contain the keys, if the keys exist.
    ///
    /// The leaves are prefetched, not read. All searches descend the tree together, one comparison
    /// at a time: while one search waits for memory, the others compare.
    func findLeaves(_ searches: UnsafeMutableBufferPointer<PageSearch>) throws(LMDBError) {
        for _ in 0..<branches {
            var steps = 0
            for index in searches.indices {
                let page = searches[index].page, count = page.count
                guard page.isBranch, isInPlace(page), count > 0 else { throw PageTree.damaged }
                // The first key of a branch counts as less than every key (mdb.c,
                // `mdb_node_search`).
                (searches[index].low, searches[index].high) = (1, count)
                steps = max(steps, Int.bitWidth - count.leadingZeroBitCount)
            }
            for _ in 0..<steps {
                for index in searches.indices where searches[index].low < searches[index].high {
                    try searches[index].step(orAt: false)
                }
            }
            for index in searches.indices {
                guard let number = searches[index].page.child(searches[index].low - 1), let child = page(number) else {
                    throw PageTree.damaged
                }
                tarn_prefetch(child.start)
                searches[index].branch = (searches[index].page, searches[index].low - 1)
                searches[index].page = child
            }
        }
    }

    /// Returns the value of a key; nil if it does not exist.
    func value(of key: SoughtKey) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard var page = root else { return nil }
        for _ in 0..<branches {
            guard page.isBranch, isInPlace(page), page.count > 0 else { throw PageTree.damaged }
            // The first key of a branch counts as less than every key (mdb.c, `mdb_node_search`).
            page = try child(page, page.firstGreater(key, from: 1) - 1)
        }
        guard let index = try index(of: key, in: page) else { return nil }
        return try value(at: index, in: page)
    }

    /// Returns the index of a key in the leaf that must contain it; nil if it does not exist.
    func index(of key: SoughtKey, in leaf: PageView) throws(LMDBError) -> Int? {
        guard leaf.isLeaf, isInPlace(leaf) else { throw PageTree.damaged }
        let index = try leaf.firstNotLess(key, from: 0)
        return try leaf.hasKey(key, at: index) ? index : nil
    }

    /// Returns the value at an index of a leaf.
    @inline(__always)
    func value(at index: Int, in leaf: PageView) throws(LMDBError) -> UnsafeRawBufferPointer {
        guard let entry = leaf.entry(index, lastPage: lastPage) else { throw PageTree.damaged }
        return entry.value
    }
}

extension PageView {
    /// Returns the index of the first entry at or after `start` whose key is not less.
    @inline(__always)
    func firstNotLess(_ key: SoughtKey, from start: Int) throws(LMDBError) -> Int {
        try first(from: start, behind: key, orAt: true)
    }

    /// Returns the index of the first entry at or after `start` whose key is greater.
    @inline(__always)
    func firstGreater(_ key: SoughtKey, from start: Int) throws(LMDBError) -> Int {
        try first(from: start, behind: key, orAt: false)
    }

    /// Compares a key with the keys that may be under a child of this branch.
    ///
    /// - Returns: -1, 0 or 1 for a key before, in or after the range of the child; nil if the
    ///   branch does not tell, because that range or the one beside it goes on in another branch.
    func compare(_ key: SoughtKey, withRangeAt index: Int) throws(LMDBError) -> Int? {
        guard isBranch, index > 0, index + 1 < count else { return nil }
        if try isGreater(index, than: key) { return -1 }
        return try isGreater(index + 1, than: key) ? 0 : 1
    }

    /// Returns whether there is an entry at an index, and it has the key sought.
    @inline(__always)
    func hasKey(_ sought: SoughtKey, at index: Int) throws(LMDBError) -> Bool {
        guard index >= 0, index < count else { return false }
        guard let (key, beginning) = beginning(ofKey: index) else { throw PageTree.damaged }
        return beginning == sought.beginning && sought.isSame(as: key)
    }

    /// Returns whether the key at an index is greater than the one sought.
    private func isGreater(_ index: Int, than sought: SoughtKey) throws(LMDBError) -> Bool {
        var search = PageSearch(sought, self)
        (search.low, search.high) = (index, index + 1)
        try search.step(orAt: false)
        return search.low == index
    }

    @inline(__always)
    private func first(from start: Int, behind sought: SoughtKey, orAt isAt: Bool) throws(LMDBError) -> Int {
        var search = PageSearch(sought, self)
        (search.low, search.high) = (start, max(start, count))
        while search.low < search.high { try search.step(orAt: isAt) }
        return search.low
    }
}
