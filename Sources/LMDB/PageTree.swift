// The tree of a table in a snapshot, as its pages lie in the map, and looking for a key in one of them.

import CLMDB

/// Where the pages of a table are. Every offset and number that is read from them is checked: a damaged file is an error.
struct PageTree {
    private let base: UnsafeRawPointer
    private let pageSize: Int
    let lastPage: Int
    /// Nil if the table is empty.
    let root: Page?
    /// How many levels of branches are above the leaves.
    let branches: Int

    private static let mainTable: MDB_dbi = 1
    static let deepest = 32

    static var damaged: LMDBError { LMDBError(.corrupted, operation: "walk") }

    /// Nil where pages cannot be looked at.
    ///
    /// - Parameter name: the table's name.
    static func of(_ table: Table, _ name: @autoclosure () -> String, _ transaction: RawTransaction) throws(LMDBError) -> PageTree? {
        guard let known = transaction.trees else { return nil }
        if let tree = known.pointee[table] { return tree }
        guard let tree = try read(table, name(), transaction) else { return nil }
        known.pointee[table] = tree
        return tree
    }

    private static func read(_ table: Table, _ name: String, _ transaction: RawTransaction) throws(LMDBError) -> PageTree? {
        // What liblmdb keeps of a table under its name: u32, u16, u16 depth, u64 branch, leaf and overflow pages, entries, root.
        var name = name, k = MDB_val(), v = MDB_val()
        let code = name.withUTF8 { name in
            k = MDB_val(UnsafeRawBufferPointer(name))
            return mdb_get(transaction.pointer, mainTable, &k, &v)
        }
        var statistics = MDB_stat(), information = MDB_envinfo()
        guard code == 0, v.mv_size == 48, let record = UnsafeRawPointer(v.mv_data),
            mdb_stat(transaction.pointer, table.handle, &statistics) == 0, let size = Page.usable(Int(statistics.ms_psize)),
            // The same table, kept in the way that this reads.
            record.loadUnaligned(fromByteOffset: 4, as: UInt16.self) == 0,
            Int(record.loadUnaligned(fromByteOffset: 6, as: UInt16.self)) == Int(statistics.ms_depth),
            record.loadUnaligned(fromByteOffset: 32, as: UInt64.self) == UInt64(statistics.ms_entries),
            mdb_env_info(mdb_txn_env(transaction.pointer), &information) == 0, let holding = Page(holding: record, size: size)
        else { return nil }
        let last = information.me_last_pgno
        guard holding.isLeaf, holding.number > 1, holding.number <= last else { return nil }
        let base = holding.start - holding.number * size, depth = Int(statistics.ms_depth)
        guard depth > 0 else { return PageTree(base: base, pageSize: size, lastPage: last, root: nil, branches: 0) }
        let number = record.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
        guard depth <= deepest, number > 1, number <= UInt64(last) else { throw damaged }
        let root = Page(start: base + Int(number) * size, size: size)
        return PageTree(base: base, pageSize: size, lastPage: last, root: root, branches: depth - 1)
    }

    /// The page that a number says, not looked at. Nil if there is no such page.
    @inline(__always)
    func page(_ number: Int) -> Page? {
        guard number > 1, number <= lastPage else { return nil }
        return Page(start: base + number * pageSize, size: pageSize)
    }

    /// The page that a node of a branch leads to.
    @inline(__always)
    func child(_ page: Page, _ index: Int) throws(LMDBError) -> Page {
        guard let number = page.child(index), let child = self.page(number), child.number == number else { throw PageTree.damaged }
        return child
    }

    /// Whether a page has the number of its place.
    @inline(__always)
    private func isInPlace(_ page: Page) -> Bool { base + page.number &* page.size == page.start }

    /// The pages that must be the leaves with some keys, if they are anywhere. They are asked for, and not looked at.
    ///
    /// All keys go down the tree together, and in every page from one comparison to the next: so the memory that one of them needs comes
    /// while others are compared.
    func findLeaves(_ searches: UnsafeMutableBufferPointer<PageSearch>) throws(LMDBError) {
        for _ in 0..<branches {
            var steps = 0
            for index in searches.indices {
                let page = searches[index].page, count = page.count
                guard page.isBranch, isInPlace(page), count > 0 else { throw PageTree.damaged }
                // The first key of a branch stands for everything that is less than the second.
                (searches[index].low, searches[index].high) = (1, count)
                steps = max(steps, Int.bitWidth - count.leadingZeroBitCount)
            }
            for _ in 0..<steps {
                for index in searches.indices where searches[index].low < searches[index].high { try searches[index].step(orAt: false) }
            }
            for index in searches.indices {
                guard let number = searches[index].page.child(searches[index].low - 1), let child = page(number) else {
                    throw PageTree.damaged
                }
                tarn_prefetch(child.start)
                searches[index].page = child
            }
        }
    }

