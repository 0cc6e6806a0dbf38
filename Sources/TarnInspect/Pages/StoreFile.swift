// A store's file without liblmdb: its settings, catalog and rows, as far as they are readable.

import Foundation
import LMDBPages
import TarnStore

/// The content of a file of unknown health. For one thread at a time.
final class StoreFile: RecordSource {
    let snapshot: FileSnapshot
    let findings: Findings
    /// The reason why no read transaction holds the state; nil if one does.
    let aloneBecause: String?
    /// The slots of the reader table; nil if the file is read without liblmdb.
    let readers: (used: Int, all: Int)?
    private(set) var scan: TreeScan
    /// The content of the table `meta`.
    private(set) var settings: [String: [UInt8]] = [:]
    /// The format version; nil if it is unreadable.
    private(set) var foundFormat: Int?
    /// The catalog; empty if it is unreadable.
    private(set) var catalog = Catalog()
    private(set) var hasCatalog = false
    /// Whether the catalog has a wrong checksum and is used for lack of a better one.
    private(set) var isCatalogDoubtful = false
    private(set) var rules: [UInt16: EntityRules] = [:]
    /// The marks of incomplete indexes.
    private(set) var marks: [UInt32: IndexMark] = [:]
    let decoder = RowDecoder()
    /// Whether the file is a store of Tarn, as far as it is readable; others may have any tables.
    private(set) var isStore = false
    /// The counts of each table that was scanned.
    private(set) var counts: [String: TreeScan.Counts] = [:]
    private let mainCounts: TreeScan.Counts

