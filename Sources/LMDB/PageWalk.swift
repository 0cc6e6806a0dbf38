// A walk over a table of a snapshot along its pages, forward, many entries at a time.
//
// Going from row to row with liblmdb waits for memory at every page: nothing says where the next one is before it is asked for. The branch
// above the leaves does, so pages are asked for several leaves ahead, and come while others are looked at.

public import CLMDB

/// Asks the processor for memory that is soon looked at, and does not wait for it. Any address will do.
@inlinable
@inline(__always)
package func ask(for address: UnsafeRawPointer) { tarn_prefetch(address) }

/// Entries of a table in the order of their keys, from a key on. In a snapshot they come page by page, otherwise from a cursor.
package struct ForwardScan: ~Copyable {
    private var pages: PageWalk?
    private let cursor: RawCursor?
    /// Whether entries come page by page.
    var isAlongPages: Bool { cursor == nil }
    private var next: RawCursor.Entry?

    /// - Parameter name: the table's name.
    package init(_ transaction: RawTransaction, _ table: Table, name: String) throws(LMDBError) {
        pages = try PageWalk.over(table, name, transaction)
        cursor = pages == nil ? try transaction.cursor(table) : nil
    }

    deinit { cursor?.close() }

    /// Goes to the first entry whose key is not less. Of an empty one: to the first.
    package mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        guard let cursor else {
            try pages?.seek(key)
            return
        }
        next = try key.isEmpty ? cursor.first() : cursor.seek(key)
    }

    /// Lends the next entries, as many as fit.
    ///
    /// - Returns: how many; none at the end of the table.
    package mutating func fill(_ batch: UnsafeMutableBufferPointer<RawCursor.Entry>) throws(LMDBError) -> Int {
        guard let cursor else { return try pages?.fill(batch) ?? 0 }
        var count = 0
        while count < batch.count, let entry = next {
            batch.initializeElement(at: count, to: entry)
            count += 1
            next = try cursor.next()
        }
        return count
    }
}

/// The pages of a tree, from the root down to the leaf that the walk is at. Every offset and number is checked: a damaged file is an error.
struct PageWalk: ~Copyable {
    private let base: UnsafeRawPointer
    private let pageSize: Int
    private let lastPage: Int
    private let root: Page?
    /// A branch, and which of its children the walk is in.
    private struct Branch {
        var page: Page
        var index: Int
        var count: Int
    }

    /// The branch above the leaf, and those above it, the root first.
    private var branch: Branch?
    private var above: [Branch] = []
    private var leaf: Page?
    private var index = 0, count = 0
    private static let deepest = 32
    /// How many leaves ahead a page's header is asked for, and its entries.
    private static let headersAhead = 16, entriesAhead = 8
    /// Entries of pages with more of them lie so close together that the processor fetches them by itself.
    private static let fewEntries = 20, fewLongEntries = 6

    private init(_ base: UnsafeRawPointer, _ pageSize: Int, _ lastPage: Int, _ root: Page?) {
        self.base = base
        self.pageSize = pageSize
        self.lastPage = lastPage
        self.root = root
    }

    /// Nil where pages cannot be looked at.
    static func over(_ table: Table, _ name: String, _ transaction: RawTransaction) throws(LMDBError) -> PageWalk? {
        guard transaction.growth == nil else { return nil }
        // What liblmdb keeps of a table under its name: u32, u16, u16 depth, u64 branch, leaf and overflow pages, entries, root.
        var name = name, k = MDB_val(), v = MDB_val()
        let code = name.withUTF8 { name in
            k = MDB_val(UnsafeRawBufferPointer(name))
            return mdb_get(transaction.pointer, PageWalk.mainTable, &k, &v)
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
        let base = holding.start - holding.number * size
        guard statistics.ms_depth > 0 else { return PageWalk(base, size, last, nil) }
        guard let root = page(record.loadUnaligned(fromByteOffset: 40, as: UInt64.self), base, size, last) else { throw damaged }
        return PageWalk(base, size, last, root)
    }

    private static let mainTable: MDB_dbi = 1

    private static var damaged: LMDBError { LMDBError(.corrupted, operation: "walk") }

    @inline(__always)
    private static func page(_ number: UInt64, _ base: UnsafeRawPointer, _ size: Int, _ last: Int) -> Page? {
        guard number > 1, number <= UInt64(last) else { return nil }
        return Page(start: base + Int(number) * size, size: size)
    }

    @inline(__always)
    private func child(_ page: Page, _ index: Int) throws(LMDBError) -> Page {
        guard let number = page.child(index), let child = PageWalk.page(UInt64(number), base, pageSize, lastPage),
            child.number == number
        else { throw PageWalk.damaged }
        return child
    }

    mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
        above.removeAll(keepingCapacity: true)
        (branch, leaf) = (nil, nil)
        (index, count) = (0, 0)
        guard let root else { return }
        try descend(from: root, to: key)
        guard let leaf else { return }
        index = try PageWalk.firstNotLess(key, in: leaf, from: 0)
    }

