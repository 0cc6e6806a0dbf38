// Look-ups of single keys. Every fault on the way to a key becomes a finding, as those of scans do.

import LMDBPages
import TarnStore

extension StoreFile {
    /// The result of a look-up.
    enum LookUp {
        case found([UInt8])
        case absent
        /// A page on the way to the key, its value or the value's checksum is damaged. The finding
        /// is recorded.
        case unreadable

        /// The value; nil if the key is absent or unreadable.
        var value: [UInt8]? { if case .found(let value) = self { value } else { nil } }
    }

    /// Returns the value of a key; nil if it is absent, or unreadable after a finding.
    func value(_ key: Bytes, in table: String) -> [UInt8]? { lookUp(key, in: table).value }

    /// Looks up a key of a table. The value has no checksum behind it.
    ///
    /// - Parameter readsValue: Whether the value is read; otherwise that of a found key is empty.
    func lookUp(_ key: Bytes, in table: String, readsValue: Bool = true) -> LookUp {
        switch record(of: table) {
        case .missing: return .absent
        case .unreadable: return .unreadable
        case .found(let record): return lookUp(key, table, record, readsValue: readsValue)
        }
    }

    /// The result of a look-up of a table.
    enum TableLookUp {
        case found(TableRecord)
        /// The table does not exist, and a store may lack it.
        case missing
        /// The finding is recorded.
        case unreadable
    }

    /// Returns the record of a table. A missing table that the format requires is a finding.
    func record(of table: String) -> TableLookUp {
        guard let record = snapshot.tables[table] else {
            // An older store gets the tables of the exceptions when it is opened for writing.
            guard isStore, ![TableName.edges, TableName.scans, TableName.local].contains(table) else { return .missing }
            let entity = catalog.entities.first { TableName.records($0.id) == table }
            note(.tableMissing, table, entity.map { "the table of \($0.name) is missing" } ?? "missing table")
            return .unreadable
        }
        guard record.flags == 0 else {
            note(.tableRecord, table, "it has the options \(record.flags), as no table of Tarn")
            return .unreadable
        }
        return .found(record)
    }

    private func lookUp(_ key: Bytes, _ table: String, _ record: TableRecord, readsValue: Bool) -> LookUp {
        guard var number = record.root else {
            guard record.depth != 0 || record.leafPages != 0 || record.entries != 0 else { return .absent }
            note(
                .tableRecord, table,
                "it has no root, a depth of \(record.depth), \(record.leafPages) leaves and \(record.entries) entries")
            return .unreadable
        }
        var bounds = KeyInterval(), isCertain = true
        for level in 1...StoreFile.deepest {
            guard let (page, isSound) = checkedPage(number, of: table, within: bounds) else { return .unreadable }
            // In a damaged page, a key that is not found may exist.
            isCertain = isCertain && isSound
            if level == 1, isSound, let problem = page.withView({ rootProblem($0, of: table, record) }) {
                note(.tableCounts, table, problem)
                isCertain = false
            }
            guard page.withView({ $0.kind == .branch }) else {
                if level != record.depth {
                    // The tree may have another root, from which the key is found.
                    note(.pageDepth, "page \(number) of \(table)", StoreFile.depthProblem(level, record))
                    isCertain = false
                }
                return page.withView { value(key, in: $0, number, table, readsValue: readsValue) }
                    ?? (isCertain ? .absent : .unreadable)
            }
            let next = page.withView { page -> (UInt64, KeyInterval)? in
                guard let index = page.childIndex(for: key), let child = page.child(index) else { return nil }
                let lower = index == 0 ? bounds.lower : page.key(index).map { Array($0) }
                let upper = index + 1 < page.count ? page.key(index + 1).map { Array($0) } : bounds.upper
                return (child, KeyInterval(from: lower, below: upper))
            }
            guard let next else { return .unreadable }
            (number, bounds) = next
        }
        note(.pageDepth, "page \(number) of \(table)", "the tree is too deep")
        return .unreadable
    }

    /// A depth that no tree exceeds if each of its branches has two nodes.
    private static let deepest = 64

    /// The problem of a leaf that is not at the depth of its tree.
    static func depthProblem(_ level: Int, _ record: TableRecord) -> String {
        "a leaf at level \(level) of a tree that is \(record.depth) deep"
    }

