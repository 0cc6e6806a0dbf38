// The use of a file's pages, table by table: kinds, fill, order, and the free list.

import LMDBPages
import TarnStore

/// The use of the pages of a data file. It needs a scan of all pages.
package struct PageUse: Sendable {
    /// The pages and the entries of a table.
    package struct Table: Sendable {
        /// The table's name in LMDB, `(main)` for the table of tables, `(free)` for the free list.
        package var name: String
        /// The purpose, or the name again.
        package var meaning: String
        /// The options of the table, as `mdb_dump` names them.
        package var options: [String] = []
        package var branchPages = 0, leafPages = 0, overflowPages = 0
        /// The used bytes of branches and leaves, and of overflow pages.
        var treeBytes = 0, overflowBytes = 0
        /// The number of leaves that do not follow the page of the leaf before them.
        var jumps = 0
        package var entries = 0
        /// The sizes of all keys and of all values, in bytes.
        package var keyBytes = 0, valueBytes = 0
        package var longestKey = 0, longestValue = 0

        package var pages: Int { branchPages + leafPages + overflowPages }
        /// The used part of the pages, from 0 to 1.
        package func fill(pageSize: Int) -> Double {
            pages == 0 ? 0 : Double(treeBytes + overflowBytes) / (Double(pages) * Double(pageSize))
        }
        /// The part of the steps from leaf to leaf that leave the order of the file, from 0 to 1.
        package var fragmentation: Double { leafPages < 2 ? 0 : Double(jumps) / Double(leafPages - 1) }
    }

    /// The free list.
    package struct Free: Sendable {
        package var pages = 0
        /// The pages that the next write can use: no reader may see what they had.
        package var reusable = 0
        /// The oldest and the newest transaction that freed pages; nil without free pages.
        package var oldest: UInt64?, newest: UInt64?
        /// The oldest transaction of a reader in another process; nil without readers.
        package var oldestReader: UInt64?
    }

    /// One of the largest entries of the file.
    package struct LargeEntry: Sendable, Hashable {
        package var table: String
        /// The record, or the beginning of the key in hexadecimal digits.
        package var key: String
        package var keyBytes: Int, valueBytes: Int
    }

    /// The tables, the largest first.
    package internal(set) var tables: [Table] = []
    package internal(set) var free = Free()
    /// The largest entries, the largest first.
    package internal(set) var largest: [LargeEntry] = []
    package internal(set) var pageSize = 0
    /// The number of pages that the state may use, from the first one on.
    package internal(set) var usedRange = 0
    /// The number of pages of the file.
    package internal(set) var filePages = 0
    package internal(set) var transaction: UInt64 = 0
    /// The incarnation of the store; empty if it is unreadable, or if the file is no store.
    package internal(set) var incarnation = ""
    package internal(set) var findings: [Finding] = []
    /// The number of findings, including those that are not in ``findings``.
    package internal(set) var findingCount = 0
    package internal(set) var aloneBecause: String?

    /// A map of the used range in its order: consecutive parts of `pagesPerCell` pages, each with
    /// the name of the table that has most of it, or `(pages)` for free pages; nil for a part that
    /// nobody has. Empty if it was not asked for.
    package internal(set) var map: [String?] = []
    /// The number of pages of each part of the map; the last one may have fewer.
    package internal(set) var pagesPerCell = 1

    /// The pages that neither a tree nor the free list has, without the two meta pages.
    package var unaccounted: Int { max(0, usedRange - 2 - tables.reduce(0) { $0 + $1.pages } - free.pages) }
}

extension StoreInspector {
    /// Scans all pages of a data file, of a store or of another program.
    ///
    /// Memory does not grow with the file but for two bytes a page.
    ///
    /// - Parameters:
    ///   - largest: The number of large entries to keep, at most 1,000.
    ///   - table: The table with the large entries; nil for all.
    ///   - cells: The most parts of the map, at most 10,000; 0 for no map.
    /// - Throws: As ``statistics()``.
    package func pageUse(
        largest: Int = 0, of table: String? = nil, cells: Int = 0, progress: ((Progress) -> Void)? = nil
    ) throws -> PageUse {
        let readers = try? Store.readers(ofStoreAt: FileState.directory(of: path))
        return try open(progress: progress) { file in
            var scan = PageUseScan(
                file, largest: min(max(largest, 0), 1000), of: table, cells: min(max(cells, 0), 10_000))
            return scan.run(oldestReader: readers?.compactMap(\.transaction).min().map { UInt64(clamping: $0) })
        }
    }
}

/// The state of a scan of all trees.
private struct PageUseScan {
    private let file: StoreFile
    private let limit: Int
    /// The table with the large entries; nil for all.
    private let chosen: String?
    private let findings = Findings()
    private var scan: TreeScan
    private var largest: [PageUse.LargeEntry] = []
    private let map: PageUseMap

    /// The counts that the closures of a scan change.
    private final class Pages {
        var table: PageUse.Table
        var lastLeaf: UInt64?

        init(_ table: PageUse.Table) { self.table = table }
    }

    init(_ file: StoreFile, largest: Int, of chosen: String?, cells: Int) {
        self.file = file
        (limit, self.chosen) = (largest, chosen)
        map = PageUseMap(pages: file.snapshot.meta.lastPage, cells: cells)
        scan = TreeScan(file.snapshot.file, lastPage: file.snapshot.meta.lastPage, findings)
    }

