// The salvage of a file of another program: its tables, and entries of lost pages.

import Glibc
import LMDB
import LMDBPages
import TarnStore

/// A salvage of the tables of a file of another program into a new environment. For one run.
///
/// Nothing in such a file has a checksum: an entry is readable if its page is one of LMDB.
final class ForeignSalvage {
    let file: StoreFile
    private let target: NewDirectory
    var report = SalvageReport()
    /// The number of copied entries by table; that of the table without a name is under `(main)`.
    private var copied = TableValues<Int>()
    /// The table that was begun in the new file; nil inside for the one without a name.
    private var begun: String??
    /// The tables in the new file by their names there, which differ.
    private var tablesByNewName: [[UInt8]: String] = [:]
    /// The first overflow pages of values that were copied from lost pages.
    private var copiedValues = PageMap()
    /// The last key, and whether its value was empty.
    private var lastKey: [UInt8] = [], lastIsEmpty = false
    /// The sizes of the first key and of the first value of each table of integers or fixed values.
    private var sizes = TableValues<(key: Int, value: Int)>()

    /// Searches for the tables; nil if those that are found are a store's.
    init?(_ file: StoreFile, to path: String) {
        self.file = file
        target = NewDirectory(path)
        let isLost = file.snapshot.isFound || !file.mainCounts.isWhole
        if isLost, !TableSearch(file).run() { return nil }
        let names = file.snapshot.names + file.snapshot.ownKeys
        guard names.isEmpty ? isLost : StoreFile.areForeign(names) else { return nil }
        var name = "lost+found"
        while file.snapshot.tables[name] != nil { name += "+" }
        report.lostAndFound = name
    }

    func run() throws -> SalvageReport {
        try target.make()
        do {
            try write()
        } catch {
            target.remove()
            throw error
        }
        return report
    }

