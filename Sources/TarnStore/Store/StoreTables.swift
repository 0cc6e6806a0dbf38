// The tables of a store: every name once, with one line about it.

package import LMDB
import Synchronization

package enum TableName {
    /// How many tables a store may have open: entities, indexes, and its own. Every transaction has room for all of them and goes
    /// through those that there are, so it is no larger than what an API may need.
    package static let limit = 1024

    /// Format version, incarnation, generation, commit sequence, catalog: everything about the store as a whole.
    package static let meta = "meta"
    /// Place and digest of a request key (`RequestDigest`) → response id.
    package static let requests = "requests"
    /// Response id → the response's entry, in the form of a row of entity 0.
    package static let responses = "responses"
    /// URL cut at 400 bytes ++ response id → nothing: purging by prefix.
    package static let urls = "urls"
    /// Entity id ++ storage key ++ response id → nothing: which responses list a record.
    package static let members = "members"
    /// Response id ++ u32 chunk number → a body's bytes, 65,520 of them or what is left (`ResponseBody`).
    package static let bodies = "bodies"
    /// Commit sequence ++ ordinal → operation, entity, key.
    package static let changes = "changes"
    /// Changes that still have to reach the server. Reserved.
    package static let outbox = "outbox"
    /// Name → a mirror's progress, in the form of a row of entity 0.
    package static let checkpoints = "checkpoints"

    /// List id ++ position → the target of a reference in a long list.
    package static let edges = "edges"

    /// Digest of a walk ++ entity id ++ storage key → which scan listed the record last (`ScanMember`).
    package static let scans = "scans"
    /// Root entity id ++ storage key → that the record was changed here and not yet at the server (`LocalMark`).
    package static let local = "local"

    package static let all = [meta, requests, responses, urls, members, bodies, changes, outbox, checkpoints, edges, scans, local]

    /// The rows of an entity.
    package static func records(_ entity: UInt16) -> String { "r/\(entity)" }
    /// Indexed values ++ storage key → nothing.
    package static func index(_ index: UInt32) -> String { "i/\(index)" }
}

/// The keys of the table `meta`.
package enum MetaKey {
    /// Decimal text (`Store.format`).
    package static let format: StaticString = "format"
    /// Text: names of what a reader must know beside the format, divided by spaces. Missing if there is nothing.
    package static let features: StaticString = "features"
    /// A UUID as text: another one after a restore, so that tokens of the old store are not taken for the new one's.
    package static let incarnation: StaticString = "incarnation"
    /// u64, big-endian: changes with every change of the catalog or the tables.
    package static let generation: StaticString = "generation"
    /// u64, big-endian: counts the commits that changed something.
    package static let sequence: StaticString = "sequence"
    /// JSON.
    package static let catalog: StaticString = "catalog"
    /// JSON: what servers have said of their rate limits, for the layer that sends requests.
    package static let requestBudgets: StaticString = "request budgets"
    /// u64, big-endian: bytes that the file may have; 0 or missing for no quota.
    package static let quota: StaticString = "quota"
    /// u64, big-endian: bytes that the file had when the quota was set, if that was more.
    package static let quotaBase: StaticString = "quota base"
    /// Followed by a space and the id of a dictionary in decimal: u16 entity id, then the dictionary.
    package static let dictionaryPrefix = "dictionary "
    /// Followed by a space and an entity id in decimal: how far a rewrite has come (`RewriteMark`).
    package static let rewritePrefix = "rewrite "
    /// u64, big-endian: ids of dictionaries are never reused.
    package static let nextDictionary: StaticString = "next dictionary"
    /// Followed by a space and the id of an index in decimal: what is still to be done for it (`IndexMark`).
    package static let indexPrefix = "index "
    /// u64, big-endian: response ids are never reused.
    package static let nextResponse: StaticString = "next response"
    /// u64, big-endian: how many entries caches have, and what they count for.
    package static let cacheEntries: StaticString = "cache entries"
    package static let cacheBytes: StaticString = "cache bytes"
    /// u64, big-endian: ids of long lists are never reused.
    package static let nextList: StaticString = "next list"
    /// Text: how long changes are kept (`ChangeRetention`); missing for the default.
    package static let changeRetention: StaticString = "change retention"
    /// Text: of which entities the change log keeps values (`ChangeValues`); missing for none.
    package static let changeValues: StaticString = "change values"
    /// u64, big-endian: the newest commit of which entries were trimmed from the change log.
    package static let trimmedChanges: StaticString = "trimmed changes"
    /// When commits were made, here and there: for each u64 sequence, i64 microseconds since 1970, big-endian.
    package static let changeTimes: StaticString = "change times"
    /// Followed by a space and the storage key of a name: the text of a token, how far changes of another store were applied.
    package static let positionPrefix = "position "

    /// The numbers that every store of format 3 has.
    package static let counters: [StaticString] = [
        generation, sequence, quota, quotaBase, nextDictionary, nextResponse, cacheEntries, cacheBytes, nextList, trimmedChanges,
    ]
}