    mutating func run(oldestReader: UInt64?) -> PageUse {
        let snapshot = file.snapshot, meta = snapshot.meta
        var use = PageUse()
        use.tables.append(read(meta.main, "(main)", "the table of tables"))
        for name in snapshot.names {
            guard let record = snapshot.tables[name] else { continue }
            use.tables.append(read(record, name, StoreStatistics.meaning(of: name, file.catalog)))
        }
        use.free.oldestReader = oldestReader
        use.tables.append(readFreeList(&use.free))
        use.tables.sort { ($0.pages, $1.name) > ($1.pages, $0.name) }
        use.largest = largest
        (use.map, use.pagesPerCell) = (map.owners, Int(clamping: map.pagesPerCell))
        use.pageSize = meta.pageSize
        use.usedRange = Int(clamping: meta.lastPage == .max ? .max : meta.lastPage + 1)
        use.filePages = Int(clamping: snapshot.file.pageCount)
        (use.transaction, use.incarnation) = (meta.transaction, file.text(MetaKey.incarnation) ?? "")
        // The scan finds the faults of pages again, but not those of the file.
        use.findings = file.findings.list.filter(\.code.isOfFile) + findings.list
        use.findingCount = use.findings.count + findings.total - findings.list.count
        use.aloneBecause = file.aloneBecause
        return use
    }

    /// Counts the pages that a scan visits.
    private mutating func counting(_ table: PageUse.Table, _ body: (inout TreeScan, Pages) -> Void) -> PageUse.Table {
        let pages = Pages(table), map = map
        scan.visited = { page, number in
            map.add(number, 1, table.name)
            let isBranch = page.kind == .branch
            if isBranch { pages.table.branchPages += 1 } else { pages.table.leafPages += 1 }
            let used =
                page.kind == .values
                ? PageLayout.headerSize + page.count * page.valueSize : page.size - max(0, page.upper - page.lower)
            pages.table.treeBytes += min(max(0, used), page.size)
            guard !isBranch else { return }
            if let last = pages.lastLeaf, number != last &+ 1 { pages.table.jumps += 1 }
            pages.lastLeaf = number
        }
        scan.overflowed = { number, count, bytes in
            map.add(number, count, table.name)
            pages.table.overflowPages += Int(clamping: count)
            pages.table.overflowBytes += PageLayout.headerSize + bytes
        }
        body(&scan, pages)
        (scan.visited, scan.overflowed) = (nil, nil)
        return pages.table
    }

    private mutating func read(_ record: TableRecord, _ name: String, _ meaning: String) -> PageUse.Table {
        var largest = largest
        let (file, limit) = (file, limit), isMain = name == StoreInspector.mainTable
        let isChosen = limit > 0 && (chosen == nil || chosen == name)
        let root = name.hasPrefix("r/") ? UInt16(name.dropFirst(2)).flatMap { file.catalog.entity(id: $0)?.name } : nil
        let table = counting(PageUse.Table(name: name, meaning: meaning, options: record.optionNames)) { scan, pages in
            let isStores = file.isStore && !isMain
            _ = scan.scan(record, isMain ? "the table of tables" : name, ordersBytes: isStores || isMain) {
                key, value, flags in
                pages.table.entries += 1
                pages.table.keyBytes += key.count
                pages.table.valueBytes += value.count
                pages.table.longestKey = max(pages.table.longestKey, key.count)
                pages.table.longestValue = max(pages.table.longestValue, value.count)
                // The table of tables may have entries of another program.
                guard isChosen, !isMain || !file.isStore && flags & PageLayout.tree == 0 else { return }
                let least = largest.count == limit ? largest[limit - 1].valueBytes + largest[limit - 1].keyBytes : -1
                guard key.count + value.count > least else { return }
                let text =
                    root.map { "\($0) \(file.describe(key))" }
                    ?? StoreInspector.hexadecimal(key.slice(0..<min(key.count, 32))) + (key.count > 32 ? "…" : "")
                let entry = PageUse.LargeEntry(
                    table: name, key: text, keyBytes: key.count, valueBytes: value.count)
                let place =
                    largest.firstIndex { $0.keyBytes + $0.valueBytes < key.count + value.count } ?? largest.count
                largest.insert(entry, at: place)
                if largest.count > limit { largest.removeLast() }
            }
        }
        self.largest = largest
        return table
    }

    private mutating func readFreeList(_ free: inout PageUse.Free) -> PageUse.Table {
        var found = free
        let snapshot = file.snapshot
        let oldest = min(found.oldestReader ?? .max, snapshot.meta.transaction)
        let map = map
        let table = counting(PageUse.Table(name: "(free)", meaning: "the free list")) { scan, pages in
            let counts = snapshot.forEachFreePage(&scan) { transaction, page in
                map.add(page, 1, "(pages)")
                found.pages += 1
                if transaction < oldest { found.reusable += 1 }
                found.oldest = min(found.oldest ?? transaction, transaction)
                found.newest = max(found.newest ?? transaction, transaction)
            }
            pages.table.entries = Int(clamping: counts.entries)
        }
        free = found
        return table
    }
}
