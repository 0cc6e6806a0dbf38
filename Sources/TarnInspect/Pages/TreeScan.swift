// A scan of the pages of a tree, in key order. It always terminates: each page is entered once.

import LMDBPages
import TarnStore

/// The scan of trees in one state of a file, which records the pages that it has reached.
struct TreeScan {
    let file: PageFile
    /// The highest page number of the state.
    let lastPage: UInt64
    /// The tree that reached each page first, as an index of `owners`.
    private(set) var pages = PageMap()
    private(set) var owners: [String] = [""]
    /// The collection of every fault.
    let findings: Findings
    /// A closure that is called with each tree page read.
    var progress: (() -> Void)?
    /// A closure that is called with each branch and leaf that a tree leads to.
    var visited: ((_ page: PageView, _ number: UInt64) -> Void)?
    /// A closure that is called with each value in overflow pages: the first page, the number of
    /// pages, and the size of the value.
    var overflowed: ((_ first: UInt64, _ pages: UInt64, _ bytes: Int) -> Void)?
    /// A closure that is called with each key whose value is unreadable, and the name of its table.
    var lostValue: ((_ key: Bytes, _ table: String) -> Void)?
    /// A closure that is called with each branch above leaves, and returns for each of its nodes
    /// how many entries the leaf has, if nothing in the leaf is to be looked at; nil otherwise.
    var passed: ((_ branch: UInt64) -> [Int32?])?

    init(_ file: PageFile, lastPage: UInt64, _ findings: Findings) {
        self.file = file
        self.lastPage = lastPage
        self.findings = findings
    }

    /// Adds the pages that another scan has reached since it had `opened` owners.
    ///
    /// - Returns: Whether no page was reached by both.
    mutating func merge(_ other: TreeScan, since opened: Int) -> Bool {
        let base = owners.count
        guard base + other.owners.count - opened < Int(UInt16.max) else { return false }
        owners += other.owners[opened...]
        return pages.merge(other.pages) { $0 < opened ? 0 : UInt16(base + Int($0) - opened) }
    }

    typealias Entry = (_ key: Bytes, _ value: Bytes, _ flags: UInt16) throws -> Void

    /// The counts of a scan.
    struct Counts: Equatable {
        var branchPages: UInt64 = 0, leafPages: UInt64 = 0, overflowPages: UInt64 = 0, entries: UInt64 = 0
        /// Whether the whole tree is readable.
        var isWhole = true
    }

    /// Scans a tree.
    ///
    /// - Parameters:
    ///   - name: The name of the table, for messages.
    ///   - ordersBytes: Whether keys are in byte order; otherwise their order is not checked.
    ///   - entry: A closure that is called with every readable entry, for a key with several values
    ///     with each of them. The bytes are valid until it returns.
    /// - Throws: Only the closure's error.
    mutating func scan(_ record: TableRecord, _ name: String, ordersBytes: Bool = true, _ entry: Entry) rethrows
        -> Counts
    {
        guard owners.count < Int(UInt16.max) else {
            findings.add(.tableRecord, name, "more tables than a file can have")
            return Counts(isWhole: false)
        }
        owners.append(name)
        var tree = Tree(
            name: name, owner: UInt16(owners.count - 1), ordersBytes: ordersBytes && record.flags == 0,
            hasDuplicates: record.hasDuplicates,
            depth: record.depth)
        guard let root = record.root else {
            if record.depth != 0 { findings.add(.tableRecord, name, "it has no root, and a depth of \(record.depth)") }
            return tree.counts
        }
        try visit(root, level: 1, above: nil, below: nil, &tree, entry)
        return tree.counts
    }

    /// The state of the scan of one tree.
    private struct Tree {
        let name: String
        let owner: UInt16
        let ordersBytes: Bool
        let hasDuplicates: Bool
        let depth: Int
        var counts = Counts()
        var lastKey: [UInt8]?
    }

    /// A depth that no tree exceeds if each of its branches has two nodes.
    private static let deepest = 64

