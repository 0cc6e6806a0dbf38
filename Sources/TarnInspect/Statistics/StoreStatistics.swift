// The sizes of a store, table by table. Read-only.

import LMDBPages
import TarnStore

/// The contents of a store and the space they occupy.
public struct StoreStatistics: Sendable {
    /// The size of a table.
    public struct Table: Sendable {
        /// The table's name in LMDB: `r/1`.
        public var name: String
        /// The purpose: `records of Issue`, `index Issue.author`, or the name again.
        public var meaning: String
        /// The number of entries.
        public var entries: Int
        /// The depth of the tree.
        public var depth: Int
        /// The number of pages, including overflow pages.
        public var pages: Int
        /// The size of the pages, in bytes.
        public var bytes: Int
    }

    /// The path of the store.
    public var path: String
    /// The incarnation; empty if the file is not a store or its incarnation is unreadable.
    public var incarnation: String
    /// The commit sequence; 0 if it is unreadable.
    public var sequence: UInt64
    /// The entities, with the number of records and the parent of each.
    public var entities: [(name: String, records: Int, parent: String?)]
    /// The number of stored responses.
    public var responses: Int
    /// The numbers of operations in the outbox; nil if they are unreadable, or without an outbox.
    package var outbox: OutboxCounts?
    /// The checkpoints of mirrors.
    package var checkpoints: [(name: String, checkpoint: Checkpoint)]
    /// The tables, ordered by name.
    public var tables: [Table]
    /// The size of the file, in bytes.
    public var fileBytes: Int
    /// The size of a page, in bytes.
    public var pageSize: Int
    /// The last page that was ever used.
    public var lastPage: Int
    /// The id of the newest LMDB transaction in the file.
    public var lastTransaction: Int
    /// The number of pages that are free for new data once no reader needs them.
    public var freePages: Int
    /// The slots of the reader table; nil if LMDB could not open the file.
    public var readers: (used: Int, all: Int)?
    /// The faults of the parts that were read: not all pages are.
    public var findings: [Finding]
    /// The reason why no read transaction held the file; nil if one did.
    public var aloneBecause: String?

    /// - Parameter readsCheckpoints: Whether the checkpoints are read: there may be very many.
    init(_ path: String, _ file: StoreFile, readsCheckpoints: Bool = true) {
        self.path = path
        let catalog = file.catalog, snapshot = file.snapshot
        incarnation = file.text(MetaKey.incarnation) ?? ""
        sequence = file.number(MetaKey.sequence) ?? 0
        func entries(_ table: String) -> Int { Int(clamping: snapshot.tables[table]?.entries ?? 0) }
        entities = catalog.entities.map { entity in
            let records = entries(entity.members.map(TableName.index) ?? TableName.records(entity.root))
            return (entity.name, records, entity.parent.flatMap { catalog.entity(id: $0)?.name })
        }
        responses = entries(TableName.responses)
        let pageSize = snapshot.meta.pageSize
        // A damaged file may contain any numbers, and liblmdb may count the pages of many values
        // below zero or more than once (`StoreFile.compare`).
        func pageCount(_ record: TableRecord) -> Int {
            let pages = Int(truncatingIfNeeded: record.branchPages &+ record.leafPages &+ record.overflowPages)
            return min(max(pages, 0), Int(clamping: snapshot.file.pageCount))
        }
        var own: Table?
        let tables = snapshot.names.compactMap { name -> Table? in
            guard let record = snapshot.tables[name] else { return nil }
            let pages = pageCount(record)
            return Table(
                name: name, meaning: StoreStatistics.meaning(of: name, catalog), entries: Int(clamping: record.entries),
                depth: record.depth,
                pages: pages, bytes: pages &* pageSize)
        }
        if snapshot.ownEntries > 0 {
            let main = snapshot.meta.main, pages = pageCount(main)
            own = Table(
                name: "(main)", meaning: "keys outside of tables", entries: snapshot.ownEntries, depth: main.depth,
                pages: pages,
                bytes: pages &* pageSize)
        }
        // `i/2` before `i/10`.
        self.tables =
            [own].compactMap(\.self)
            + tables.sorted { (a: Table, b: Table) -> Bool in
                let isNumbered = a.name.prefix(2) == b.name.prefix(2) && a.name.dropFirst().first == "/"
                return isNumbered && a.name.count != b.name.count ? a.name.count < b.name.count : a.name < b.name
            }
        checkpoints = readsCheckpoints ? StoreStatistics.checkpoints(file) : []
        // A file of another program has none, or an own table of this name.
        if file.isStore, snapshot.tables[TableName.outbox] != nil { outbox = FileOutbox(file).counts }
        (fileBytes, self.pageSize) = (Int(clamping: snapshot.file.byteCount), pageSize)
        (lastPage, lastTransaction) = (Int(clamping: snapshot.meta.lastPage), Int(clamping: snapshot.meta.transaction))
        freePages = file.freePageCount
        readers = file.readers
        // A file of another program is not a damaged store.
        if file.isStore, let problem = file.formatProblem {
            file.findings.add(problem.code, problem.place, problem.detail)
        }
        findings = file.findings.list
        aloneBecause = file.aloneBecause
    }