    /// The value of a key in the leaf that `findLeaves` found.
    func value(of key: SoughtKey, in leaf: Page) throws(LMDBError) -> UnsafeRawBufferPointer? {
        guard leaf.isLeaf, isInPlace(leaf) else { throw PageTree.damaged }
        let index = try leaf.firstNotLess(key, from: 0)
        guard index < leaf.count else { return nil }
        guard let entry = leaf.entry(index, lastPage: lastPage) else { throw PageTree.damaged }
        return key.isSame(as: entry.key) ? entry.value : nil
    }
}

/// A key that is looked for. Its first bytes are compared as one number; most keys differ there.
struct SoughtKey {
    let bytes: UnsafeRawBufferPointer
    fileprivate let beginning: UInt64

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        var beginning: UInt64 = 0
        if bytes.count >= 8 {
            beginning = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
        } else {
            for byte in bytes { beginning = beginning << 8 | UInt64(byte) }
            beginning <<= UInt64(8 * (8 - bytes.count))
        }
        self.beginning = beginning
    }

    func isSame(as key: UnsafeRawBufferPointer) -> Bool {
        key.count == bytes.count && tarn_memcmp(key.baseAddress, bytes.baseAddress, key.count) == 0
    }
}

extension Page {
    /// The first entry from one on whose key is not less.
    @inline(__always)
    func firstNotLess(_ key: SoughtKey, from start: Int) throws(LMDBError) -> Int { try first(from: start, behind: key, orAt: true) }

    /// The first entry from one on whose key is greater.
    @inline(__always)
    func firstGreater(_ key: SoughtKey, from start: Int) throws(LMDBError) -> Int { try first(from: start, behind: key, orAt: false) }

    @inline(__always)
    private func first(from start: Int, behind sought: SoughtKey, orAt isAt: Bool) throws(LMDBError) -> Int {
        var search = PageSearch(sought, self)
        (search.low, search.high) = (start, max(start, count))
        while search.low < search.high { try search.step(orAt: isAt) }
        return search.low
    }
}

/// A search in a page: what is looked for lies between two entries.
struct PageSearch {
    let key: SoughtKey
    var page: Page
    var low = 0, high = 0

    init(_ key: SoughtKey, _ page: Page) {
        self.key = key
        self.page = page
    }

    /// Halves what is between, which is not nothing.
    ///
    /// - Parameter orAt: whether an entry with the key itself is looked for too, or only what is behind it.
    @inline(__always)
    mutating func step(orAt isAt: Bool) throws(LMDBError) {
        let middle = (low + high) / 2
        guard let (found, beginning) = beginning(ofKey: middle) else { throw PageTree.damaged }
        // The order of keys in tables without flags (`mdb_cmp_memn`). One that ends early is filled up with zeros here: if that says that
        // they differ, they do so in this way.
        var isBefore = beginning < key.beginning
        if beginning == key.beginning { isBefore = isLess(found, key.bytes, orSame: !isAt) }
        // Half of these decisions come as a surprise, so they are no branch.
        let mask = 0 &- (isBefore ? 1 : 0)
        low = (middle + 1) & mask | low & ~mask
        high = high & mask | middle & ~mask
    }

    /// A key and its first eight bytes as a number. Nil if it is not in the page.
    @inline(__always)
    private func beginning(ofKey index: Int) -> (UnsafeRawBufferPointer, UInt64)? {
        guard let key = page.key(index), let start = key.baseAddress else { return nil }
        // In front of a key stands the header of its node, eight bytes: so eight bytes up to its end are in the page.
        let length = min(key.count, 8)
        let number = UInt64(bigEndian: (start + length - 8).loadUnaligned(as: UInt64.self))
        return (key, number << UInt64(64 - 8 * length))
    }

    @inline(__always)
    private func isLess(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, orSame: Bool) -> Bool {
        let order = tarn_memcmp(a.baseAddress, b.baseAddress, min(a.count, b.count))
        if order != 0 { return order < 0 }
        return orSame ? a.count <= b.count : a.count < b.count
    }
}

/// The trees that were looked at in a snapshot: finding one takes longer than a walk over a few rows.
struct KnownTrees {
    private static let capacity = 8
    private let trees = UnsafeMutablePointer<(Table, PageTree)>.allocate(capacity: capacity)
    private var count = 0, next = 0

    func deallocate() { trees.deallocate() }

    /// Has to be called before the transaction shows another snapshot.
    mutating func forget() { (count, next) = (0, 0) }

    subscript(table: Table) -> PageTree? {
        get {
            for index in 0..<count where trees[index].0 == table { return trees[index].1 }
            return nil
        }
        set {
            guard let newValue else { return }
            (trees + next).initialize(to: (table, newValue))
            next = (next + 1) % KnownTrees.capacity
            count = max(count, next == 0 ? KnownTrees.capacity : next)
        }
    }
}
