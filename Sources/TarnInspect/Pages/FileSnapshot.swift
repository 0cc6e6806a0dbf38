// One state of a data file: its newest readable meta page and the tables of that page.

import LMDBPages
import TarnStore

/// A state of a file of unknown health, with access that validates everything.
final class FileSnapshot {
    let file: PageFile
    private(set) var meta: MetaPage
    /// Whether both meta pages are unreadable, and the trees were searched for.
    let isFound: Bool
    /// The records of the tables by name.
    private(set) var tables = TableValues<TableRecord>()
    /// The names of the tables, in byte order.
    private(set) var names: [String] = []
    /// The names that are written with escapes, and the text of each; nil if it is not UTF-8.
    private(set) var escapedNames: [String: String?] = [:]
    /// The number of entries of the table of tables that are no tables: keys of other programs.
    private(set) var ownEntries = 0
    /// The keys of the first of these entries.
    private(set) var ownKeys: [String] = []

    /// Creates a snapshot of a state of a file.
    init(_ file: PageFile, _ state: FileState) {
        self.file = file
        meta = state.meta
        isFound = state.isFound
        file.pageSize = meta.pageSize
    }

    /// Creates a snapshot of trees in a file whose page size is known.
    init(_ file: PageFile, keeping meta: MetaPage) {
        self.file = file
        self.meta = meta
        isFound = true
    }

    /// Reads the meta pages and selects the one of a state.
    ///
    /// - Parameter transaction: The state that a reader holds; nil for the newest.
    /// - Returns: The page, and the faults of both.
    /// - Throws: `StoreOpenError.notAStore` if neither meta page is readable; `FileSnapshot.Moved`
    ///   if the state was replaced.
    static func meta(of file: PageFile, transaction: UInt64? = nil) throws -> (MetaPage, [Finding]) {
        let metas = try metaPages(file)
        let newest = metas.pages.max { $0.transaction < $1.transaction }
        guard let meta = transaction == nil ? newest : metas.pages.first(where: { $0.transaction == transaction })
        else { throw Moved() }
        var findings = metas.problems.map { Finding(.meta, "page \($0.number)", $0.detail) }
        if !meta.hasSoundFreeList {
            findings.append(
                Finding(.meta, "page \(meta.number)", "the free list has the options \(meta.freeList.flags) of tables"))
        }
        return (meta, findings)
    }

    /// Returns the contradiction between the meta pages of a file; none if one of them is
    /// unreadable.
    static func orderFinding(of file: PageFile) -> [Finding] {
        let problem = MetaPageOrder.problem(of: file) { (try? metaPages(file).pages) ?? [] }
        return problem.map { [Finding(.meta, "pages 0 and 1", $0)] } ?? []
    }

    /// Whether later commits may have changed pages of this state.
    ///
    /// Without a reader that holds it, the second transaction after the next one reuses pages that
    /// the next one has freed (mdb.c, `mdb_page_alloc`). It begins after two commits.
    var isOvertaken: Bool {
        // Without a meta page, liblmdb opens the file for no writer.
        guard !isFound else { return false }
        guard let newest = try? FileSnapshot.metaPages(file).pages.map(\.transaction).max() else { return true }
        return newest > meta.transaction &+ 1
    }

    /// The state that a reader holds was replaced before its meta page was read.
    struct Moved: Error {}

    /// Returns both meta pages, as far as they are readable.
    private static func metaPages(_ file: PageFile) throws(StoreOpenError) -> (
        pages: [MetaPage], problems: [MetaProblem]
    ) {
        guard let start = file.bytes(at: 0, count: MetaPage.size) else {
            throw .notAStore(path: file.path, detail: "it has \(file.byteCount) bytes, and no meta page of LMDB")
        }
        var pages: [MetaPage] = [], problems: [MetaProblem] = []
        func take(_ result: Result<MetaPage, MetaProblem>) {
            switch result {
            case .success(let page): pages.append(page)
            case .failure(let problem): problems.append(problem)
            }
        }
        take(MetaPage.read(0, start))
        // The second meta page follows a page of the size that both declare. Where it is found,
        // that size is right, even if the first one declares another. If the first one is
        // unreadable or its size leads to no meta page, all page sizes are tried.
        let sizes = pages.map(\.pageSize) + [4096, 512, 1024, 2048, 8192, 16384, 32768, 65536]
        var second: Result<MetaPage, MetaProblem> = .failure(MetaProblem(number: 1, detail: "the file ends before it"))
        for size in sizes {
            guard let bytes = file.bytes(at: UInt64(size), count: MetaPage.size) else { continue }
            let found = MetaPage.read(1, bytes)
            if case .success(let page) = found, page.pageSize == size {
                second = found
                break
            }
            if size == sizes[0] {
                second = found.flatMap { .failure(MetaProblem(number: 1, saying: $0.pageSize, with: size)) }
            }
        }
        if case .success(let page) = second, let first = pages.first, first.pageSize != page.pageSize {
            pages = []
            problems.append(MetaProblem(number: 0, saying: first.pageSize, with: page.pageSize))
        }
        take(second)
        guard !pages.isEmpty else {
            throw .notAStore(
                path: file.path,
                detail: "it is no data file of LMDB, or both of its meta pages are damaged: \(problems[0].detail)")
        }
        return (pages, problems)
    }

    /// Returns the name of a table as it is written, from that or from its text; nil for no table.
    func name(_ given: String) -> String? {
        if tables[given] != nil { return given }
        return escapedNames.first { $0.value.map { $0.utf8.elementsEqual(given.utf8) } ?? false }?.key
    }