    /// Scans the subtree of a page.
    ///
    /// - Parameters:
    ///   - above: The key of the node that refers to the page: no key of the page is less.
    ///   - below: The key of the next node: all keys of the page are less.
    private mutating func visit(
        _ number: UInt64, level: Int, above: [UInt8]?, below: [UInt8]?, _ tree: inout Tree, _ entry: Entry
    ) rethrows {
        guard let page = open(number, &tree) else { return }
        try page.withView { try visit($0, number, level: level, above: above, below: below, &tree, entry) }
    }

    private mutating func visit(
        _ page: PageView, _ number: UInt64, level: Int, above: [UInt8]?, below: [UInt8]?, _ tree: inout Tree,
        _ entry: Entry
    ) rethrows {
        let isLeaf = page.kind != .branch
        visited?(page, number)
        // A tree deeper than its record declares is scanned anyway, up to a bound.
        if level > TreeScan.deepest || (isLeaf && level != tree.depth) || (!isLeaf && level >= tree.depth) {
            findings.add(
                .pageDepth, "page \(number) of \(tree.name)",
                "a \(isLeaf ? "leaf" : "branch") at level \(level) of a tree that is \(tree.depth) deep")
            tree.counts.isWhole = false
            if level > TreeScan.deepest { return }
        }
        if page.kind == .values {
            tree.counts.leafPages += 1
            tree.counts.entries += UInt64(page.count)
            for value in page.fixedValues ?? [] { try entry(value, .empty, 0) }
        } else if isLeaf {
            tree.counts.leafPages += 1
            try leaf(page, number, above, below, &tree, entry)
        } else {
            tree.counts.branchPages += 1
            try branch(page, number, level, above, below, &tree, entry)
        }
    }

    private mutating func branch(
        _ page: PageView, _ number: UInt64, _ level: Int, _ above: [UInt8]?, _ below: [UInt8]?, _ tree: inout Tree,
        _ entry: Entry
    ) rethrows {
        var nodes: [(key: Bytes, child: UInt64)] = []
        nodes.reserveCapacity(page.count)
        for index in 0..<page.count {
            guard let key = page.key(index), let child = page.child(index) else {
                // `open` has reported it.
                tree.counts.isWhole = false
                continue
            }
            nodes.append((key, child))
        }
        let passed = level + 1 == tree.depth ? self.passed?(number) ?? [] : []
        for index in nodes.indices {
            // The first key of a branch is ignored: it may even be empty.
            if index < passed.count, let entries = passed[index],
                tree.lastKey == nil || isBehindLastKey(index == 0 ? above : Array(nodes[index].key), tree),
                pass(nodes[index].child, entries, &tree)
            {
                continue
            }
            let lower = index == 0 ? above : Array(nodes[index].key)
            let upper = index + 1 < nodes.count ? Array(nodes[index + 1].key) : below
            if tree.ordersBytes, let lower, let upper, !lower.withUnsafeBytes({ precedes($0, upper) }) {
                findings.add(
                    .pageKeyOrder, "page \(number) of \(tree.name)", "node \(index) is not less than the one behind it")
            }
            try visit(nodes[index].child, level: level + 1, above: lower, below: upper, &tree, entry)
        }
    }

    /// Returns whether keys from a bound on stand behind the last key: not if a leaf before has
    /// keys that do not belong there.
    private func isBehindLastKey(_ lower: [UInt8]?, _ tree: Tree) -> Bool {
        guard let last = tree.lastKey else { return true }
        return lower.map { lower in last.withUnsafeBytes { precedes($0, lower) } } ?? false
    }

    /// Counts a leaf that needs no look.
    ///
    /// - Returns: False if the scan must enter it, to report that its number is wrong.
    private mutating func pass(_ leaf: UInt64, _ entries: Int32, _ tree: inout Tree) -> Bool {
        guard file.isCancelled?() != true, leaf >= PageLayout.metaPages, leaf <= lastPage,
            pages.claim(leaf, for: tree.owner) == nil
        else { return false }
        tree.counts.leafPages += 1
        tree.counts.entries += UInt64(entries)
        // The keys of the leaf were compared with the nodes beside it.
        tree.lastKey = nil
        file.countRead()
        progress?()
        return true
    }

