// How big a store is, table by table. Read-only.

import Glibc
import LMDB
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
    public var incarnation: String
    public var sequence: UInt64
    public var entities: [(name: String, records: Int)]
    public var responses: Int
    public var checkpoints: [(name: String, checkpoint: Checkpoint)]
    /// In the order of names.
    public var tables: [Table]
    public var fileBytes: Int
    public var environment: EnvironmentInformation

    /// Reads the statistics of the store in a directory, with the catalog that stands in it.
    ///
    /// - Throws: `StoreError`.
    public init(ofStoreAt path: String) throws {
        let store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
        let names = try store.environment.tableNames()
        let opened = try store.environment.existingTables(names)
        environment = try store.environment.information()
        let pageSize = environment.pageSize
        var status = stat()
        fileBytes = stat(path + "/data.mdb", &status) == 0 ? Int(status.st_size) : 0
        self.path = path
        let catalog = store.catalog
        var tables: [Table] = [], entities: [(String, Int)] = [], checkpoints: [(String, Checkpoint)] = []
        (incarnation, sequence, responses) = try store.read { reader in
            for (name, table) in zip(names, opened) {
                guard let table else { continue }
                let s = try reader.access.raw.statistics(table)
                let pages = s.branchPages + s.leafPages + s.overflowPages
                tables.append(
                    Table(
                        name: name, meaning: StoreStatistics.meaning(of: name, catalog), entries: s.entries, depth: s.depth,
                        pages: pages, bytes: pages * pageSize))
            }
            for entity in catalog.entities { entities.append((entity.name, try reader.count(entity.name))) }
            try reader.forEachCheckpoint { checkpoints.append(($0, $1)) }
            return (try reader.incarnation, try reader.sequence, try reader.responseCount)
        }
        // `i/2` before `i/10`.
        self.tables = tables.sorted { a, b in
            a.name.count != b.name.count && a.name.prefix(2) == b.name.prefix(2) && a.name.dropFirst().first == "/"
                ? a.name.count < b.name.count : a.name < b.name
        }
        self.entities = entities
        self.checkpoints = checkpoints
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
