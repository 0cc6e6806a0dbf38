// A cursor over a table of a file of unknown health. Unlike a scan it is advanced by its caller, so
// that two tables can be merged, and it begins at any key.

import LMDBPages
import TarnStore

/// The entries of a table in key order, or in reverse.
///
/// It always terminates: each page is entered once. Of two neighbours that are out of order, the
/// damaged one is skipped (`TableCursor+Order.swift`). Every fault becomes a finding of the file.
final class TableCursor {
    /// A page on the path to the current entry.
    struct Level {
        let page: PageBytes
        let number: UInt64
        let count: Int
        let isLeaf: Bool
        var index: Int
    }

    let file: StoreFile
    let table: String
    private let interval: KeyInterval
    let isReversed: Bool
    private let isChecksummed: Bool
    private(set) var levels: [Level] = []
    private var entered = PageMap()
    /// The keys of the last two entries that were not skipped.
    private(set) var lastKey: [UInt8]?, keyBeforeLast: [UInt8]?
    /// The last entry that was not skipped.
    private(set) var lastEntry: Level?
    private var hasBegun = false
    /// The table's record, once the cursor has begun.
    private var record: TableRecord?
    /// The number of entries in the interval so far.
    private var entries: UInt64 = 0
    private var isSeeking = true
    /// Whether every page and entry so far was readable; false also if the table does not exist.
    private(set) var isWhole = true

    /// A depth that no tree exceeds if each of its branches has two nodes.
    static let deepest = 64

    /// Creates a cursor before the first entry of an interval, or behind the last one.
    init(_ file: StoreFile, _ table: String, in interval: KeyInterval = KeyInterval(), reversed: Bool = false) {
        self.file = file
        self.table = table
        self.interval = interval
        isReversed = reversed
        isChecksummed = StoreFile.isChecksummed(table)
    }

    var step: Int { isReversed ? -1 : 1 }

    /// Moves to the next entry.
    ///
    /// - Returns: Whether there is one.
    func next() -> Bool {
        if hasBegun { skip() } else { begin() }
        while let top = levels.last {
            guard top.index >= 0, top.index < top.count else {
                levels.removeLast()
                skip()
                continue
            }
            guard top.isLeaf else {
                guard let child = top.page.withView({ $0.child(top.index) }) else {
                    fault(.pageForm, top.number, "node \(top.index) does not lie in it")
                    skip()
                    continue
                }
                if !enter(child) { skip() }
                continue
            }
            switch place(of: top) {
            case .inside:
                entries += 1
                return true
            case .beyond:
                levels = []
                return false
            case .skipped: skip()
            }
        }
        checkCount()
        return false
    }

    /// Compares the entries of a whole table with its record: damage may hide some of them.
    private func checkCount() {
        guard isWhole, interval.lower == nil, interval.upper == nil, let record,
            entries != record.entries || (entries == 0 && record.leafPages != 0)
        else { return }
        isWhole = false
        file.note(
            .tableCounts, table,
            "it should have \(record.leafPages) leaves and \(record.entries) entries, and has \(entries) entries")
    }

    private func skip() {
        if !levels.isEmpty { levels[levels.count - 1].index += step }
    }

    private func begin() {
        hasBegun = true
        guard case .found(let record) = file.record(of: table) else {
            isWhole = false
            return
        }
        self.record = record
        if let root = record.root { _ = enter(root) }
    }

    // MARK: - The current entry

    /// Calls the closure with the key and the content of the current entry.
    ///
    /// - Returns: The closure's result; nil after a finding if the value is unreadable.
    func withEntry<Result>(_ body: (_ key: Bytes, _ value: Bytes) throws -> Result) rethrows -> Result? {
        guard let top = levels.last else { return nil }
        return try top.page.withView { page in
            guard top.index < page.count, let node = page.leafNode(top.index) else { return nil }
            if node.overflowPage == nil { return try content(node.stored, node.key).map { try body(node.key, $0) } }
            guard let value = file.snapshot.value(of: node) else {
                fault(.pageMissing, top.number, "the value of node \(top.index) cannot be read")
                return nil
            }
            return try value.withUnsafeBytes { value in
                try content(value, node.key).map { try body(node.key, $0) }
            }
        }
    }

    /// Calls the closure with the key of the current entry.
    func withKey<Result>(_ body: (Bytes) throws -> Result) rethrows -> Result? {
        guard let top = levels.last else { return nil }
        return try top.page.withView { page in
            guard top.index < page.count, let key = page.key(top.index) else { return nil }
            return try body(key)
        }
    }

    private func content(_ stored: Bytes, _ key: Bytes) -> Bytes? {
        guard isChecksummed else { return stored }
        if let content = file.content(stored, table, key) { return content }
        file.note(StoreFile.damageCode(table), "\(table) \(file.describe(key))", "the checksum is wrong")
        isWhole = false
        return nil
    }

    private enum Place { case inside, beyond, skipped }