    /// Returns the contradiction between a sound root page and the record of its table.
    ///
    /// Nil if there is none, or if the tree has more levels, or leaves, than are compared.
    ///
    /// A damaged number in the record may lead to the root of another table, or to an old one. Each
    /// table is compared once.
    func rootProblem(_ page: PageView, of table: String, _ record: TableRecord) -> String? {
        if let known = rootProblems[table] { return known }
        let count = UInt64(page.count)
        func problem(_ found: UInt64, _ expected: UInt64, _ what: String) -> String? {
            found == expected ? nil : "its root should lead to \(expected) \(what), and leads to \(found)"
        }
        let found: String? =
            switch (page.kind, record.depth) {
            case (.leaf, 1): problem(count, record.entries, "entries")
            case (.branch, 2):
                problem(count, record.leafPages, "leaves")
                    ?? entries(below: page).flatMap { problem($0, record.entries, "entries") }
            case (.branch, 3): problem(count, record.branchPages &- 1, "branches")
            default: nil
            }
        rootProblems[table] = .some(found)
        return found
    }

    /// The most leaves whose entries are counted to compare them with the record of the table.
    private static let countedLeaves = 8

    /// Returns the number of entries in the leaves of a branch; nil if one of them is damaged, or
    /// if there are too many for a look-up.
    private func entries(below branch: PageView) -> UInt64? {
        guard branch.count <= StoreFile.countedLeaves else { return nil }
        var count: UInt64 = 0
        for index in 0..<branch.count {
            guard let number = branch.child(index), let leaf = snapshot.file.page(number),
                leaf.withView({ $0.kind == .leaf && $0.number == number && $0.problem == nil })
            else { return nil }
            count += UInt64(leaf.withView(\.count))
        }
        return count
    }

    /// Returns the value of a key in a leaf; nil if the leaf does not have the key.
    private func value(
        _ key: Bytes, in page: PageView, _ number: UInt64, _ table: String, readsValue: Bool
    ) -> LookUp? {
        guard let index = page.leafIndex(for: key), let node = page.leafNode(index) else { return nil }
        let place = "page \(number) of \(table)"
        guard node.flags & (PageLayout.tree | PageLayout.duplicates) == 0 else {
            note(.pageForm, place, "node \(index) has the flags \(node.flags)")
            return .unreadable
        }
        guard readsValue else { return .found([]) }
        guard var value = snapshot.value(of: node) else {
            note(.pageMissing, place, "the value of node \(index) cannot be read")
            return .unreadable
        }
        guard let count = value.withUnsafeBytes({ content($0, table, key)?.count }) else {
            note(StoreFile.damageCode(table), "\(table) \(describe(key))", "the checksum is wrong")
            return .unreadable
        }
        value.removeLast(value.count - count)
        return .found(value)
    }

    /// Returns a page of a tree, and whether it is sound; nil after a finding if it is none.
    ///
    /// The content of a page is checked once, at its first look-up.
    ///
    /// - Parameter bounds: The keys that the branch above permits in the page.
    private func checkedPage(
        _ number: UInt64, of table: String, within bounds: KeyInterval
    ) -> (page: PageBytes, isSound: Bool)? {
        func fault(_ code: Finding.Code, _ detail: String) { note(code, "page \(number) of \(table)", detail) }
        guard number >= PageLayout.metaPages, number <= snapshot.meta.lastPage else {
            fault(.pageOutOfBounds, "pages of tables are 2 to \(snapshot.meta.lastPage)")
            return nil
        }
        guard snapshot.file.isCancelled?() != true else { return nil }
        guard let page = snapshot.file.page(number) else {
            fault(.pageMissing, "the file ends before it, or it cannot be read")
            return nil
        }
        let (kind, declared) = page.withView { ($0.kind, $0.number) }
        guard declared == number else {
            fault(.pageNumber, "it says that it is page \(declared)")
            return nil
        }
        guard kind == .leaf || kind == .branch else {
            fault(.pageKind, "it is neither a leaf nor a branch, and a tree leads to it")
            return nil
        }
        switch lookedUp[number] {
        case StoreFile.sound: return (page, true)
        case StoreFile.unsound: return (page, false)
        default: break
        }
        let problem = page.withView(\.problem), misplaced = page.withView { $0.misplacedNode(within: bounds) }
        if let problem { fault(.pageForm, problem) }
        if let misplaced { fault(.pageKeyOrder, "the key of node \(misplaced) does not stand where it belongs") }
        let isSound = problem == nil && misplaced == nil
        lookedUp[number] = isSound ? StoreFile.sound : StoreFile.unsound
        return (page, isSound)
    }

    private static let sound: UInt16 = 1, unsound: UInt16 = 2

    /// Records a finding of a look-up, once.
    func note(_ code: Finding.Code, _ place: @autoclosure () -> String, _ detail: @autoclosure () -> String) {
        if notesLookUps { findings.addOnce(code, place(), detail()) }
    }
}
