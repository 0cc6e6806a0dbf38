// The search for the trees of a file whose meta pages are both unreadable.
//
// Every commit writes new roots of the table of tables and of the free list. Old ones stay in the
// file until their pages are reused. The newest table of tables is the one through which `meta` has
// the highest commit sequence; the newest free list has the highest transaction.

import LMDBPages
import TarnStore

/// A search through all pages of a file, by their own headers. Its memory does not grow with it.
struct MetaPageSearch {
    /// A page that may be the root of the table of tables.
    private struct Candidate {
        var record: TableRecord
        /// The commit sequence in its table `meta`; nil if it is unreadable.
        var sequence: UInt64?
        /// The number of its tables whose root pages are right.
        var tables: Int
    }

    private let file: PageFile
    private let lastPage: UInt64
    private var candidates: [Candidate] = []
    private var freeList: (record: TableRecord, transaction: UInt64)?
    /// The most candidates that are kept.
    private static let limit = 16

    /// Searches a file for its trees.
    ///
    /// - Returns: A meta page with what was found: it has no table of tables if none is readable.
    ///   Nil if no page is one of LMDB.
    static func run(_ file: PageFile) -> MetaPage? {
        guard let size = pageSize(of: file) else { return nil }
        file.pageSize = size
        var search = MetaPageSearch(file)
        for number in file.pagesWithData.joined() where file.isCancelled?() != true { search.visit(number) }
        let free = search.freeList?.record ?? TableRecord()
        let freed = search.newestFreePages(free)
        let main = search.candidates.max { precedes($0, $1, freed) }?.record ?? TableRecord()
        return MetaPage(
            pageSize: size, freeList: free, main: main, lastPage: search.lastPage,
            transaction: search.freeList?.transaction ?? 0)
    }

    private init(_ file: PageFile) {
        self.file = file
        lastPage = file.pageCount == 0 ? 0 : file.pageCount - 1
    }

    /// Returns the size at which most pages declare their own number; nil if none does.
    private static func pageSize(of file: PageFile) -> Int? {
        let sizes = [4096, 512, 1024, 2048, 8192, 16384, 32768, 65536]
        let counted = sizes.map { size -> (size: Int, count: Int) in
            let pages = file.byteCount / UInt64(size), step = max(1, pages / 1024)
            let numbers = stride(from: PageLayout.metaPages, to: max(PageLayout.metaPages, pages), by: Int(step))
            return (size, numbers.count { isPage($0, of: size, file) })
        }
        let best = counted.max { $0.count * $0.size < $1.count * $1.size }
        return best.flatMap { $0.count > 0 ? $0.size : nil }
    }

    private static func isPage(_ number: UInt64, of size: Int, _ file: PageFile) -> Bool {
        guard let head = file.bytes(at: number * UInt64(size), count: PageLayout.headerSize) else { return false }
        return head.withUnsafeBytes { head in
            PageView(head).map { $0.number == number && ($0.kind != .other) } ?? false
        }
    }

    // MARK: - Pages

    private mutating func visit(_ number: UInt64) {
        guard let page = page(number) else { return }
        let (kind, children) = page.withView { page in
            (page.kind, page.kind == .branch ? MetaPageSearch.children(page) : [])
        }
        switch kind {
        case .leaf:
            if page.withView(MetaPageSearch.hasOnlyTables) {
                add(TableRecord(depth: 1, leaves: 1, root: number))
            } else if let transaction = page.withView(newestTransaction) {
                note(TableRecord(flags: 0x08, depth: 1, leaves: 1, root: number), transaction)
            }
        case .branch:
            guard let last = children.last, let end = self.page(last), end.withView(\.kind) == .leaf else { return }
            let record = TableRecord(depth: 2, branches: 1, leaves: UInt64(children.count), root: number)
            if let transaction = end.withView(newestTransaction) {
                note(
                    TableRecord(flags: 0x08, depth: 2, branches: 1, leaves: record.leafPages, root: number), transaction
                )
            } else if children.allSatisfy({ self.page($0)?.withView(MetaPageSearch.hasOnlyTables) ?? false }) {
                add(record)
            }
        default: break
        }
    }

    /// Returns a page that declares its own number.
    private func page(_ number: UInt64) -> PageBytes? {
        guard number >= PageLayout.metaPages, number <= lastPage, let page = file.page(number),
            page.withView(\.number) == number
        else { return nil }
        return page
    }

    private static func children(_ page: PageView) -> [UInt64] { (0..<page.count).compactMap { page.child($0) } }