    private mutating func leaf(
        _ page: PageView, _ number: UInt64, _ above: [UInt8]?, _ below: [UInt8]?, _ tree: inout Tree, _ entry: Entry
    ) rethrows {
        // The bytes of the last key, in the tree or in this page.
        var last = tree.lastKey.map { (key: [UInt8]) in LastKey.copied(key) } ?? .none
        defer { if case .inPage(let key) = last { tree.lastKey = Array(key) } }
        for index in 0..<page.count {
            guard let node = page.leafNode(index) else {
                tree.counts.isWhole = false
                if let key = page.key(index), !key.isEmpty { lostValue?(key, tree.name) }
                continue
            }
            let key = node.key
            if tree.ordersBytes {
                let isInOrder =
                    last.precedes(key) && (above.map { $0.withUnsafeBytes { Bytes.compare(key, $0) >= 0 } } ?? true)
                    && (below.map { precedes(key, $0) } ?? true)
                if !isInOrder {
                    findings.add(
                        .pageKeyOrder, "page \(number) of \(tree.name)",
                        "the key of node \(index) does not stand where it belongs")
                    tree.counts.isWhole = false
                }
                last = .inPage(key)
            }
            if tree.hasDuplicates, node.hasDuplicates {
                try values(of: node, number, &tree, entry)
                continue
            }
            tree.counts.entries += 1
            guard let first = node.overflowPage else {
                try entry(key, node.stored, node.flags)
                continue
            }
            guard let value = overflowing(first, count: node.valueSize, &tree) else {
                tree.counts.isWhole = false
                lostValue?(key, tree.name)
                continue
            }
            try value.withUnsafeBytes {
                try entry(
                    key, $0.slice(PageLayout.headerSize..<PageLayout.headerSize + node.valueSize), node.flags)
            }
        }
    }

    /// Scans the values of a key that has several: in a page inside the node, or in a tree.
    private mutating func values(
        of node: LeafNode, _ number: UInt64, _ tree: inout Tree, _ entry: Entry
    ) rethrows {
        let place = "page \(number) of \(tree.name)", key = node.key
        guard node.hasTree else {
            guard let values = PageView.values(inNode: node.stored) else {
                findings.add(.pageForm, place, "the values of a key do not fit together")
                tree.counts.isWhole = false
                return
            }
            tree.counts.entries += UInt64(values.count)
            for value in values { try entry(key, value, 0) }
            return
        }
        guard let record = TableRecord(node.stored) else {
            findings.add(.pageForm, place, "the values of a key have no tree")
            tree.counts.isWhole = false
            return
        }
        var inner = Tree(
            name: tree.name, owner: tree.owner, ordersBytes: false, hasDuplicates: false, depth: record.depth)
        if let root = record.root {
            try visit(root, level: 1, above: nil, below: nil, &inner) { value, _, _ in try entry(key, value, 0) }
        }
        tree.counts.entries += inner.counts.entries
        let counted = (inner.counts.branchPages, inner.counts.leafPages, inner.counts.entries)
        if !inner.counts.isWhole {
            tree.counts.isWhole = false
        } else if counted != (record.branchPages, record.leafPages, record.entries) {
            findings.add(
                .tableCounts, place,
                "the tree of a key should have \(record.entries) values, and has \(inner.counts.entries)")
        }
    }

    /// The key before the current one. A copy is needed only from page to page.
    private enum LastKey {
        case none
        case copied([UInt8])
        case inPage(Bytes)

        func precedes(_ key: Bytes) -> Bool {
            switch self {
            case .none: true
            case .copied(let last): last.withUnsafeBytes { Bytes.compare($0, key) < 0 }
            case .inPage(let last): Bytes.compare(last, key) < 0
            }
        }
    }

