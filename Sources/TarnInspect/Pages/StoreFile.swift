// A store's file without liblmdb: its settings, its catalog and its rows, as far as they can be read.

import Foundation
import TarnStore

/// What a file of unknown health holds. For one thread at a time.
final class StoreFile: RecordSource {
    let snapshot: FileSnapshot
    let findings: Findings
    /// Why the file was looked at while nobody kept it as it is; nil if a read transaction did.
    let aloneBecause: String?
    /// Slots of the table of readers; nil if the file was looked at alone.
    let readers: (used: Int, all: Int)?
    private(set) var walk: TreeWalk
    /// The table `meta`.
    private(set) var settings: [String: [UInt8]] = [:]
    /// Of a file without a catalog that can be read: an empty one.
    private(set) var catalog = Catalog()
    private(set) var hasCatalog = false
    /// Whether the catalog is one whose checksum is wrong, taken for want of a better one.
    private(set) var isCatalogDoubtful = false
    private(set) var rules: [UInt16: EntityRules] = [:]
    /// Marks of indexes that are not complete.
    private(set) var marks: [UInt32: IndexMark] = [:]
    let decoder = RowDecoder()
    /// What was counted of each table that was walked.
    private(set) var counts: [String: TreeWalk.Counts] = [:]
    private let mainCounts: TreeWalk.Counts

    private init(
        _ snapshot: FileSnapshot, _ findings: Findings, aloneBecause: String?, readers: (used: Int, all: Int)? = nil,
        progress: ((_ pages: Int, _ of: Int) -> Void)?
    ) {
        self.readers = readers
        self.snapshot = snapshot
        self.findings = findings
        self.aloneBecause = aloneBecause
        var walk = TreeWalk(snapshot.file, lastPage: snapshot.meta.lastPage, findings)
        if let progress {
            let file = snapshot.file, all = Int(clamping: min(snapshot.meta.lastPage, file.pageCount))
            walk.progress = { progress(file.readCount, all) }
        }
        mainCounts = snapshot.findTables(&walk)
        self.walk = walk
        readSettings()
    }