    private init(
        _ snapshot: FileSnapshot, _ findings: Findings, aloneBecause: String?, readers: (used: Int, all: Int)? = nil,
        progress: ((_ pages: Int, _ of: Int) -> Void)?
    ) {
        self.readers = readers
        self.snapshot = snapshot
        self.findings = findings
        self.aloneBecause = aloneBecause
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, findings)
        if let progress {
            let file = snapshot.file, all = Int(clamping: min(snapshot.meta.lastPage, file.pageCount))
            scan.progress = { progress(file.readCount, all) }
        }
        mainCounts = snapshot.findTables(&scan)
        self.scan = scan
        readSettings()
    }

    /// Opens the file at a path and runs the closure with it.
    ///
    /// If the file is sound enough for liblmdb, a read transaction holds its newest state, so that
    /// writers of other processes do not change what is read. Otherwise the file is read without a
    /// transaction.
    ///
    /// - Parameter path: The path of a store, or of its `data.mdb`.
    /// - Throws: The closure's error; `StoreOpenError` if nothing is readable;
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction held the state and commits may
    ///   have changed it before the closure returned.
    static func open<Result>(
        at path: String, progress: ((_ pages: Int, _ of: Int) -> Void)? = nil, _ body: (StoreFile) throws -> Result
    ) throws -> Result {
        let directory = path.hasSuffix("/data.mdb") ? String(path.dropLast("/data.mdb".count)) : path
        var reason = "its newest state could not be held, since others write all the time"
        for _ in 0..<100 {
            var isLent = false
            do {
                return try PinnedFile.withState(ofStoreAt: directory) { pinned in
                    let findings = Findings()
                    let file = PageFile(borrowing: pinned.descriptor, path: directory + "/data.mdb")
                    let snapshot = try FileSnapshot(file, transaction: pinned.transaction, findings)
                    isLent = true
                    let readers = pinned.environment.readerTable
                    return try body(
                        StoreFile(snapshot, findings, aloneBecause: nil, readers: readers, progress: progress))
                }
            } catch {
                if isLent { throw error }
                if error is FileSnapshot.Moved { continue }
                reason = (error as? any StoreFailure)?.description ?? "\(error)"
                break
            }
        }
        let file = try PageFile(opening: path), findings = Findings()
        let snapshot = try FileSnapshot(file, findings)
        let opened = StoreFile(snapshot, findings, aloneBecause: reason, progress: progress)
        let result: Result
        do {
            result = try body(opened)
        } catch {
            // The error may result from a mixture of commits.
            try opened.checkIsUnchanged()
            throw error
        }
        try opened.checkIsUnchanged()
        return result
    }

    /// Checks that the state is held or has not been changed by later commits.
    ///
    /// - Throws: `.changedMeanwhile`.
    func checkIsUnchanged() throws(StoreMaintenanceError) {
        guard let aloneBecause, snapshot.isOvertaken else { return }
        throw .changedMeanwhile(path: snapshot.file.path, detail: aloneBecause)
    }

    // MARK: - Tables

    /// Scans a table for the first time, in key order, and compares the counts with its record.
    ///
    /// If values have a checksum behind them, the closure gets their content, and damaged ones are
    /// findings.
    ///
    /// - Parameter asStored: Whether the closure gets values as they are stored, with any checksum.
    /// - Returns: Whether the whole table is readable; false also if it does not exist.
    @discardableResult
    func forEach(in table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows -> Bool {
        guard let record = snapshot.tables[table] else { return false }
        guard record.flags == 0 else {
            if isStore {
                findings.add(
                    .tableRecord, table, "it has the options \(record.flags), as no table of Tarn: it is left out")
            }
            return false
        }
        var isSound = true
        let isWhole = try scan(record, table, ordersBytes: true) { key, value, flags in
            guard flags & (PageLayout.tree | PageLayout.duplicates) == 0 else {
                return findings.add(.tableRecord, table, "an entry has the flags \(flags), as none of Tarn")
            }
            guard !asStored else { return try body(key, value) }
            guard let content = self.content(value, table, key) else {
                isSound = false
                return findings.add(StoreFile.damageCode(table), "\(table) \(describe(key))", "the checksum is wrong")
            }
            try body(key, content)
        }
        return isWhole && isSound
    }

    /// Scans a table of any kind, without a check of the key order, which may be custom.
    @discardableResult
    func forEachEntry(inAnyTable table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows
        -> Bool
    {
        guard !isStore, let record = snapshot.tables[table] else {
            return try forEach(in: table, asStored: asStored, body)
        }
        return try scan(record, table, ordersBytes: false) { key, value, _ in try body(key, value) }
    }

    /// Visits the entries of the table of tables that are no tables.
    func forEachOwnEntry(_ body: (Bytes, Bytes) throws -> Void) rethrows {
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, Findings(limit: 0))
        _ = try scan.scan(snapshot.meta.main, "the table of tables", ordersBytes: false) { key, value, flags in
            if flags & PageLayout.tree == 0 { try body(key, value) }
        }
    }

    private func scan(
        _ record: TableRecord, _ table: String, ordersBytes: Bool, _ body: (Bytes, Bytes, UInt16) throws -> Void
    ) rethrows -> Bool {
        // Moved out meanwhile, so that it is not copied with every page.
        var scan = scan
        self.scan = TreeScan(snapshot.file, lastPage: 0, findings)
        defer { self.scan = scan }
        let counts = try scan.scan(record, table, ordersBytes: ordersBytes, body)
        self.counts[table] = counts
        compare(counts, record, table)
        return counts.isWhole
    }

    /// Scans a table again, without a check of its pages, and without findings.
    func again(_ table: String, asStored: Bool = false, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let record = snapshot.tables[table], record.flags == 0 || !isStore else { return }
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, Findings(limit: 0))
        _ = try scan.scan(record, table) { key, value, _ in
            if asStored { return try body(key, value) }
            if let content = self.content(value, table, key) { try body(key, content) }
        }
    }

    /// Returns the finding code for a wrong checksum in a table.
    private static func damageCode(_ table: String) -> Finding.Code {
        switch table {
        case TableName.changes: .changeForm
        case TableName.edges: .list
        case TableName.scans: .scan
        case TableName.meta: .setting
        default: .responseForm
        }
    }

    private func compare(_ counts: TreeScan.Counts, _ record: TableRecord, _ table: String) {
        // The counts of an unreadable table are incomplete.
        guard counts.isWhole else { return }
        let counted = (counts.branchPages, counts.leafPages, counts.overflowPages, counts.entries)
        let said = (record.branchPages, record.leafPages, record.overflowPages, record.entries)
        guard counted != said else { return }
        findings.add(
            .tableCounts, table,
            "it should have \(said.0) branches, \(said.1) leaves, \(said.2) pages of long values and \(said.3) entries, and has \(counted.0), \(counted.1), \(counted.2) and \(counted.3)"
        )
    }

    /// Checks the counts of the table of tables, and the free list.
    ///
    /// - Returns: The number of free pages, and of pages that are neither free nor in a tree.
    func checkFreePages() -> (free: Int, lost: Int) {
        compare(mainCounts, snapshot.meta.main, "the table of tables")
        var scan = scan, free = PageMap(), count = 0, listed: [(UInt64, UInt64)] = []
        let list = snapshot.forEachFreePage(&scan) { listed.append(($0, $1)) }
        self.scan = scan
        compare(list, snapshot.meta.freeList, "the free list")
        for (transaction, number) in listed {
            let place = "page \(number)"
            if free.claim(number, for: 1) != nil {
                findings.add(
                    .freeListedTwice, place,
                    "it is in the free list twice, the second time by transaction \(transaction)")
            } else if scan.pages[number] != 0 {
                findings.add(
                    .freeListed, place, "it is in the free list, and \(scan.owners[Int(scan.pages[number])]) has it")
            } else {
                count += 1
            }
        }
        // If a tree is unreadable, its pages would seem to be lost.
        guard list.isWhole, mainCounts.isWhole, counts.values.allSatisfy(\.isWhole),
            counts.count == snapshot.names.count,
            snapshot.meta.lastPage >= 2
        else { return (count, 0) }
        var lost = 0, number: UInt64 = 2
        // A damaged meta page may declare any number, and a sparse file may have any length.
        while number <= snapshot.meta.lastPage, lost <= Int(clamping: snapshot.file.pageCount) {
            var end = number
            if let chunk = scan.pages.emptyChunk(around: number), free.emptyChunk(around: number) != nil {
                end = min(chunk, snapshot.meta.lastPage)
            }
            if scan.pages[number] == 0, free[number] == 0 {
                let place = end == number ? "page \(number)" : "pages \(number) to \(end)"
                findings.add(.pageLost, place, "no table has it, and it is not free")
                lost += Int(clamping: end - number) + 1
            }
            guard end < .max else { break }
            number = end + 1
        }
        return (count, lost)
    }

    /// The number of pages in the free list, whose faults become findings.
    var freePageCount: Int {
        var scan = TreeScan(snapshot.file, lastPage: snapshot.meta.lastPage, findings), count = 0
        _ = snapshot.forEachFreePage(&scan) { _, _ in count += 1 }
        return count
    }

    /// Returns the value of a key; nil if it does not exist or its checksum is wrong.
    func value(_ key: Bytes, in table: String) -> [UInt8]? {
        guard let record = snapshot.tables[table], record.flags == 0, var value = snapshot.value(key, in: record) else {
            return nil
        }
        guard let count = value.withUnsafeBytes({ content($0, table, key)?.count }) else { return nil }
        value.removeLast(value.count - count)
        return value
    }

    // MARK: - Pages that no tree leads to

    /// Returns the pages that no scanned tree contains and that are not free.
    ///
    /// If the free list is unreadable, the result is not certain: some of the pages may be old.
    func pagesOfNobody() -> (pages: [UInt64], isCertain: Bool) {
        var scan = scan, free = PageMap()
        let list = snapshot.forEachFreePage(&scan) { _, number in free[number] = 1 }
        let pages = snapshot.file.pagesWithData.joined().filter { scan.pages[$0] == 0 && free[$0] == 0 }
        return (pages, list.isWhole)
    }

    /// Visits each readable entry of a leaf; none if the page is not a leaf.
    func forEachNode(ofLeaf number: UInt64, _ body: (_ node: Int, _ key: Bytes, _ value: Bytes) throws -> Void) rethrows
    {
        guard let page = snapshot.file.page(number) else { return }
        let count = page.withView { $0.isLeaf ? $0.count : 0 }
        for node in 0..<count { try withNode(node, ofLeaf: number) { try body(node, $0, $1) } }
    }

    func withNode(_ index: Int, ofLeaf number: UInt64, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let page = snapshot.file.page(number) else { return }
        try page.withView { page in
            guard index < page.count, let node = page.leafNode(index), !node.key.isEmpty,
                let value = snapshot.value(of: node)
            else { return }
            try value.withUnsafeBytes { try body(node.key, $0) }
        }
    }

    /// Searches all pages of the file for the catalog and the dictionaries.
    ///
    /// Overwritten pages keep old content for a while. A catalog with a wrong checksum is better
    /// than none.
    func lookForSettings() {
        var best = settings["\(MetaKey.catalog)"].flatMap { text in
            text.withUnsafeBytes(StoredCatalog.init).map {
                (rank: StoreFile.rank(of: $0), isSound: $0.isSound, text: text)
            }
        }
        var hasChecksum = false
        for number in snapshot.file.pagesWithData.joined() {
            forEachNode(ofLeaf: number) { _, key, value in
                let name = String(decoding: key, as: UTF8.self)
                let isCatalog = name == "\(MetaKey.catalog)"
                guard isCatalog || name.hasPrefix(MetaKey.dictionaryPrefix) else { return }
                let sound = ValueChecksum.content(value, table: "meta", key: key)
                if isCatalog {
                    // Formats 1 and 2 have no checksum behind the value; in format 3, it has four
                    // bytes.
                    let texts = [sound, value, value.slice(0..<max(0, value.count - ValueChecksum.size))].compactMap(
                        \.self)
                    let readable = texts.lazy.compactMap { text in StoredCatalog(text).map { (bytes: text, stored: $0) }
                    }
                    guard let (text, found) = readable.first else { return }
                    let rank = StoreFile.rank(of: found)
                    if let best, best.rank > rank { return }
                    best = (rank, found.isSound, Array(text))
                    hasChecksum = sound != nil
                } else if let sound, sound.count > 2 {
                    if settings[name] == nil { settings[name] = Array(sound) }
                } else if format < ChecksummedTable.firstFormat, settings[name] == nil, value.count > 2 {
                    settings[name] = Array(value)
                }
            }
        }
        if let best {
            settings["\(MetaKey.catalog)"] = best.text
            isCatalogDoubtful = !best.isSound
            if foundFormat == nil { foundFormat = hasChecksum ? Store.format : ChecksummedTable.firstFormat - 1 }
        }
        takeSettings()
    }

    /// Returns the rank of a catalog: a sound one first, then the newest.
    ///
    /// Ids are never reused, so the newest catalog has the highest ids.
    private static func rank(of stored: StoredCatalog) -> (Int, Int) {
        let catalog = stored.catalog
        let age =
            Int(catalog.nextEntity) + Int(catalog.nextIndex)
            + catalog.entities.reduce(0) { $0 + Int($1.nextField) + $1.fields.count }
        return (stored.isSound ? 1 : 0, age)
    }

    // MARK: - Settings and catalog

    private func readSettings() {
        // Without findings at first: another program may have a table of this name.
        if let meta = snapshot.tables[TableName.meta], meta.flags == 0,
            let format = Array("\(MetaKey.format)".utf8).withUnsafeBytes({ snapshot.value($0, in: meta) })
        {
            isStore = format.withUnsafeBytes { StoreFormatVersion.read($0) } != nil
        }
        // Where the version is unreachable, the table names decide.
        isStore = isStore || snapshot.tables.keys.count { TableName.all.contains($0) } > 2
        if isStore { for key in snapshot.ownKeys { findings.add(.tableRecord, key, "it is no table") } }
        var stored: [(key: [UInt8], value: [UInt8])] = []
        forEach(in: TableName.meta, asStored: true) { key, value in stored.append((Array(key), Array(value))) }
        let version = stored.first { String(decoding: $0.key, as: UTF8.self) == "\(MetaKey.format)" }?.value
        foundFormat = version.flatMap { $0.withUnsafeBytes { StoreFormatVersion.read($0) } }
        for (key, value) in stored {
            let name = String(decoding: key, as: UTF8.self)
            let content = key.withUnsafeBytes { key in
                value.withUnsafeBytes { self.content($0, TableName.meta, key).map { Array($0) } }
            }
            guard let content else {
                findings.add(.setting, "meta \(name)", "the checksum is wrong")
                continue
            }
            settings[name] = content
        }
        takeSettings()
    }

    private func takeSettings() {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if name.hasPrefix(MetaKey.dictionaryPrefix) {
                let id = UInt16(name.dropFirst(MetaKey.dictionaryPrefix.count)) ?? 0
                if id == 0 || value.count <= 2 || !decoder.add(dictionary: id, Array(value.dropFirst(2))) {
                    findings.add(.dictionary, name, "zstd cannot use it")
                }
            } else if name.hasPrefix(MetaKey.indexPrefix) {
                guard let id = UInt32(name.dropFirst(MetaKey.indexPrefix.count)),
                    let mark = value.withUnsafeBytes({ IndexMark($0) })
                else {
                    findings.add(.setting, name, "it does not say how far the index is")
                    continue
                }
                marks[id] = mark
            }
        }
        guard let text = settings["\(MetaKey.catalog)"] else { return }
        guard let read = text.withUnsafeBytes(StoredCatalog.init) else {
            return findings.add(.catalog, "meta", "the catalog is not the JSON that is expected")
        }
        guard read.isSound || isCatalogDoubtful else {
            return findings.add(.catalog, "meta", "the checksum of the catalog is wrong")
        }
        catalog = read.catalog
        (hasCatalog, isStore) = (true, true)
        for entity in catalog.entities { rules[entity.id] = EntityRules(entity, catalog) }
    }

    /// Returns a number of `meta`; nil if it does not exist or is malformed.
    func number(_ key: StaticString) -> UInt64? {
        guard let value = settings["\(key)"], value.count == 8 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(_ key: StaticString) -> String? { settings["\(key)"].map { String(decoding: $0, as: UTF8.self) } }

    /// The format version; the newest one if it is unreadable.
    var format: Int { foundFormat ?? Store.format }

    /// Returns the content of a value, without the checksum that some tables store behind it.
    ///
    /// Nil if the value is damaged.
    func content(_ stored: Bytes, _ table: String, _ key: Bytes) -> Bytes? {
        guard isStore, format >= ChecksummedTable.firstFormat, let name = StoreFile.checksummed[table] else {
            return stored
        }
        return ValueChecksum.content(stored, table: name, key: key)
    }

    /// Whether the values of a table have a checksum behind them since format 3.
    static func isChecksummed(_ table: String) -> Bool { checksummed[table] != nil }

    private static let checksummed: [String: StaticString] = [
        TableName.meta: "meta", TableName.requests: "requests", TableName.changes: "changes", TableName.edges: "edges",
        TableName.scans: "scans", TableName.bodies: "bodies",
    ]

    /// The fault of the format version or the catalog; nil if this version of Tarn can read both.
    var formatProblem: Finding? {
        guard snapshot.tables[TableName.meta] != nil else {
            return Finding(
                .noStore, snapshot.file.path,
                "it is a data file of LMDB without the table \(TableName.meta): no store of Tarn")
        }
        guard foundFormat != nil else {
            return Finding(.noStore, "meta", "there is no format version of Tarn, or it is damaged")
        }
        guard format <= Store.format else {
            return Finding(
                .newerFormat, "meta",
                "the store has format \(format) and this version reads up to \(Store.format); use a newer version")
        }
        if let feature = settings["\(MetaKey.features)"]?.withUnsafeBytes({ StoreFeature.unknown(in: $0) }).first {
            return Finding(
                .newerFormat, "meta",
                "the store uses `\(feature)`, which this version does not know; use a newer version")
        }
        return hasCatalog ? nil : Finding(.catalog, "meta", "there is no catalog that can be read")
    }

    // MARK: - Rows

    func removedFields(of entity: UInt16) -> Set<UInt16> { rules[entity]?.removed ?? [] }

    func wholeKey(_ entity: Catalog.Entity, ofDigest digest: Bytes) -> RecordKey? {
        guard let bytes = value(digest, in: TableName.records(entity.root)) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            guard EncodedRow.hasValidChecksum(bytes, table: UInt32(entity.root), key: digest) else { return nil }
            return decoder.lending { (try? decoder.view(bytes)).flatMap { key(entity, digest, $0) } }
        }
    }

    @discardableResult
    func forEachReference(_ value: EncodedValue, _ body: (Bytes) throws -> Bool) throws -> Bool {
        guard let list = EdgeList(value) else {
            guard value.tag == ValueTag.references else { return value.tag != ValueTag.edges }
            var isGoingOn = true
            return try value.forEachReference { if isGoingOn { isGoingOn = try body($0) } }
        }
        var key = ByteWriter()
        for position in 0..<list.count {
            key.removeAll()
            key.appendBigEndian(list.id)
            key.appendBigEndian(position)
            guard let target = self.value(key.bytes, in: TableName.edges) else { return false }
            guard try target.withUnsafeBytes({ try body($0) }) else { return true }
        }
        return true
    }

    /// Returns the entity of a row; nil if the table cannot contain such a row.
    func entity(of row: EncodedRow, root: UInt16) -> Catalog.Entity? {
        catalog.entity(id: row.entity).flatMap { $0.root == root ? $0 : nil }
    }
}