    private static func checkpoints(_ file: StoreFile) -> [(name: String, checkpoint: Checkpoint)] {
        var checkpoints: [(name: String, checkpoint: Checkpoint)] = []
        file.forEach(in: TableName.checkpoints) { key, value in
            guard EncodedRow.hasValidChecksum(value, table: 0, key: key),
                let checkpoint = EncodedRow(value).flatMap({ Checkpoint($0) })
            else {
                // Another program may have a table of this name.
                if file.isStore {
                    let place = "checkpoint \(RecordKey.describe(storageKey: key))"
                    file.findings.add(.checkpoint, place, "unreadable, or the checksum is wrong")
                }
                return
            }
            checkpoints.append((RecordKey(storageKey: key)?.description ?? "(a long name)", checkpoint))
        }
        return checkpoints
    }

    static func meaning(of name: String, _ catalog: Catalog) -> String {
        if name.hasPrefix("r/"), let entity = UInt16(name.dropFirst(2)).flatMap({ catalog.entity(id: $0) }) {
            return "records of \(entity.name)"
        }
        if name.hasPrefix("i/"), let index = UInt32(name.dropFirst(2)) {
            for entity in catalog.entities {
                if entity.members == index { return "members of \(entity.name)" }
                for declared in entity.indexes where declared.id == index {
                    return "\(declared.isUnique ? "unique " : "")index \(entity.name).\(declared.name)"
                }
                for field in entity.fields where field.index == index {
                    guard case .reference(let reference) = field.kind else {
                        return "\(field.isUnique ? "unique " : "")index of \(entity.name).\(field.name)"
                    }
                    let destination = catalog.entity(id: reference.destination)?.name ?? "?"
                    return "\(entity.name).\(field.name)"
                        + (reference.inverse.map { ", as \(destination).\($0)" } ?? ", inverse")
                }
            }
        }
        return name
    }
}

extension StoreInspector {
    /// Reads the statistics of a store from its catalog and LMDB's table records.
    ///
    /// The file may be damaged in any way, and may be one of another program.
    ///
    /// - Throws: `StoreOpenError.noSuchStore`; `.notAStore` for a file that is not an LMDB data
    ///   file; `.store(.lmdb)` without permission; `StoreMaintenanceError.changedMeanwhile` if no
    ///   transaction held the file and commits were made meanwhile.
    public func statistics() throws -> StoreStatistics {
        try open { StoreStatistics(path, $0) }
    }

    /// Reads the statistics without the checkpoints: an endpoint may have one for each of millions
    /// of parent records.
    ///
    /// - Throws: As ``statistics()``.
    package func sizes() throws -> StoreStatistics {
        try open { StoreStatistics(path, $0, readsCheckpoints: false) }
    }
}