    /// Whether all entries of a leaf are records of tables.
    private static func hasOnlyTables(_ page: PageView) -> Bool {
        guard page.isLeaf, page.count > 0 else { return false }
        return (0..<page.count).allSatisfy { index in
            guard let node = page.leafNode(index), !node.key.isEmpty else { return false }
            return node.flags == PageLayout.tree && node.valueSize == TableRecord.size
        }
    }

    /// Returns the last transaction of a leaf of the free list; nil if the leaf is of another tree.
    private func newestTransaction(_ page: PageView) -> UInt64? {
        guard page.isLeaf, page.count > 0 else { return nil }
        var newest: UInt64 = 0
        for index in 0..<page.count {
            guard let node = page.leafNode(index), !node.hasTree, !node.hasDuplicates,
                let transaction = FreePages.transaction(node.key), transaction > newest, node.valueSize >= 8,
                node.valueSize % 8 == 0
            else { return nil }
            if node.overflowPage == nil {
                // mdb.c, `mdb_freelist_save`: the value ends with the last number.
                guard let pages = FreePages(node.stored), pages.count == node.valueSize / 8 - 1,
                    (0..<pages.count).allSatisfy({ (PageLayout.metaPages...lastPage).contains(pages[$0]) })
                else { return nil }
            }
            newest = transaction
        }
        return newest
    }

    // MARK: - Choice

    /// Keeps the free list with the highest transaction; of two, the one that contains the other.
    private mutating func note(_ record: TableRecord, _ transaction: UInt64) {
        if let known = freeList, (known.transaction, known.record.depth) >= (transaction, record.depth) { return }
        freeList = (record, transaction)
    }

    private mutating func add(_ record: TableRecord) {
        let meta = MetaPage(
            pageSize: file.pageSize, freeList: TableRecord(), main: record, lastPage: lastPage, transaction: 0)
        let snapshot = FileSnapshot(file, keeping: meta)
        var candidate = Candidate(record: record, sequence: nil, tables: 0)
        if let settings = MetaPageSearch.table(TableName.meta, in: snapshot) {
            candidate.sequence = MetaPageSearch.sequence(settings, snapshot)
        }
        for name in TableName.all {
            guard let record = MetaPageSearch.table(name, in: snapshot) else { continue }
            let isRight = record.root.map { page($0).map { $0.withView(\.kind) != .overflow } ?? false } ?? true
            if isRight { candidate.tables += 1 }
        }
        // A page without a table of Tarn is one of another program, or damaged.
        guard candidate.tables > 0 else { return }
        candidates.append(candidate)
        guard candidates.count > MetaPageSearch.limit else { return }
        candidates.sort { MetaPageSearch.precedes($1, $0, []) }
        candidates.removeLast()
    }

    private static func table(_ name: String, in snapshot: FileSnapshot) -> TableRecord? {
        let value = Array(name.utf8).withUnsafeBytes { snapshot.value($0, in: snapshot.meta.main) }
        return value.flatMap { $0.withUnsafeBytes { TableRecord($0) } }
    }

    private static func sequence(_ settings: TableRecord, _ snapshot: FileSnapshot) -> UInt64? {
        Array("\(MetaKey.sequence)".utf8).withUnsafeBytes { key in
            guard settings.flags == 0, let value = snapshot.value(key, in: settings) else { return nil }
            return value.withUnsafeBytes { value in
                // Formats 1 and 2 have no checksum behind the value.
                let content = ValueChecksum.content(value, table: "meta", key: key) ?? value
                return content.count == 8 ? content.loadBigEndian(0, UInt64.self) : nil
            }
        }
    }

    private static func precedes(_ a: Candidate, _ b: Candidate, _ freed: Set<UInt64>) -> Bool {
        func rank(_ candidate: Candidate) -> (Int, UInt64, Int, Int) {
            let isFree = candidate.record.root.map(freed.contains) ?? false
            return (candidate.sequence == nil ? 0 : 1, candidate.sequence ?? 0, isFree ? 0 : 1, candidate.tables)
        }
        return rank(a) < rank(b)
    }

    /// Returns the pages that the newest transaction has freed, and so the roots that it replaced.
    private func newestFreePages(_ list: TableRecord) -> Set<UInt64> {
        let meta = MetaPage(
            pageSize: file.pageSize, freeList: list, main: TableRecord(), lastPage: lastPage, transaction: 0)
        let snapshot = FileSnapshot(file, keeping: meta)
        var scan = TreeScan(file, lastPage: lastPage, Findings(limit: 0)), pages: Set<UInt64> = [], newest: UInt64 = 0
        _ = snapshot.forEachFreePage(&scan) { transaction, number in
            if transaction != newest { pages.removeAll(keepingCapacity: true) }
            newest = transaction
            // The set is only for a choice: a part of a very long list is enough.
            if pages.count < 1 << 16 { pages.insert(number) }
        }
        return pages
    }
}