    private func precedes(_ a: Bytes, _ b: [UInt8]) -> Bool { b.withUnsafeBytes { Bytes.compare(a, $0) < 0 } }

    /// Opens a page of a tree for the first time; nil after a finding.
    private mutating func open(_ number: UInt64, _ tree: inout Tree) -> PageBytes? {
        guard file.isCancelled?() != true, let page = claimed(number, &tree) else {
            tree.counts.isWhole = false
            return nil
        }
        let kind = page.withView(\.kind)
        guard kind == .leaf || kind == .branch || kind == .values else {
            findings.add(.pageKind, place(number, tree), "it is neither a leaf nor a branch, and a tree leads to it")
            // It has no owner: salvage looks for rows on such pages.
            pages[number] = 0
            tree.counts.isWhole = false
            return nil
        }
        if let problem = page.withView(\.problem) {
            findings.add(.pageForm, place(number, tree), problem)
            tree.counts.isWhole = false
        }
        progress?()
        return page
    }

    private func place(_ number: UInt64, _ tree: Tree) -> String { "page \(number) of \(tree.name)" }

    /// Returns a page if its number is right and no other tree contains it.
    private mutating func claimed(_ number: UInt64, _ tree: inout Tree) -> PageBytes? {
        guard isInBounds(number, tree.name) else { return nil }
        if let holder = pages.claim(number, for: tree.owner) {
            findings.add(.pageReachedTwice, place(number, tree), "it is reached twice; first by \(owners[Int(holder)])")
            return nil
        }
        guard let page = file.page(number) else {
            findings.add(.pageMissing, place(number, tree), "the file ends before it, or it cannot be read")
            return nil
        }
        let declared = page.withView(\.number)
        guard declared == number else {
            findings.add(.pageNumber, place(number, tree), "it says that it is page \(declared)")
            pages[number] = 0
            return nil
        }
        return page
    }

    private func isInBounds(_ number: UInt64, _ name: String) -> Bool {
        guard number < PageLayout.metaPages || number > lastPage else { return true }
        findings.add(.pageOutOfBounds, "page \(number) of \(name)", "pages of tables are 2 to \(lastPage)")
        return false
    }

    /// Returns the bytes of a value in overflow pages, including the header before it.
    private mutating func overflowing(_ first: UInt64, count: Int, _ tree: inout Tree) -> [UInt8]? {
        guard let page = claimed(first, &tree) else { return nil }
        let needed = PageLayout.overflowPages(for: count, pageSize: file.pageSize)
        let declared = page.withView { $0.isOverflow ? $0.overflowPages : nil }
        guard let pages = declared else {
            findings.add(.pageKind, place(first, tree), "a value should stand there")
            return nil
        }
        // A shorter value may keep the pages of a longer one (mdb.c, `mdb_cursor_put`). All were
        // written.
        let end = first + UInt64(pages)
        guard Int(pages) >= needed, end - 1 <= lastPage, end <= file.pageCount else {
            findings.add(
                .pageForm, place(first, tree),
                "\(pages) pages for a value of \(count) bytes, in a file of \(file.pageCount)")
            return nil
        }
        tree.counts.overflowPages += UInt64(pages)
        // The following pages have no headers.
        for number in (first + 1)..<end {
            if let holder = self.pages.claim(number, for: tree.owner) {
                findings.add(
                    .pageReachedTwice, "page \(number) of \(tree.name)",
                    "it is reached twice; first by \(owners[Int(holder)])")
                return nil
            }
        }
        guard let bytes = file.bytes(at: first * UInt64(file.pageSize), count: PageLayout.headerSize + count) else {
            findings.add(
                .pageMissing, place(first, tree),
                "the file ends before the value that begins there, or it cannot be read")
            return nil
        }
        progress?()
        overflowed?(first, UInt64(pages), count)
        return bytes
    }
}
