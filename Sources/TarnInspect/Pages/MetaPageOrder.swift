// The order of the two meta pages of a file, which determines the current state.
//
// liblmdb takes the page with the larger transaction number. If a bit of a number is wrong, the
// file shows the commit before, and every page of that one is sound.

import LMDBPages

extension StoreInspector {
    /// Returns the faults of the meta pages. Nothing else is read, and the file is not locked.
    ///
    /// The file must not be open through liblmdb in this process.
    package func metaPageFindings() throws -> [Finding] {
        let file = try PageFile(opening: path)
        return try FileSnapshot.meta(of: file).1 + FileSnapshot.orderFinding(of: file)
    }
}

/// The check that the meta pages are those of two consecutive transactions.
struct MetaPageOrder {
    private let first: MetaPage
    private let second: MetaPage
    private let file: PageFile
    /// More levels than any tree has.
    private static let deepest = 64

    private init(_ first: MetaPage, _ second: MetaPage, _ file: PageFile) {
        (self.first, self.second) = (first, second)
        // The pages may have another size than the ones in the cache of the given file.
        self.file = PageFile(borrowing: file.descriptor, path: file.path)
        self.file.pageSize = first.pageSize
    }

    /// Returns the contradiction between two valid meta pages of a file; nil if there is none.
    ///
    /// - Parameter read: A closure that reads both pages, and returns fewer if one is not valid.
    ///   Commits of another process may separate the two: it is called again then.
    static func problem(of file: PageFile, _ read: () -> [MetaPage]) -> String? {
        var pages = read()
        for _ in 0..<100 {
            guard pages.count == 2, let problem = MetaPageOrder(pages[0], pages[1], file).problem else { return nil }
            let again = read()
            if again == pages { return problem }
            pages = again
        }
        return nil
    }

    private var problem: String? {
        let numbers = "they are of the transactions \(first.transaction) and \(second.transaction)"
        let consequence = "the number of one is damaged, and the file may show an earlier commit"
        // mdb.c, `mdb_env_init_meta`: a new file has number 0 in both. `mdb_env_copyfd1`: a compact
        // copy has 0 and 1, or twice 0 if it has no tables.
        if first.transaction == 0, second.transaction == 0, first.isUnused, second.isUnused { return nil }
        // `mdb_env_write_meta`: transaction n writes the page n & 1, and leaves the other one.
        let (older, newer) = first.transaction < second.transaction ? (first, second) : (second, first)
        guard newer.transaction - older.transaction == 1, first.transaction % 2 == 0 else {
            return "\(numbers), which do not follow each other: \(consequence)"
        }
        // A transaction frees pages under its own number, and cannot reuse those that the one
        // before has freed (`mdb_freelist_save`, `mdb_page_alloc`). The free list of the older page
        // may have later numbers: the page was written in part, without its number, which is its
        // last field (`mdb_env_write_meta`), when a commit was interrupted. A damaged number may
        // leave the same bytes.
        let freed = (lastFreed(older).flatMap { $0 > older.transaction ? nil : $0 } ?? 0, lastFreed(newer))
        if let last = freed.1, last > newer.transaction || last < freed.0 {
            return
                "\(numbers), and the free list of transaction \(newer.transaction) ends with pages of \(last): \(consequence)"
        }
        return nil
    }

    /// Returns the last transaction in the free list of a state, 0 if it is empty; nil if it is
    /// unreadable.
    private func lastFreed(_ meta: MetaPage) -> UInt64? {
        var next = meta.freeList.root
        if next == nil { return 0 }
        for _ in 0..<MetaPageOrder.deepest {
            guard let number = next, number >= PageLayout.metaPages, number <= meta.lastPage,
                let page = file.page(number), page.withView({ $0.number == number && $0.count > 0 })
            else { return nil }
            if page.withView(\.isLeaf) {
                return page.withView { $0.leafNode($0.count - 1).flatMap { FreePages.transaction($0.key) } }
            }
            next = page.withView { $0.kind == .branch ? $0.child($0.count - 1) : nil }
        }
        return nil
    }
}