    private func write() throws {
        let snapshot = file.snapshot, path = target.unfinished + "/data.mdb"
        let bytes = snapshot.file.pagesWithData.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) }
        // Entries in random order fill pages by half, and a commit changes many of them.
        let (size, isTooLarge) = Int(clamping: bytes).multipliedReportingOverflow(by: 8 * snapshot.meta.pageSize)
        guard !isTooLarge, size < 1 << 46,
            var new = try storeErrors({ () throws(LMDBError) -> PackedFile? in
                try PackedFile(
                    path: path, source: snapshot.file.path, tables: snapshot.names.count + 1, mapSize: size + 64 << 20)
            })
        else { throw StoreError.lmdb(LMDBError(code: ENOMEM, operation: "make", path: path)) }
        report.hasFoundTrees = snapshot.isFound
        try copyTables(&new)
        if mayHaveLostPages { try takeLostPages(&new) }
        try storeErrors { () throws(LMDBError) -> Void in try new.commit() }
        reportFindings()
        if snapshot.ownEntries > 0 || copied[StoreInspector.mainTable] != nil { count(nil) }
        for table in snapshot.names { count(table) }
        if let name = report.lostAndFound, let count = copied[name] { report.records.append((name, count)) }
        try file.checkIsUnchanged()
        report.aloneBecause = file.aloneBecause
        try flush(path)
        try target.finish()
    }

    private func flush(_ path: String) throws {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError.lmdb(LMDBError(code: errno, operation: "flush", path: path))
        }
    }

    /// Counts the entries of a table that were copied, and those that its record declares besides.
    private func count(_ table: String?) {
        let name = table ?? StoreInspector.mainTable, count = copied[name] ?? 0
        report.records.append((name, count))
        guard let record = file.tableRecord(table) else { return }
        var declared = record.entries
        if table == nil {
            // Tables are entries, too. A record that was made without a meta page declares none.
            let tables = UInt64(file.snapshot.names.count)
            declared = declared > tables ? declared - tables : 0
        }
        // A number for which the file has no room is damaged.
        let isPossible = declared / UInt64(file.snapshot.meta.pageSize) <= file.snapshot.meta.lastPage
        guard isPossible, declared > count else { return }
        report.missing.append((name, Int(clamping: declared) - count, Int(clamping: declared)))
    }

    private func reportFindings() {
        for finding in file.findings.list where finding.code.isOfPages {
            report.lose(finding.place, finding.detail, isOfPages: true)
        }
        for code in file.findings.counts.keys.sorted() where code.isOfPages {
            let more = file.findings.countBeyondList(code)
            if more > 0 { report.lose(code.rawValue, "and \(more) more", isOfPages: true, count: more) }
        }
    }

    /// Runs a closure whose errors are those of liblmdb.
    private func storeErrors<Result: ~Copyable>(_ body: () throws(LMDBError) -> Result) throws(StoreError) -> Result {
        do throws(LMDBError) { return try body() } catch { throw .lmdb(error) }
    }

    // MARK: - Entries

    private func copyTables(_ new: inout PackedFile) throws {
        file.scan.lostValue = { [unowned self] key, name in
            // The table without a name has another one in a scan.
            let record = file.snapshot.tables[name], table = record == nil ? StoreInspector.mainTable : name
            let isInteger = (record ?? file.snapshot.meta.main).hasIntegerKeys
            report.lose("\(table) \(TableLines.text(key, isInteger: isInteger))", "its value is unreadable")
        }
        defer { file.scan.lostValue = nil }
        // Its options first: they are the order in which liblmdb finds tables.
        try begin(nil, &new)
        for table in try file.tables(named: nil) {
            // A table without entries is created as well.
            try begin(table, &new)
            try file.forEachTableEntry(of: table) { entry in
                try add(entry.keyBytes, entry.valueBytes, to: table, page: nil, &new)
            }
        }
    }

    /// The record of a table in the new file.
    private func record(_ table: String?) -> TableRecord {
        var record = file.tableRecord(table) ?? TableRecord()
        // Tables cannot be in a table with several values for a key, or with integers.
        if table == nil, !file.snapshot.names.isEmpty {
            record.flags &= ~(TableRecord.duplicates | TableRecord.integerKeys)
        }
        if !record.hasDuplicates { record.flags &= TableRecord.flagsOfKeys }
        return record
    }

    private func begin(_ table: String?, _ new: inout PackedFile) throws {
        if let begun, begun.map({ Array($0.utf8) }) == table.map({ Array($0.utf8) }) { return }
        let isFound = table == report.lostAndFound
        let flags = isFound ? 0 : record(table).flags & TableRecord.options
        guard let table else {
            try storeErrors { () throws(LMDBError) -> Void in try new.begin(nil, flags: flags) }
            return (begun, lastKey, lastIsEmpty) = (.some(nil), [], false)
        }
        let name = newName(of: table, isFound ? Array(table.utf8) : file.snapshot.bytes(ofName: table))
        do throws(LMDBError) {
            try new.begin(name, flags: flags)
        } catch {
            // An entry beside the tables has the name.
            try storeErrors { () throws(LMDBError) -> Void in
                try new.begin(name.prefix(490) + Array(" (table)".utf8), flags: flags)
            }
        }
        (begun, lastKey, lastIsEmpty) = (.some(table), [], false)
    }

    /// The most bytes of a key: `MDB_MAXKEYSIZE` of mdb.c.
    private static let longestName = 511

    /// Returns the name of a table in the new file, which no other table has there: that of a
    /// damaged record may be any bytes.
    private func newName(of table: String, _ bytes: [UInt8]) -> [UInt8] {
        let plain = bytes.prefix(ForeignSalvage.longestName).map { $0 == 0 ? UInt8(ascii: "_") : $0 }
        var name = plain.isEmpty ? Array("(no name)".utf8) : plain, number = 2
        while let holder = tablesByNewName[name], !holder.utf8.elementsEqual(table.utf8) {
            name = plain.prefix(490) + Array("_\(number)".utf8)
            number += 1
        }
        tablesByNewName[name] = table
        return name
    }

    /// Whether the new file can have tables: not beside several values for a key, or integers.
    private var canHaveTables: Bool {
        !file.snapshot.names.isEmpty || record(nil).flags & (TableRecord.duplicates | TableRecord.integerKeys) == 0
    }

    /// Adds an entry to its table in the new file, or to the one of entries without a table.
    ///
    /// - Parameter page: The lost page of the entry; nil if a tree leads to it.
    func add(_ key: Bytes, _ value: Bytes, to table: String?, page: UInt64?, _ new: inout PackedFile) throws {
        if table != report.lostAndFound, isPossible(key, value, table) {
            try begin(table, &new)
            let hasDuplicates = record(table).hasDuplicates
            // liblmdb loses an empty value beside others (mdb.c, `mdb_cursor_put`).
            let isSecond = hasDuplicates && lastKey.elementsEqual(key)
            if !(isSecond && (lastIsEmpty || value.isEmpty)),
                try storeErrors({ () throws(LMDBError) -> Bool in
                    try new.add(key, value, hasDuplicates: hasDuplicates)
                })
            {
                lastIsEmpty = value.isEmpty
                if hasDuplicates { lastKey = Array(key) }
                note(table ?? StoreInspector.mainTable, page)
                return
            }
            // The table has the key: the entry that a tree leads to is the newest one.
            if page != nil { return }
        }
        try addWithoutTable(key, value, table, page, &new)
    }

    private func addWithoutTable(
        _ key: Bytes, _ value: Bytes, _ table: String?, _ page: UInt64?, _ new: inout PackedFile
    ) throws {
        let name = report.lostAndFound, origin = page.map { "page \($0)" } ?? table ?? StoreInspector.mainTable
        let place = "\(origin) \(TableLines.text(key, isInteger: false))"
        guard canHaveTables else { return report.lose(place, "the table cannot have this entry") }
        try begin(name, &new)
        let marked = Array(key) + Array(" (\(origin))".utf8)
        func add(_ key: Bytes) throws -> Bool {
            try storeErrors { () throws(LMDBError) -> Bool in try new.add(key, value, hasDuplicates: false) }
        }
        let isAdded = try add(key) || marked.withUnsafeBytes(add)
        guard isAdded else { return report.lose(place, "no table can have this entry") }
        note(name ?? "", page)
        if page == nil { report.lose(place, "its table cannot have this entry: it is in \(name ?? "")") }
    }

    private func note(_ name: String, _ page: UInt64?) {
        copied[name] = (copied[name] ?? 0) + 1
        if page != nil { report.found += 1 }
    }

    /// Whether a table can have an entry. liblmdb does not check the sizes of integers, and of
    /// values of one size.
    private func isPossible(_ key: Bytes, _ value: Bytes, _ table: String?) -> Bool {
        let record = record(table), name = table ?? StoreInspector.mainTable
        guard record.hasIntegerKeys || record.hasFixedValues || record.hasIntegerValues else { return true }
        let size = sizes[name] ?? (key.count, value.count)
        if record.hasIntegerKeys, key.count != size.key || ![4, 8].contains(key.count) { return false }
        if record.hasIntegerValues, ![4, 8].contains(value.count) { return false }
        if record.hasFixedValues || record.hasIntegerValues, value.count != size.value || value.isEmpty { return false }
        sizes[name] = size
        return true
    }

    // MARK: - Lost pages

    private var mayHaveLostPages: Bool {
        file.snapshot.isFound || file.findings.counts.keys.contains { $0.isOfPages && $0 != .noMeta }
    }

    /// The only table that lost pages can be of; nil inside for the table without a name, nil if it
    /// is not known.
    private var onlyDamaged: String?? {
        // Without any named table, all pages are of the table without a name.
        if file.snapshot.names.isEmpty { return .some(nil) }
        let damaged = file.snapshot.names.filter { name in
            !(file.counts[name]?.isWhole ?? true) || (file.snapshot.tables[name]?.entries ?? 0) > copied[name] ?? 0
        }
        if !file.mainCounts.isWhole { return damaged.isEmpty ? .some(nil) : nil }
        return damaged.count == 1 ? .some(damaged[0]) : nil
    }

    private func takeLostPages(_ new: inout PackedFile) throws {
        let only = onlyDamaged
        var done = PageMap()
        // A page that leads to trees of values first: their pages are not lost then.
        for findsTrees in [true, false] {
            let pages = LostPages(file)
            report.mayBeOld = !pages.isCertain
            try pages.forEach { number in
                guard done[number] == 0, let page = file.snapshot.file.page(number),
                    ForeignSalvage.isLeaf(page, number), !findsTrees || page.withView(ForeignSalvage.leadsToTrees)
                else { return }
                done[number] = 1
                try page.withView { try take($0, number, only, isCertain: pages.isCertain, &new) }
            }
        }
        if report.found == 0 { report.mayBeOld = false }
    }

    private static func isLeaf(_ page: PageBytes, _ number: UInt64) -> Bool {
        page.withView { page in
            guard page.number == number, page.count > 0 else { return false }
            return page.kind == .leaf || page.kind == .values || page.kind == .other && page.problem == nil
        }
    }

    private static func leadsToTrees(_ page: PageView) -> Bool {
        page.kind != .values
            && (0..<page.count).contains { page.leafNode($0).map { $0.hasTree && $0.hasDuplicates } ?? false }
    }

    /// Copies the entries of a page that no tree leads to.
    private func take(
        _ page: PageView, _ number: UInt64, _ only: String??, isCertain: Bool, _ new: inout PackedFile
    ) throws {
        guard page.kind != .values else {
            return report.lose("page \(number)", "\(page.count) values of a key that no readable page has")
        }
        let nodes = (0..<page.count).map { page.leafNode($0) }
        let isOfTables = nodes.contains { $0.map { $0.hasTree && !$0.hasDuplicates } ?? false }
        // In a tree of values, each value is a key.
        let mayBeValues = nodes.allSatisfy { $0?.valueSize == 0 } && only.map { record($0).hasDuplicates } ?? true
        var table: String? = report.lostAndFound
        if isOfTables || file.snapshot.names.isEmpty && !mayBeValues {
            table = nil
        } else if let only, isCertain, !mayBeValues {
            table = only
        }
        for (index, node) in nodes.enumerated() {
            guard let node, !node.key.isEmpty else {
                report.lose("page \(number)", "node \(index) does not lie in it")
                continue
            }
            if node.hasDuplicates {
                try forEachValue(of: node, number) { try add(node.key, $0, to: table, page: number, &new) }
            } else if !node.hasTree {
                // Older versions of a leaf have the same long values.
                if let first = node.overflowPage, isCopied(first) { continue }
                guard let value = file.snapshot.value(of: node) else {
                    let key = TableLines.text(node.key, isInteger: false)
                    report.lose("page \(number) \(key)", "its value is unreadable")
                    continue
                }
                try value.withUnsafeBytes { try add(node.key, $0, to: table, page: number, &new) }
            }
        }
    }

    /// Returns whether a long value was copied, or is that of an entry in a tree; it is noted.
    private func isCopied(_ first: UInt64) -> Bool {
        guard first <= file.snapshot.meta.lastPage, file.snapshot.file.page(first) != nil else { return false }
        guard file.scan.pages[first] == 0, copiedValues[first] == 0 else { return true }
        copiedValues[first] = 1
        return false
    }

    /// Visits the values of a key that has several.
    private func forEachValue(of node: LeafNode, _ page: UInt64, _ body: (Bytes) throws -> Void) throws {
        guard node.hasTree else {
            guard let values = PageView.values(inNode: node.stored) else {
                return report.lose("page \(page)", "the values of a key do not fit together")
            }
            return try values.forEach(body)
        }
        guard let record = TableRecord(node.stored) else {
            return report.lose("page \(page)", "the values of a key have no tree")
        }
        _ = try file.scan(record, "a key of page \(page)", ordersBytes: false) { value, _, _ in try body(value) }
    }
}
