package import LMDB
import Synchronization

/// The state of an open store at one generation. Immutable, and replaced as a whole.
package final class StoreState: Sendable {
    let catalog: Catalog
    let generation: UInt64
    /// The format of the store: `Store.format` or an older one.
    let format: Int
    let verification: RowVerification
    let meta: ChecksummedTable
    let requests: ChecksummedTable
    let responses: Table
    let urls: Table
    let members: Table
    package let changes: ChecksummedTable
    let checkpoints: Table
    /// Tables by entity id. Arrays, because ids are small and every written row looks one up.
    private let records: [Table?]
    private let indexes: [Table?]
    private let rules: [EntityRules?]
    /// Plans for reading and writing structs at this generation.
    private let ownPlans = RowPlans()
    /// Unretained, to save reference counting. Valid as long as this state.
    let plans: Unmanaged<RowPlans>
    let deleteRules: DeleteRules
    /// Nil in an older store that was not opened for writing since the table was added.
    let edges: ChecksummedTable?
    /// Nil for the same reason as `edges`.
    let scans: ChecksummedTable?, local: Table?, bodies: ChecksummedTable?
    /// Nil only in a damaged store.
    let outbox: Table?
    let outboxSchema: OutboxSchema
    /// The options of the change log.
    let changeOptions: ChangeOptions
    /// The features that the store requires of its readers in addition to the format.
    let features: Set<StoreFeature>
    /// Indicates that the directories of divided rows are packed when they are written.
    let packsDirectories: Bool
    /// Indicates that changes of one kind that follow each other get one entry of the change log.
    let groupsChanges: Bool
    /// The indexes that may lack entries of existing rows.
    private let incomplete: Set<UInt32>
    /// Indicates that some index is being built or checked.
    let hasIndexWork: Bool
    private let dictionaries: DictionaryList
    private let contexts = RowContextPool()
    /// The newest snapshot known to have this generation. Further reads of it skip the check.
    private let knownSnapshot = Atomic(0)
    /// The last entry that was evicted where mirrors have many: the search continues there.
    let evictionStart = Atomic<UInt64>(0)

    /// The settings of a generation, from the table `meta`.
    struct Settings {
        var format: Int
        var catalog: Catalog
        var generation: UInt64
        var dictionaries = DictionaryList([])
        var changeOptions = ChangeOptions()
        var features: Set<StoreFeature> = []
        var marks: [UInt32: IndexMark] = [:]
    }

    /// The open tables: the fixed ones by name, the others by the id of the entity or the index.
    struct Tables {
        var fixed: [String: Table]
        var records: [UInt16: Table] = [:]
        var indexes: [UInt32: Table] = [:]
    }

    init(_ settings: Settings, _ tables: Tables, verification: RowVerification) throws(StoreError) {
        let format = settings.format, fixed = tables.fixed
        var catalog = settings.catalog
        catalog.knowRelationships()
        func table(_ name: String) throws(StoreError) -> Table {
            guard let table = fixed[name] else {
                throw .damagedCatalog(path: "", detail: "the table \(name) is missing")
            }
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
        outbox = fixed[TableName.outbox]
        outboxSchema = OutboxSchema(catalog)
        bodies = fixed[TableName.bodies].map { ChecksummedTable($0, "bodies", format: format) }
        dictionaries = settings.dictionaries
        changeOptions = settings.changeOptions.resolved(catalog)
        features = settings.features
        packsDirectories = features.contains(.packedDirectories)
        groupsChanges = features.contains(.groupedChanges)
        incomplete = Set(settings.marks.filter { $0.value.phase == .building }.keys)
        hasIndexWork = !settings.marks.isEmpty
        generation = settings.generation
        meta = .meta(try table(TableName.meta), format: format)
        requests = ChecksummedTable(try table(TableName.requests), "requests", format: format)
        responses = try table(TableName.responses)
        urls = try table(TableName.urls)
        members = try table(TableName.members)
        changes = ChecksummedTable(try table(TableName.changes), "changes", format: format)
        checkpoints = try table(TableName.checkpoints)
        let byID = Dictionary(
            catalog.entities.map { ($0.id, EntityRules($0, catalog)) }, uniquingKeysWith: { first, _ in first })
        rules = (0...Int(byID.keys.max() ?? 0)).map { byID[UInt16($0)] }
        records = (0...Int(tables.records.keys.max() ?? 0)).map { tables.records[UInt16($0)] }
        indexes = (0...Int(tables.indexes.keys.max() ?? 0)).map { tables.indexes[UInt32($0)] }
    }

    /// Indicates that the store lacks tables that were added after its creation.
    var lacksTables: Bool { edges == nil || scans == nil || local == nil || bodies == nil }

    func edgeTable() throws(StoreError) -> ChecksummedTable { try StoreState.table(edges, TableName.edges) }
    func scanTable() throws(StoreError) -> ChecksummedTable { try StoreState.table(scans, TableName.scans) }
    func localTable() throws(StoreError) -> Table { try StoreState.table(local, TableName.local) }
    func outboxTable() throws(StoreError) -> Table { try StoreState.table(outbox, TableName.outbox) }

    private static func table<Found>(_ table: Found?, _ name: String) throws(StoreError) -> Found {
        guard let table else { throw .damagedCatalog(path: "", detail: "the table \(name) is missing") }
        return table
    }

    /// Returns whether a snapshot has this generation.
    func isCurrent(in raw: RawTransaction) throws(LMDBError) -> Bool {
        let snapshot = raw.id
        if knownSnapshot.load(ordering: .relaxed) == snapshot { return true }
        guard try raw.isAtGeneration(generation, meta) else { return false }
        knownSnapshot.store(snapshot, ordering: .relaxed)
        return true
    }

    /// Returns a dictionary by id, for decompression. The state retains it.
    func dictionary(_ id: UInt16) -> Unmanaged<RowDictionary>? { dictionaries[id] }

    /// Returns the dictionary with which new rows of a root entity are compressed.
    func currentDictionary(ofRoot root: UInt16) -> RowDictionary? { dictionaries.current(of: root) }

    /// Returns the dictionary for new rows. Nil also if the entity is not compressed.
    func currentDictionary(of entity: Catalog.Entity) -> RowDictionary? {
        !entity.isCompressed ? nil : dictionaries.current(of: entity.root)
    }

    /// Takes a context for compressed rows, which must be given back.
    /// Nil if the store has no dictionaries.
    func takeContext() -> RowContext? { dictionaries.isEmpty ? nil : contexts.take() }

    func give(back context: RowContext?) { if let context { contexts.give(back: context) } }

    /// Returns the rules for writing records of an entity.
    func rules(of entity: UInt16) throws(StoreError) -> EntityRules {
        guard Int(entity) < rules.count, let rules = rules[Int(entity)] else {
            throw .damagedCatalog(path: "", detail: "the entity \(entity) is missing")
        }
        return rules
    }

    /// Returns an index with the rules of the topmost entity that has it.
    /// Nil for the index of the members of an entity.
    func rules(forIndex id: UInt32) -> (EntityRules, CompiledIndex)? {
        for case let rules? in rules {
            if let index = rules.indexes.first(where: { $0.id == id }) { return (rules, index) }
        }
        return nil
    }

    /// Returns the table of a root entity's rows.
    func records(of entity: UInt16) throws(StoreError) -> Table {
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

    /// Returns whether an index has the entries of all records, so that queries may use it.
    /// Writers maintain incomplete indexes, too.
    ///
    /// Indexes of references and of entity members are always complete: no row can have had the
    /// field, or belonged to the entity, before the index existed. Indexes of attributes and
    /// declared indexes contain an entry for every row, for a null one as well.
    func isComplete(_ index: UInt32) -> Bool { incomplete.isEmpty || !incomplete.contains(index) }

    package func entity(_ name: String) throws(StoreError) -> Catalog.Entity {
        guard let entity = catalog.entity(name) else {
            throw .unknownEntity(name: name, known: catalog.entities.map(\.name))
        }
        return entity
    }
}