    private mutating func descend(from top: Page, to key: UnsafeRawBufferPointer) throws(LMDBError) {
        var page = top
        while page.isBranch {
            let count = page.count
            guard count > 0, above.count < PageWalk.deepest else { throw PageWalk.damaged }
            // The first key of a branch stands for everything that is less than the second.
            let behind = key.isEmpty ? 1 : try PageWalk.firstGreater(key, in: page, from: 1)
            if let branch { above.append(branch) }
            branch = Branch(page: page, index: behind - 1, count: count)
            page = try child(page, behind - 1)
        }
        guard page.isLeaf else { throw PageWalk.damaged }
        leaf = page
        (index, count) = (0, page.count)
        askAhead(first: true)
    }

    private static func firstNotLess(_ key: UnsafeRawBufferPointer, in page: Page, from start: Int) throws(LMDBError) -> Int {
        var low = start, high = page.count
        guard !key.isEmpty else { return start }
        while low < high {
            let middle = (low + high) / 2
            guard let found = page.key(middle) else { throw damaged }
            if compare(found, key) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func firstGreater(_ key: UnsafeRawBufferPointer, in page: Page, from start: Int) throws(LMDBError) -> Int {
        var low = start, high = max(start, page.count)
        while low < high {
            let middle = (low + high) / 2
            guard let found = page.key(middle) else { throw damaged }
            if compare(found, key) <= 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The order of keys in tables without flags (`mdb_cmp_memn`).
    @inline(__always)
    private static func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        let order = tarn_memcmp(a.baseAddress, b.baseAddress, min(a.count, b.count))
        return order != 0 ? Int(order) : a.count - b.count
    }

    mutating func fill(_ batch: UnsafeMutableBufferPointer<RawCursor.Entry>) throws(LMDBError) -> Int {
        var filled = 0
        while filled < batch.count {
            guard let leaf else { return filled }
            let taken = min(count - index, batch.count - filled)
            for _ in 0..<max(0, taken) {
                guard let entry = leaf.entry(index, lastPage: lastPage) else { throw PageWalk.damaged }
                batch.initializeElement(at: filled, to: entry)
                index += 1
                filled += 1
            }
            if filled < batch.count { try nextLeaf() }
        }
        return filled
    }

    private mutating func nextLeaf() throws(LMDBError) {
        leaf = nil
        while var next = branch {
            next.index += 1
            guard next.index < next.count else {
                branch = above.popLast()
                continue
            }
            branch = next
            let page = try child(next.page, next.index)
            if page.isLeaf {
                leaf = page
                (index, count) = (0, page.count)
                askAhead(first: false)
            } else {
                try descend(from: page, to: UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return
        }
    }

    /// Asks for leaves that come after this one.
    ///
    /// - Parameter first: whether none was asked for so far.
    private func askAhead(first: Bool) {
        guard let branch else { return }
        func leaf(_ ahead: Int) -> Page? {
            let index = branch.index + ahead
            guard index < branch.count, let number = branch.page.child(index) else { return nil }
            return PageWalk.page(UInt64(number), base, pageSize, lastPage)
        }
        if first {
            for ahead in 1..<PageWalk.headersAhead { if let page = leaf(ahead) { tarn_prefetch(page.start) } }
        }
        if let page = leaf(PageWalk.headersAhead) { tarn_prefetch(page.start) }
        // A page with many entries is there for longer.
        guard let page = leaf(count > 8 ? 2 : PageWalk.entriesAhead) else { return }
        let count = page.count
        guard count <= PageWalk.fewEntries else { return }
        for index in 0..<count {
            // The key, where most rows say where their values are, and of longer ones the first of these.
            let node = page.start + min(page.node(index), pageSize - 1)
            tarn_prefetch(node)
            tarn_prefetch(node + 64)
            guard count <= PageWalk.fewLongEntries else { continue }
            tarn_prefetch(node + 128)
            tarn_prefetch(node + 192)
        }
    }
}