    /// Opens what is at a path, and lends it. If it is sound enough for liblmdb, its newest state is held meanwhile, so that writers of
    /// other processes do not change what is looked at; otherwise the file is read as it is.
    ///
    /// - Parameter path: of a store, or of its `data.mdb`.
    /// - Throws: what the closure throws; `StoreError.noSuchStore`, `.notAStore`, `.lmdb` if nothing can be read.
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
                    return try body(StoreFile(snapshot, findings, aloneBecause: nil, readers: readers, progress: progress))
                }
            } catch {
                if isLent { throw error }
                if error is FileSnapshot.Moved { continue }
                reason = (error as? StoreError)?.description ?? "\(error)"
                break
            }
        }
        let file = try PageFile(opening: path), findings = Findings()
        let snapshot = try FileSnapshot(file, findings)
        return try body(StoreFile(snapshot, findings, aloneBecause: reason, progress: progress))
    }

    // MARK: - Tables

    /// Walks over a table that was not walked yet, in the order of its keys, and compares it with what its record says.
    ///
    /// - Returns: whether all of it could be read; false also if there is no such table.
    @discardableResult
    func forEach(in table: String, _ body: (Bytes, Bytes) throws -> Void) rethrows -> Bool {
        guard let record = snapshot.tables[table] else { return false }
        guard record.flags == 0 else {
            findings.add(.tableRecord, table, "it has the options \(record.flags), as no table of Tarn: it is left out")
            return false
        }
        // Taken out meanwhile, so that it is not copied with every page.
        var walk = walk
        self.walk = TreeWalk(snapshot.file, lastPage: 0, findings)
        defer { self.walk = walk }
        let counts = try walk.walk(record, table) { key, value, flags in
            guard flags & (TreePage.Node.table | TreePage.Node.duplicates) == 0 else {
                return findings.add(.tableRecord, table, "an entry has the flags \(flags), as none of Tarn")
            }
            try body(key, value)
        }
        self.counts[table] = counts
        compare(counts, record, table)
        return counts.isWhole
    }

    /// Walks over a table again, without looking for what is wrong with its pages.
    func again(_ table: String, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let record = snapshot.tables[table], record.flags == 0 else { return }
        var walk = TreeWalk(snapshot.file, lastPage: snapshot.meta.lastPage, Findings(limit: 0))
        _ = try walk.walk(record, table) { key, value, _ in try body(key, value) }
    }

    private func compare(_ counts: TreeWalk.Counts, _ record: TableRecord, _ table: String) {
        // What could not be read could not be counted.
        guard counts.isWhole else { return }
        let counted = (counts.branchPages, counts.leafPages, counts.overflowPages, counts.entries)
        let said = (record.branchPages, record.leafPages, record.overflowPages, record.entries)
        guard counted != said else { return }
        findings.add(
            .tableCounts, table,
            "it should have \(said.0) branches, \(said.1) leaves, \(said.2) pages of long values and \(said.3) entries, and has \(counted.0), \(counted.1), \(counted.2) and \(counted.3)")
    }

    /// Compares the table of tables, and walks over the list of free pages.
    ///
    /// - Returns: how many pages are free, and how many nobody has.
    func checkFreePages() -> (free: Int, lost: Int) {
        compare(mainCounts, snapshot.meta.main, "the table of tables")
        var walk = walk, free = PageMap(), count = 0, listed: [(UInt64, UInt64)] = []
        let list = snapshot.forEachFreePage(&walk) { listed.append(($0, $1)) }
        self.walk = walk
        compare(list, snapshot.meta.freeList, "the free list")
        for (transaction, number) in listed {
            let place = "page \(number)"
            if free.claim(number, for: 1) != nil {
                findings.add(.freeListedTwice, place, "it is in the free list twice, the second time by transaction \(transaction)")
            } else if walk.pages[number] != 0 {
                findings.add(.freeListed, place, "it is in the free list, and \(walk.owners[Int(walk.pages[number])]) has it")
            } else {
                count += 1
            }
        }
        // Where something cannot be read, what it had would seem to be lost.
        guard list.isWhole, mainCounts.isWhole, counts.values.allSatisfy(\.isWhole), counts.count == snapshot.names.count,
            snapshot.meta.lastPage >= 2
        else { return (count, 0) }
        var lost = 0
        for number in 2...snapshot.meta.lastPage where walk.pages[number] == 0 && free[number] == 0 {
            findings.add(.pageLost, "page \(number)", "no table has it, and it is not free")
            lost += 1
            // A meta page that is damaged may name any number.
            if lost > Int(clamping: snapshot.file.pageCount) { break }
        }
        return (count, lost)
    }

    /// How many pages the free list has; what is wrong with it is a finding.
    var freePageCount: Int {
        var walk = TreeWalk(snapshot.file, lastPage: snapshot.meta.lastPage, findings), count = 0
        _ = snapshot.forEachFreePage(&walk) { _, _ in count += 1 }
        return count
    }

    func value(_ key: Bytes, in table: String) -> [UInt8]? {
        guard let record = snapshot.tables[table], record.flags == 0 else { return nil }
        return snapshot.value(key, in: record)
    }

    // MARK: - Pages that no tree leads to

    /// The pages of the file that no tree has led to and that are not free, and whether the list of free pages could be read: otherwise some
    /// of them are old.
    func pagesOfNobody() -> (pages: [UInt64], isCertain: Bool) {
        var walk = walk, free = PageMap()
        let list = snapshot.forEachFreePage(&walk) { _, number in free[number] = 1 }
        let end = min(snapshot.file.pageCount, 1 << 40)
        guard end > 2 else { return ([], list.isWhole) }
        return ((2..<end).filter { walk.pages[$0] == 0 && free[$0] == 0 }, list.isWhole)
    }

    /// Calls the closure with each entry of a leaf that can be read; with none if the page is no leaf.
    func forEachNode(ofLeaf number: UInt64, _ body: (_ node: Int, _ key: Bytes, _ value: Bytes) throws -> Void) rethrows {
        guard let bytes = snapshot.file.page(number), TreePage(bytes).kind == .leaf else { return }
        for node in 0..<TreePage(bytes).count { try withNode(node, ofLeaf: number) { try body(node, $0, $1) } }
    }

    func withNode(_ index: Int, ofLeaf number: UInt64, _ body: (Bytes, Bytes) throws -> Void) rethrows {
        guard let bytes = snapshot.file.page(number), let node = TreePage(bytes).node(index), !node.key.isEmpty,
            let value = snapshot.value(of: node, in: TreePage(bytes))
        else { return }
        try bytes.bytes.withUnsafeBytes { page in try value.withUnsafeBytes { try body(page.slice(node.key), $0) } }
    }

    /// Looks for the catalog and the dictionaries on all pages of the file: what was once written stands there for a while. A catalog whose
    /// checksum is wrong is better than none.
    func lookForSettings() {
        var best = settings["\(MetaKey.catalog)"].flatMap { text in
            text.withUnsafeBytes(StoredCatalog.init).map { (rank: StoreFile.rank(of: $0), isSound: $0.isSound, text: text) }
        }
        for number in 2..<max(2, min(snapshot.file.pageCount, 1 << 40)) {
            forEachNode(ofLeaf: number) { _, key, value in
                let name = String(decoding: key, as: UTF8.self)
                if name == "\(MetaKey.catalog)", let found = StoredCatalog(value) {
                    let rank = StoreFile.rank(of: found)
                    if let best, best.rank > rank { return }
                    best = (rank, found.isSound, Array(value))
                } else if name.hasPrefix(MetaKey.dictionaryPrefix), settings[name] == nil, value.count > 2 {
                    settings[name] = Array(value)
                }
            }
        }
        if let best {
            settings["\(MetaKey.catalog)"] = best.text
            isCatalogDoubtful = !best.isSound
        }
        takeSettings()
    }

    /// Ids are never used again: the newest catalog has the highest. None that is not sound is better than one that is.
    private static func rank(of stored: StoredCatalog) -> (Int, Int) {
        let catalog = stored.catalog
        let age = Int(catalog.nextEntity) + Int(catalog.nextIndex) + catalog.entities.reduce(0) { $0 + Int($1.nextField) + $1.fields.count }
        return (stored.isSound ? 1 : 0, age)
    }

    // MARK: - Settings and catalog

    private func readSettings() {
        forEach(in: TableName.meta) { key, value in settings[String(decoding: key, as: UTF8.self)] = Array(value) }
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
                guard let id = UInt32(name.dropFirst(MetaKey.indexPrefix.count)), let mark = value.withUnsafeBytes({ IndexMark($0) })
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
        guard read.isSound || isCatalogDoubtful else { return findings.add(.catalog, "meta", "the checksum of the catalog is wrong") }
        catalog = read.catalog
        hasCatalog = true
        for entity in catalog.entities { rules[entity.id] = EntityRules(entity, catalog) }
    }

    /// A number of `meta`; nil if it is not there, or is none.
    func number(_ key: StaticString) -> UInt64? {
        guard let value = settings["\(key)"], value.count == 8 else { return nil }
        return value.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func text(_ key: StaticString) -> String? { settings["\(key)"].map { String(decoding: $0, as: UTF8.self) } }

    /// The format version; the newest one if it cannot be read.
    var format: Int { text(MetaKey.format).flatMap { Int($0) } ?? Store.format }

    /// What is wrong with the format version; nil if it can be read here.
    var formatProblem: Finding? {
        guard snapshot.tables[TableName.meta] != nil else {
            return Finding(.noStore, snapshot.file.path, "it is a data file of LMDB without the table \(TableName.meta): no store of Tarn")
        }
        guard text(MetaKey.format).flatMap({ Int($0) }) != nil else {
            return Finding(.noStore, "meta", "there is no format version of Tarn")
        }
        guard format <= Store.format else {
            return Finding(.newerFormat, "meta", "the store has format \(format) and this version reads up to \(Store.format); use a newer version")
        }
        return hasCatalog ? nil : Finding(.catalog, "meta", "there is no catalog that can be read")
    }

    // MARK: - Rows

    func removedFields(of entity: UInt16) -> Set<UInt16> { rules[entity]?.removed ?? [] }

    func wholeKey(_ entity: Catalog.Entity, ofDigest digest: Bytes) -> RecordKey? {
        guard let bytes = value(digest, in: TableName.records(entity.root)) else { return nil }
        return bytes.withUnsafeBytes { bytes in
            decoder.lending { (try? decoder.view(bytes)).flatMap { key(entity, digest, $0) } }
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

    /// The entity that a row of a table is of. Nil if the table cannot hold such a row.
    func entity(of row: RowView, root: UInt16) -> Catalog.Entity? {
        catalog.entity(id: row.entity).flatMap { $0.root == root ? $0 : nil }
    }
}