/// Which rows have their checksums compared when they are read.
struct RowVerification: Sendable, Equatable {
    var copied = true, borrowed = false

    static let all = RowVerification(copied: true, borrowed: true)

    init(copied: Bool = true, borrowed: Bool = false) { (self.copied, self.borrowed) = (copied, borrowed) }

    init(_ options: Store.Options) { self.init(copied: options.verifiesRows, borrowed: options.verifiesBorrowedRows) }
}

/// What is known about an open store at one generation. Immutable; replaced as a whole.
package final class StoreState: Sendable {
    package let catalog: Catalog
    package let generation: UInt64
    /// Of the store: `Store.format`, or an older one.
    package let format: Int
    let verification: RowVerification
    let meta: ChecksummedTable
    let requests: ChecksummedTable
    let responses: Table
    let urls: Table
    let members: Table
    package let changes: ChecksummedTable
    let checkpoints: Table
    /// By id; ids are small, and every row that is written asks.
    private let records: [Table?]
    private let indexes: [Table?]
    private let rules: [EntityRules?]
    /// How structs are read and written at this generation.
    private let ownPlans = RowPlans()
    /// As long as this lives; nobody who asks for a plan has to count.
    let plans: Unmanaged<RowPlans>
    let deleteRules: DeleteRules
    /// Nil in a store from before there was the table, as long as nobody has opened it for writing.
    let edges: ChecksummedTable?
    /// Nil in the same way.
    let scans: ChecksummedTable?, local: Table?, bodies: ChecksummedTable?
    /// What the change log keeps.
    let changeOptions: ChangeOptions
    /// Indexes of which rows may lack their entries.
    private let incomplete: Set<UInt32>
    /// Whether some index is being built or checked.
    let hasIndexWork: Bool
    private let dictionaries: DictionaryList
    private let contexts = RowContextPool()
    /// The newest snapshot that is known to have this generation: the next read of it need not look.
    private let knownSnapshot = Atomic(0)

    init(
        format: Int, catalog: Catalog, generation: UInt64, fixed: [String: Table], records: [UInt16: Table], indexes: [UInt32: Table],
        dictionaries: DictionaryList = DictionaryList([]), changeOptions: ChangeOptions = ChangeOptions(), marks: [UInt32: IndexMark] = [:],
        verification: RowVerification = RowVerification()
    ) throws(StoreError) {
        func table(_ name: String) throws(StoreError) -> Table {
            guard let table = fixed[name] else { throw .damagedCatalog(path: "", detail: "the table \(name) is missing") }
            return table
        }
        plans = Unmanaged.passUnretained(ownPlans)
        self.format = format
        self.verification = verification
        self.catalog = catalog
        deleteRules = DeleteRules(catalog)
        edges = fixed[TableName.edges].map { ChecksummedTable($0, "edges", format: format) }
        scans = fixed[TableName.scans].map { ChecksummedTable($0, "scans", format: format) }
        local = fixed[TableName.local]
        bodies = fixed[TableName.bodies].map { ChecksummedTable($0, "bodies", format: format) }
        self.dictionaries = dictionaries
        self.changeOptions = changeOptions.resolved(catalog)
        incomplete = Set(marks.filter { $0.value.phase == .building }.keys)
        hasIndexWork = !marks.isEmpty
        self.generation = generation
        meta = .meta(try table(TableName.meta), format: format)
        requests = ChecksummedTable(try table(TableName.requests), "requests", format: format)
        responses = try table(TableName.responses)
        urls = try table(TableName.urls)
        members = try table(TableName.members)
        changes = ChecksummedTable(try table(TableName.changes), "changes", format: format)
        checkpoints = try table(TableName.checkpoints)
        let byID = Dictionary(catalog.entities.map { ($0.id, EntityRules($0, catalog)) }, uniquingKeysWith: { first, _ in first })
        rules = (0...Int(byID.keys.max() ?? 0)).map { byID[UInt16($0)] }
        self.records = (0...Int(records.keys.max() ?? 0)).map { records[UInt16($0)] }
        self.indexes = (0...Int(indexes.keys.max() ?? 0)).map { indexes[UInt32($0)] }
    }

    /// Whether the store is from before there were all the tables.
    var lacksTables: Bool { edges == nil || scans == nil || local == nil }

    func edgeTable() throws(StoreError) -> ChecksummedTable { try StoreState.table(edges, TableName.edges) }
    func scanTable() throws(StoreError) -> ChecksummedTable { try StoreState.table(scans, TableName.scans) }
    func localTable() throws(StoreError) -> Table { try StoreState.table(local, TableName.local) }

    private static func table<Found>(_ table: Found?, _ name: String) throws(StoreError) -> Found {
        guard let table else { throw .damagedCatalog(path: "", detail: "the table \(name) is missing") }
        return table
    }

    /// Whether a snapshot is of this generation.
    func isCurrent(in raw: RawTransaction) throws(LMDBError) -> Bool {
        let snapshot = raw.id
        if knownSnapshot.load(ordering: .relaxed) == snapshot { return true }
        guard try raw.isAtGeneration(generation, meta) else { return false }
        knownSnapshot.store(snapshot, ordering: .relaxed)
        return true
    }

    /// The dictionary that rows were compressed with.
    func dictionary(_ id: UInt16) -> RowDictionary? { dictionaries[id] }

    /// The dictionary that rows of an entity are compressed with from now on.
    func currentDictionary(ofRoot root: UInt16) -> RowDictionary? { dictionaries.current(of: root) }

    /// The same, nil also if the entity's rows are stored as they are.
    package func currentDictionary(of entity: Catalog.Entity) -> RowDictionary? {
        !entity.isCompressed ? nil : dictionaries.current(of: entity.root)
    }

    /// Memory for compressed rows; nil as long as there is no dictionary. To be given back.
    func takeContext() -> RowContext? { dictionaries.isEmpty ? nil : contexts.take() }

    func give(back context: RowContext?) { if let context { contexts.give(back: context) } }

    /// What writing a record of an entity has to keep up.
    func rules(of entity: UInt16) throws(StoreError) -> EntityRules {
        guard Int(entity) < rules.count, let rules = rules[Int(entity)] else {
            throw .damagedCatalog(path: "", detail: "there is no entity \(entity)")
        }
        return rules
    }

    /// An index, and the rules of the topmost entity that has it. Nil if it is the index of the members of an entity.
    func rules(forIndex id: UInt32) -> (EntityRules, CompiledIndex)? {
        for case let rules? in rules {
            if let index = rules.indexes.first(where: { $0.id == id }) { return (rules, index) }
        }
        return nil
    }

    /// The table of a root entity's rows.
    package func records(of entity: UInt16) throws(StoreError) -> Table {
        guard Int(entity) < records.count, let table = records[Int(entity)] else {
            throw .damagedCatalog(path: "", detail: "the table \(TableName.records(entity)) is missing")
        }
        return table
    }

    package func index(_ index: UInt32) throws(StoreError) -> Table {
        guard Int(index) < indexes.count, let table = indexes[Int(index)] else {
            throw .damagedCatalog(path: "", detail: "the table \(TableName.index(index)) is missing")
        }
        return table
    }

    /// Whether an index holds every record that it should: then it may be in use for answers. Writers maintain all of them.
    ///
    /// Those of references and of the members of an entity always are: no row can have had the field, or been of the entity,
    /// before there was one. Those of attributes and declared ones have an entry for every row, if only that of null.
    package func isComplete(_ index: UInt32) -> Bool { incomplete.isEmpty || !incomplete.contains(index) }

    package func entity(_ name: String) throws(StoreError) -> Catalog.Entity {
        guard let entity = catalog.entity(name) else {
            throw .unknownEntity(name: name, known: catalog.entities.map(\.name))
        }
        return entity
    }
}
