package import LMDB
import Synchronization

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
