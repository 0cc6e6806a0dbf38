// The search for tables whose records no tree leads to.

import LMDBPages
import TarnStore

/// A search for the records of tables on all leaves of a file of another program.
///
/// A record on a page that is in use is the newest one. One on a free page is still right if its
/// table has not changed since: then its root is in use.
struct TableSearch {
    private struct Candidate {
        var record: TableRecord
        /// Whether the record is on a free page.
        var isOld: Bool
    }

    private let file: StoreFile
    private var free = PageMap()
    private var found: [[UInt8]: Candidate] = [:]
    private var hasDuplicates = false
    /// The numbers of values in leaves, and of those that have the checksum of a store's.
    private var values = 0, rows = 0

    init(_ file: StoreFile) {
        self.file = file
        var scan = TreeScan(file.snapshot.file, lastPage: file.snapshot.meta.lastPage, Findings(limit: 0))
        var free = PageMap()
        _ = file.snapshot.forEachFreePage(&scan) { free[$1] = 1 }
        self.free = free
    }

    /// Adds the tables that are found to those of the file.
    ///
    /// - Returns: False if the pages are those of a store, or have nothing to tell.
    func run() -> Bool {
        var search = self
        for number in file.snapshot.file.pagesWithData.joined() where file.snapshot.file.isCancelled?() != true {
            guard let page = file.snapshot.file.page(number) else { continue }
            page.withView { search.visit($0, number) }
        }
        // Of random values, one in four thousand million passes for a row.
        guard search.values > 0 || !search.found.isEmpty, search.rows == 0 || search.rows < search.values / 100 else {
            return false
        }
        for (name, candidate) in search.found.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            _ = name.withUnsafeBytes { file.snapshot.add($0, candidate.record) }
        }
        if search.hasDuplicates, file.snapshot.isFound, file.snapshot.names.isEmpty {
            file.snapshot.assumeDuplicates()
        }
        return true
    }

    private mutating func visit(_ page: PageView, _ number: UInt64) {
        guard page.isLeaf || page.kind == .other && page.problem == nil, page.number == number else { return }
        let isOld = free[number] != 0
        for index in 0..<page.count {
            guard let node = page.leafNode(index) else { continue }
            if node.hasDuplicates, !isOld { hasDuplicates = true }
            count(node)
            guard node.flags == PageLayout.tree, !node.key.isEmpty, node.key.count <= 511,
                let record = TableRecord(node.stored), isPossible(record, isOld: isOld)
            else { continue }
            let name = Array(node.key), known = found[name]
            if let known, (known.isOld ? 0 : 1, known.record.entries) >= (isOld ? 0 : 1, record.entries) { continue }
            // As many as a scan can tell apart; a damaged file may have any number of names.
            guard known != nil || found.count < Int(UInt16.max) / 2 else { continue }
            found[name] = Candidate(record: record, isOld: isOld)
        }
    }

    /// Counts an entry with a value. Those of the free list are none.
    private mutating func count(_ node: LeafNode) {
        if node.hasDuplicates {
            // No table of a store has several values for a key.
            let isTree = node.hasTree && TableRecord(node.stored).map { isPossible($0, isOld: true) } ?? false
            if isTree || !node.hasTree && (PageView.values(inNode: node.stored)?.count ?? 0) > 1 { values += 1 }
            return
        }
        guard !node.hasTree, node.valueSize > 0, let value = file.snapshot.value(of: node) else { return }
        value.withUnsafeBytes { value in
            let isOfFreeList =
                node.key.count == 8 && FreePages(value).map { ($0.count + 1) * 8 == value.count } ?? false
            if isOfFreeList { return }
            values += 1
            if TableSearch.isOfStore(node.key, value) { rows += 1 }
        }
    }

    /// Whether the checksum of a value is that of a row, or of another value, of a store.
    private static func isOfStore(_ key: Bytes, _ value: Bytes) -> Bool {
        let hasChecksum = StoreFile.checksummed.values.contains {
            ValueChecksum.content(value, table: $0, key: key) != nil
        }
        guard !hasChecksum, value.count >= RowFormat.headerSize, value[0] == RowFormat.version else {
            return hasChecksum
        }
        // The checksum covers the id of the root entity, which is not greater than that of the
        // row's.
        return (0...min(value.load(6, UInt16.self), 32)).contains {
            EncodedRow.hasValidChecksum(value, table: UInt32($0), key: key)
        }
    }

    /// Whether a record leads to a page that may be its root.
    private func isPossible(_ record: TableRecord, isOld: Bool) -> Bool {
        guard let root = record.root else { return !isOld && record.entries == 0 }
        guard root >= PageLayout.metaPages, root <= file.snapshot.meta.lastPage, free[root] == 0,
            let page = file.snapshot.file.page(root)
        else { return false }
        let kind = page.withView { $0.number == root ? $0.kind : .other }
        return record.depth == 1 ? kind == .leaf : kind == .branch
    }
}
