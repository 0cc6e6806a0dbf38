// How big a store is, table by table. Read-only.

import TarnStore

/// What a store holds and how much room it takes.
public struct StoreStatistics: Sendable {
    public struct Table: Sendable {
        /// The table's name in LMDB: `r/1`.
        public var name: String
        /// What it is: `records of Issue`, `index Issue.author`, or the name again.
        public var meaning: String
        public var entries: Int
        public var depth: Int
        public var pages: Int
        public var bytes: Int
    }

    public var path: String
    /// Empty if the file is no store, or if it cannot be read.
    public var incarnation: String
    public var sequence: UInt64
    public var entities: [(name: String, records: Int, parent: String?)]
    public var responses: Int
    public var checkpoints: [(name: String, checkpoint: Checkpoint)]
    /// In the order of names.
    public var tables: [Table]
    public var fileBytes: Int
    /// Bytes a page.
    public var pageSize: Int
    /// The last page that was ever used.
    public var lastPage: Int
    /// The newest transaction of LMDB in the file.
    public var lastTransaction: Int
    /// Pages that are free for new data once no reader needs them.
    public var freePages: Int
    /// Slots of the table of readers; nil if the file could not be opened by LMDB.
    public var readers: (used: Int, all: Int)?
    /// What was wrong with the parts that were looked at: not all pages are.
    public var findings: [Finding]
    /// Why the file was read without anybody keeping it as it is; nil if it was held.
    public var aloneBecause: String?

    /// Reads the statistics of the store in a directory, with the catalog that stands in it: what LMDB says of each table. The file may be
    /// damaged in any way, and need not be one of Tarn.
    ///
    /// - Throws: `StoreError`: `.noSuchStore`; `.notAStore` for what is no data file of LMDB; `.lmdb` if there is no permission;
    ///   `.changedMeanwhile` if the file was not held, and commits came in between.
    public init(ofStoreAt path: String) throws {
        self = try StoreFile.open(at: path) { StoreStatistics(path, $0) }
    }

    private init(_ path: String, _ file: StoreFile) {
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
        var own: Table?
        let tables = snapshot.names.compactMap { name -> Table? in
            guard let record = snapshot.tables[name] else { return nil }
            // Of a damaged file any numbers.
            let pages = Int(truncatingIfNeeded: record.branchPages &+ record.leafPages &+ record.overflowPages)
            return Table(
                name: name, meaning: StoreStatistics.meaning(of: name, catalog), entries: Int(clamping: record.entries), depth: record.depth,
                pages: pages, bytes: pages &* pageSize)
        }
        if snapshot.ownEntries > 0 {
            let main = snapshot.meta.main
            let pages = Int(truncatingIfNeeded: main.branchPages &+ main.leafPages &+ main.overflowPages)
            own = Table(
                name: "(main)", meaning: "keys beside the tables", entries: snapshot.ownEntries, depth: main.depth, pages: pages,
                bytes: pages &* pageSize)
        }
        // `i/2` before `i/10`.
        self.tables = [own].compactMap(\.self) + tables.sorted { (a: Table, b: Table) -> Bool in
            let isNumbered = a.name.prefix(2) == b.name.prefix(2) && a.name.dropFirst().first == "/"
            return isNumbered && a.name.count != b.name.count ? a.name.count < b.name.count : a.name < b.name
        }
        var checkpoints: [(String, Checkpoint)] = []
        file.forEach(in: TableName.checkpoints) { key, value in
            if let checkpoint = RowView(value).flatMap({ Checkpoint($0) }) {
                checkpoints.append((RecordKey(storageKey: key)?.description ?? "(a long name)", checkpoint))
            }
        }
        self.checkpoints = checkpoints
        (fileBytes, self.pageSize) = (Int(clamping: snapshot.file.byteCount), pageSize)
        (lastPage, lastTransaction) = (Int(clamping: snapshot.meta.lastPage), Int(clamping: snapshot.meta.transaction))
        freePages = file.freePageCount
        readers = file.readers
        // A file of another program is no damaged store.
        if file.isStore, let problem = file.formatProblem { file.findings.add(problem.code, problem.place, problem.detail) }
        findings = file.findings.list
        aloneBecause = file.aloneBecause
    }

    private static func meaning(of name: String, _ catalog: Catalog) -> String {
        if name.hasPrefix("r/"), let entity = UInt16(name.dropFirst(2)).flatMap({ catalog.entity(id: $0) }) {
            return "records of \(entity.name)"
        }
        if name.hasPrefix("i/"), let index = UInt32(name.dropFirst(2)) {
            for entity in catalog.entities {
                if entity.members == index { return "which records are \(entity.name)" }
                for declared in entity.indexes where declared.id == index {
                    return "\(declared.isUnique ? "unique " : "")index \(entity.name).\(declared.name)"
                }
                for field in entity.fields where field.index == index {
                    guard case .reference(let reference) = field.kind else {
                        return "\(field.isUnique ? "unique " : "")index of \(entity.name).\(field.name)"
                    }
                    let destination = catalog.entity(id: reference.destination)?.name ?? "?"
                    return "\(entity.name).\(field.name)" + (reference.inverse.map { ", as \(destination).\($0)" } ?? ", inverse")
                }
            }
        }
        return name
    }
}