    /// Compares an entry with the interval, and with its neighbours.
    private func place(of leaf: Level) -> Place {
        leaf.page.withView { page in
            guard let node = page.leafNode(leaf.index), !node.key.isEmpty else {
                fault(.pageForm, leaf.number, "node \(leaf.index) does not lie in it")
                return .skipped
            }
            guard node.flags & (PageLayout.tree | PageLayout.duplicates) == 0 else {
                fault(.pageForm, leaf.number, "node \(leaf.index) has the flags \(node.flags)")
                return .skipped
            }
            func isMisplaced() -> Place {
                fault(.pageKeyOrder, leaf.number, "the key of node \(leaf.index) does not stand where it belongs")
                return .skipped
            }
            let isAbove = interval.upper.map { $0.withUnsafeBytes { Bytes.compare(node.key, $0) >= 0 } } ?? false
            let isBelow = interval.lower.map { $0.withUnsafeBytes { Bytes.compare(node.key, $0) < 0 } } ?? false
            let isOutside = isAbove || isBelow
            guard isCredible(node.key, leaf, isOutside: isOutside) else { return isMisplaced() }
            swap(&keyBeforeLast, &lastKey)
            lastKey = lastKey ?? []
            lastKey?.removeAll(keepingCapacity: true)
            lastKey?.append(contentsOf: node.key)
            lastEntry = leaf
            if isOutside { return isAbove != isReversed ? .beyond : .skipped }
            return .inside
        }
    }

    // MARK: - Pages

    /// Enters a page.
    ///
    /// - Returns: False after a finding.
    private func enter(_ number: UInt64) -> Bool {
        guard file.snapshot.file.isCancelled?() != true else {
            isWhole = false
            return false
        }
        guard number >= PageLayout.metaPages, number <= file.snapshot.meta.lastPage else {
            return fault(.pageOutOfBounds, number, "pages of tables are 2 to \(file.snapshot.meta.lastPage)")
        }
        guard entered.claim(number, for: 1) == nil else {
            return fault(.pageReachedTwice, number, "it is reached twice")
        }
        guard levels.count < TableCursor.deepest else { return fault(.pageDepth, number, "the tree is too deep") }
        guard let page = file.snapshot.file.page(number) else {
            return fault(.pageMissing, number, "the file ends before it, or it cannot be read")
        }
        let (kind, declared, count) = page.withView { ($0.kind, $0.number, $0.count) }
        guard declared == number else { return fault(.pageNumber, number, "it says that it is page \(declared)") }
        guard kind == .leaf || kind == .branch else {
            return fault(.pageKind, number, "it is neither a leaf nor a branch, and a tree leads to it")
        }
        if let problem = page.withView(\.problem) {
            fault(.pageForm, number, problem)
        } else if levels.isEmpty, let record, let problem = page.withView({ file.rootProblem($0, of: table, record) }) {
            isWhole = false
            file.note(.tableCounts, table, problem)
        }
        let isLeaf = kind == .leaf
        if isLeaf, let record, levels.count + 1 != record.depth {
            fault(.pageDepth, number, StoreFile.depthProblem(levels.count + 1, record))
        }
        var index = isReversed ? count - 1 : 0
        if isSeeking { index = page.withView { start(in: $0, number, isLeaf: isLeaf) } ?? index }
        levels.append(Level(page: page, number: number, count: count, isLeaf: isLeaf, index: index))
        guard isLeaf, isSeeking else { return true }
        isSeeking = false
        if let bound = isReversed ? interval.upper : interval.lower, let root = levels.first?.number,
            hasPassed(bound, index)
        {
            fault(.pageKeyOrder, root, "a branch leads to another page than that of the key")
            // From the first entry of the table on: each is compared with the interval.
            (levels, entered) = ([], PageMap())
            return enter(root)
        }
        return true
    }

    /// Returns the node of a page at which the interval begins; nil if that end is open, or if a
    /// damaged key could mislead the search.
    private func start(in page: PageView, _ number: UInt64, isLeaf: Bool) -> Int? {
        guard let bound = isReversed ? interval.upper : interval.lower else { return nil }
        var bounds = KeyInterval()
        if let above = levels.last, above.index >= 0, above.index < above.count {
            let isFirst = above.index == 0, isLast = above.index + 1 == above.count
            bounds.lower = isFirst ? nil : above.page.withView { $0.key(above.index).map { Array($0) } }
            bounds.upper = isLast ? nil : above.page.withView { $0.key(above.index + 1).map { Array($0) } }
        }
        if let misplaced = page.misplacedNode(within: bounds) {
            fault(.pageKeyOrder, number, "the key of node \(misplaced) does not stand where it belongs")
            return nil
        }
        return bound.withUnsafeBytes { bound in
            // The first key of a branch counts as less than every key (mdb.c, `mdb_node_search`).
            var low = isLeaf ? 0 : 1, high = page.count
            while low < high {
                let middle = (low + high) / 2
                guard let key = page.key(middle) else { return isReversed ? page.count - 1 : 0 }
                let order = Bytes.compare(key, bound)
                if order < 0 || (order == 0 && !isLeaf && !isReversed) { low = middle + 1 } else { high = middle }
            }
            return isLeaf && !isReversed ? low : low - 1
        }
    }

    @discardableResult
    func fault(_ code: Finding.Code, _ number: UInt64, _ detail: @autoclosure () -> String) -> Bool {
        isWhole = false
        file.note(code, "page \(number) of \(table)", detail())
        return false
    }
}