    /// Finds the tables. Must be called once, before any table is read.
    func findTables(_ scan: inout TreeScan) -> TreeScan.Counts {
        let findings = scan.findings
        return scan.scan(meta.main, "the table of tables") { key, value, flags in
            let (name, _) = FileSnapshot.name(of: key)
            guard flags & PageLayout.tree != 0 else {
                ownEntries += 1
                if ownKeys.count < 100 { ownKeys.append(name.isEmpty ? "(no name)" : name) }
                return
            }
            guard let record = TableRecord(value) else {
                findings.add(.tableRecord, name.isEmpty ? "(no name)" : name, "it is no table")
                return
            }
            if !add(key, record) { findings.add(.tableRecord, name, "it is there twice") }
        }
    }

    /// Returns the name of a table as it is written, and the text if the name has escapes: nil
    /// inside if it is not UTF-8.
    private static func name(of key: Bytes) -> (name: String, text: String??) {
        let text = String(validating: key, as: UTF8.self)
        // A name with a backslash would pass for an escaped one.
        if let text, !key.contains(UInt8(ascii: "\\")) { return (text, nil) }
        return (TableLines.escaped(key), .some(text))
    }

    /// Adds a table.
    ///
    /// - Returns: False if a table has its name.
    func add(_ key: Bytes, _ record: TableRecord) -> Bool {
        let (name, text) = FileSnapshot.name(of: key)
        guard tables[name] == nil else { return false }
        tables[name] = record
        names.append(name)
        if let text { escapedNames.updateValue(text, forKey: name) }
        return true
    }

    /// Returns the bytes of a table's name.
    func bytes(ofName name: String) -> [UInt8] {
        guard escapedNames[name] != nil else { return Array(name.utf8) }
        var bytes: [UInt8] = [], text = Array(name.utf8)[...]
        while let byte = text.popFirst() {
            if byte == UInt8(ascii: "\\"), let code = UInt8(String(decoding: text.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                text = text.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Lets keys of the table without a name have several values, where no meta page tells.
    func assumeDuplicates() { if isFound { meta.main.flags |= TableRecord.duplicates } }

    /// Returns the value of a key; nil if it does not exist or is unreachable.
    func value(_ key: Bytes, in table: TableRecord) -> [UInt8]? {
        var next = table.root
        for _ in 0..<FileSnapshot.deepest {
            guard let number = next, number >= PageLayout.metaPages, number <= meta.lastPage,
                let page = file.page(number)
            else { return nil }
            let (child, value) = page.withView { page -> (UInt64?, [UInt8]?) in
                switch page.kind {
                case .branch: (page.child(for: key), nil)
                case .leaf: (nil, page.leafNode(for: key).flatMap { self.value(of: $0) })
                default: (nil, nil)
                }
            }
            if let value { return value }
            next = child
        }
        return nil
    }

    /// Returns the leaf that has a readable value of a key; nil if there is none.
    func leaf(with key: Bytes, in table: TableRecord) -> PageBytes? {
        var next = table.root
        for _ in 0..<FileSnapshot.deepest {
            guard let number = next, number >= PageLayout.metaPages, number <= meta.lastPage,
                let page = file.page(number)
            else { return nil }
            guard page.withView({ $0.kind == .branch }) else { return has(key, inLeaf: page) ? page : nil }
            next = page.withView { $0.child(for: key) }
        }
        return nil
    }

    /// Returns whether a page is a leaf with a readable value of a key.
    func has(_ key: Bytes, inLeaf page: PageBytes) -> Bool {
        page.withView { page in
            guard page.kind == .leaf, let node = page.leafNode(for: key) else { return false }
            return node.overflowPage == nil || value(of: node) != nil
        }
    }

    private static let deepest = 64

    /// Returns the value of a node of a leaf, also from overflow pages; nil if it is unreadable.
    func value(of node: LeafNode) -> [UInt8]? {
        guard let first = node.overflowPage else { return Array(node.stored) }
        guard first >= PageLayout.metaPages, first <= meta.lastPage, let start = file.page(first),
            start.withView(\.kind) == .overflow
        else { return nil }
        let bytes = file.bytes(
            at: first * UInt64(file.pageSize), count: PageLayout.headerSize + node.valueSize)
        return bytes.map { Array($0[PageLayout.headerSize...]) }
    }

    /// Visits the numbers of free pages, and reports the faults of the list.
    ///
    /// - Parameter page: A closure that is called with the freeing transaction and the page number.
    func forEachFreePage(_ scan: inout TreeScan, _ page: (UInt64, UInt64) -> Void) -> TreeScan.Counts {
        let findings = scan.findings
        var last: UInt64 = 0
        let counts = scan.scan(meta.freeList, "the free list", ordersBytes: false) { key, value, _ in
            let transaction = FreePages.transaction(key) ?? 0
            let place = "the free list of transaction \(transaction)"
            guard key.count == 8, transaction > last || last == 0 else {
                return findings.add(.freeList, place, "it does not stand in order")
            }
            last = transaction
            guard let pages = FreePages(value), value.count % 8 == 0 else {
                return findings.add(
                    .freeList, place,
                    "it says that it has \(FreePages.declaredCount(value) ?? 0) pages, in \(value.count) bytes")
            }
            for index in 0..<pages.count {
                let number = pages[index]
                guard number >= PageLayout.metaPages, number <= meta.lastPage else {
                    findings.add(.freeList, place, "page \(number) is not one of 2 to \(meta.lastPage)")
                    continue
                }
                page(transaction, number)
            }
        }
        return counts
    }
}
