// The check of a store, table by table; the pages are checked with their tables.

import TarnStore

/// The state of a check. For one run on one file.
final class StoreCheck {
    let file: StoreFile
    /// The comparisons that were impossible because one side is unreadable.
    var notCompared: [String] = []
    var freePages = 0
    var indexEntries = 0, responseCount = 0, changeCount = 0
    /// The entries that each index must have, derived from the rows.
    var expected = IndexEntrySets()
    /// The root entities with unreadable rows.
    var incompleteRoots: Set<UInt16> = []
    /// The highest version of a row or a change.
    var highestVersion: UInt64 = 0
    var highestList: UInt64 = 0
    /// The long lists that rows refer to: their ids and their numbers of references.
    var lists: [UInt64: UInt32] = [:]

    /// The readable rows that the change log must name, with their versions.
    var versions = VersionSet()
    /// The commit up to which changes were trimmed.
    let trimmedChanges: UInt64
    /// The most records whose newest changes are in memory at a time: about 30 MB. A longer log is
    /// compared part by part.
    var comparedNames = 750_000
    var checkedEntities: [UInt16: CheckedEntity] = [:]
    var lastEntity: CheckedEntity?
    /// For each root entity the leaf that had the record that was last looked up.
    var lastLeaves: [UInt16: PageBytes] = [:]

    init(_ file: StoreFile) {
        self.file = file
        // Every table is scanned.
        file.notesLookUps = false
        trimmedChanges = file.number(MetaKey.trimmedChanges) ?? 0
    }

    var findings: Findings { file.findings }
    var catalog: Catalog { file.catalog }

    func run() throws {
        if let problem = file.formatProblem {
            findings.add(problem.code, problem.place, problem.detail)
        } else {
            try checkRows()
            checkLists()
            try checkIndexes()
            try checkResponses()
            try checkChanges()
            checkSmallTables()
        }
        checkRest()
    }

    func checkSmallTables() {
        checkProgress()
        checkOutbox()
        checkSettings()
    }

    /// Checks the tables that the catalog does not know, and the free list.
    func checkRest() {
        checkOtherTables()
        freePages = file.checkFreePages().free
    }

    /// Checks the pages of tables that the catalog does not know.
    private func checkOtherTables() {
        for name in file.snapshot.names where file.counts[name] == nil {
            var count = 0
            file.forEachEntry(inAnyTable: name) { _, _ in count += 1 }
            // The tables of removed entities and indexes, and reserved ones, are empty.
            let isKnown = file.formatProblem != nil || TableName.all.contains(name)
            if count > 0, !isKnown {
                let entries = count == 1 ? "1 entry" : "\(count) entries"
                findings.add(.tableUnknown, name, "the table has \(entries), but is not in the catalog")
            }
        }
    }

    /// Checks the entries of `meta` other than the catalog and the dictionaries.
    private func checkSettings() {
        for key in [MetaKey.generation, MetaKey.sequence] where file.number(key) == nil {
            findings.add(.setting, "meta \(key)", "missing, or not a number")
        }
        let isCounted = file.format >= ChecksummedTable.firstFormat
        for key in MetaKey.counters
        where isCounted && file.number(key) == nil && key.description != MetaKey.generation.description {
            findings.add(.counter, "meta \(key)", "missing, or not a number")
        }
        if file.text(MetaKey.incarnation)?.utf8.count != 36 {
            findings.add(.setting, "meta \(MetaKey.incarnation)", "missing, or not a UUID")
        }
        for name in TableName.all where file.snapshot.tables[name] == nil {
            // An older store gets these tables when it is opened for writing.
            guard ![TableName.edges, TableName.scans, TableName.local].contains(name) else { continue }
            findings.add(.tableMissing, name, "missing table")
        }
        checkCounters()
        checkCatalog()
    }

    private func checkCounters() {
        func check(_ key: StaticString, _ highest: UInt64, _ what: String) {
            let counter = file.number(key) ?? 0
            if counter < highest {
                findings.add(.counter, "meta \(key)", "the counter is at \(counter), but \(what) \(highest) exists")
            }
        }
        check(MetaKey.sequence, highestVersion, "a row or a change of commit")
        check(MetaKey.nextList, highestList, "the list")
        let dictionaries = file.settings.keys.compactMap { name in
            name.hasPrefix(MetaKey.dictionaryPrefix) ? UInt64(name.dropFirst(MetaKey.dictionaryPrefix.count)) : nil
        }
        check(MetaKey.nextDictionary, dictionaries.max() ?? 0, "the dictionary")
        check(MetaKey.sequence, file.number(MetaKey.trimmedChanges) ?? 0, "a trim of changes up to commit")
    }

    private func checkCatalog() {
        if let id = catalog.entities.map(\.id).max(), id >= catalog.nextEntity {
            findings.add(
                .catalog, "catalog",
                "the next entity would get the id \(catalog.nextEntity), but an entity has the id \(id)")
        }
        if let id = catalog.indexIDs.last, id >= catalog.nextIndex {
            findings.add(
                .catalog, "catalog",
                "the next index would get the id \(catalog.nextIndex), but an index has the id \(id)"
            )
        }
        for entity in catalog.entities {
            guard let root = catalog.entity(id: entity.root) else { continue }
            if let id = entity.fields.map(\.id).max(), id >= root.nextField {
                findings.add(
                    .catalog, "catalog \(entity.name)",
                    "the next field would get the id \(root.nextField), but a field has the id \(id)")
            }
            for field in entity.fields {
                if case .reference(let reference) = field.kind, catalog.entity(id: reference.destination) == nil {
                    findings.add(
                        .catalog, "catalog \(entity.name).\(field.name)",
                        "it refers to the entity \(reference.destination), which does not exist")
                }
            }
        }
        for (id, _) in file.marks where !catalog.indexIDs.contains(id) {
            findings.add(.setting, "meta index \(id)", "unknown index")
        }
    }

    /// Returns whether all rows of a root entity are readable.
    func hasAllRows(_ root: UInt16) -> Bool { !incompleteRoots.contains(root) }
}
