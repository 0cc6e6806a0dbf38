import TarnStore

/// A salvage in progress.
final class Salvage {
    let file: StoreFile
    let store: StoreRestoration
    var report = SalvageReport()
    let outboxSchema: OutboxSchema
    /// The check of the outbox's entries that the new store has.
    var outbox: OutboxAudit
    /// The operations that index entries name, and that no tree has.
    var lostOperations: [LostOperation] = []
    private var counts: [UInt16: Int] = [:]
    private var highestVersion: UInt64 = 0
    /// The rows to be written with the next batch.
    private var waiting: [Row] = []
    private var waitingBytes = 0
    /// The rows of a transaction, in bytes.
    static let batchBytes = 4 << 20

    private struct Row {
        var entity: UInt16
        var key: [UInt8]
        var body: [UInt8]
        var isWide: Bool, isPartial: Bool
        var origin: RowOrigin
        var version: UInt64
    }

    /// The kind of page that a row is from.
    enum RowOrigin {
        case tree
        /// A page of the newest commit that no tree reaches.
        case lostPage
        /// A page that no tree reaches, and that may be of an older commit.
        case oldPage
    }

    init(_ file: StoreFile, to new: String) throws {
        self.file = file
        // Every table with rows is scanned.
        file.notesLookUps = false
        outboxSchema = OutboxSchema(file.catalog)
        outbox = OutboxAudit(outboxSchema)
        let carried = [MetaKey.quota, MetaKey.changeRetention, MetaKey.changeValues].map { "\($0)" }
        var settings = file.settings.filter { name, value in
            carried.contains(name)
                || (name.hasPrefix(MetaKey.dictionaryPrefix)
                    && UInt16(name.dropFirst(MetaKey.dictionaryPrefix.count)).map(file.decoder.hasDictionary) == true)
        }
        // If `meta` is lost and dictionaries were found, their counter is derived from them.
        let dictionaries = settings.keys.compactMap { UInt64($0.dropFirst(MetaKey.dictionaryPrefix.count)) }
        let counter = max(dictionaries.max() ?? 0, file.number(MetaKey.nextDictionary) ?? 0)
        settings["\(MetaKey.nextDictionary)"] = withUnsafeBytes(of: counter.bigEndian) { Array($0) }
        // The responses of the new store stay usable.
        settings["\(MetaKey.responseOrigin)"] = Salvage.responseOrigin(file)
        store = try StoreRestoration(
            at: new, catalog: file.catalog,
            settings: settings.sorted { $0.key < $1.key }.map { (Array($0.key.utf8), $0.value) })
    }

    func run() throws -> SalvageReport {
        if file.isCatalogDoubtful {
            report.lose(
                "meta",
                "the checksum of the catalog is wrong, and there is no other copy: a name, a type or an enum value may be wrong"
            )
        }
        report.hasFoundTrees = file.snapshot.isFound
        noteLostSettings()
        try takeRows()
        for name in [TableName.edges, TableName.responses, TableName.checkpoints, TableName.scans] {
            file.forEach(in: name) { _, _ in }
        }
        try takeLocalMarks()
        try takeOutbox()
        if hasUnreachedRows { try takeRowsOfNoTree() }
        try finishOutbox()
        if report.lostCount > 0 { try reportLostLocalChanges() }
        for finding in file.findings.list where finding.code.isOfPages {
            report.lose(finding.place, finding.detail, isOfPages: true)
        }
        for code in file.findings.counts.keys.sorted() where code.isOfPages {
            let more = file.findings.countBeyondList(code)
            if more > 0 { report.lose(code.rawValue, "and \(more) more", isOfPages: true, count: more) }
        }
        if report.lostCount == 0 { try takeProgress() }
        // A checkpoint may be unreadable.
        if !report.hasProgress { try takeScans() }
        try takePositions()
        if report.lostCount > 0 { countMissing() }
        report.sequence = max(file.number(MetaKey.sequence) ?? 0, highestVersion)
        report.records = file.catalog.entities.map { ($0.name, counts[$0.id, default: 0]) }
        // Checked before the new store exists: it would mix several commits.
        try file.checkIsUnchanged()
        report.aloneBecause = file.aloneBecause
        try store.finish(sequence: report.sequence)
        return report
    }

    /// Compares the records of the new store with the numbers that the damaged tables declare.
    private func countMissing() {
        // A number for which the file has no room is damaged: an entry takes more than 16 bytes.
        let meta = file.snapshot.meta, entriesOfPage = UInt64(meta.pageSize / 16)
        for root in roots {
            guard let table = file.snapshot.tables[TableName.records(root.id)],
                table.entries / entriesOfPage <= meta.lastPage
            else { continue }
            let copied = file.catalog.entities.filter { $0.root == root.id }
                .reduce(0) { $0 + counts[$1.id, default: 0] }
            if table.entries > copied {
                let entries = Int(clamping: table.entries)
                report.missing.append((root.name, entries - copied, entries))
            }
        }
    }

    // MARK: - Rows

    private var roots: [Catalog.Entity] { file.catalog.entities.filter { $0.root == $0.id } }

    private func takeRows() throws {
        let names = Dictionary(roots.map { (TableName.records($0.id), $0.name) }) { first, _ in first }
        file.scan.lostValue = { [unowned self] key, table in
            guard let name = names[table] else { return }
            report.lose("\(name) \(file.describe(key))", "its value is unreadable")
        }
        defer { file.scan.lostValue = nil }
        for root in roots {
            let table = TableName.records(root.id)
            try file.forEach(in: table) { key, value in
                if let reason = try take(root, key, value) { report.lose("\(root.name) \(file.describe(key))", reason) }
            }
            if file.snapshot.tables[table] == nil {
                report.lose(table, "the table of \(root.name) is missing", isOfPages: true)
            }
        }
        try flush()
    }

    /// Whether rows may be on pages that no tree reaches.
    ///
    /// If the trees were found without a meta page and are whole, such pages are old ones.
    private var hasUnreachedRows: Bool {
        file.findings.list.contains { $0.code.isOfPages && $0.code != .noMeta }
            || roots.contains { file.snapshot.tables[TableName.records($0.id)] == nil }
            || report.mayLackLocalChanges
    }

    /// Reads a row and queues it for writing.
    ///
    /// - Returns: The reason why it is unreadable; nil if it was queued.
    func take(
        _ root: Catalog.Entity, _ key: Bytes, _ value: Bytes, from origin: RowOrigin = .tree
    ) throws -> String? {
        guard EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key) else {
            return value.count < RowFormat.headerSize ? "not a row" : "the checksum is wrong"
        }
        let reason: String? = try file.decoder.lending {
            let row: EncodedRow
            do throws(RowDecoder.Failure) {
                row = try file.decoder.view(value)
            } catch .noDictionary(let id) {
                return "its dictionary \(id) is missing or damaged"
            } catch {
                return "not a row"
            }
            guard let entity = file.entity(of: row, root: root.id) else {
                return "unknown entity \(row.entity)"
            }
            guard row.body.isWellFormed else { return "its fields are inconsistent" }
            if let id = file.dictionaryOfInvalidJSON(row, stored: value) { return StoreFile.invalidJSON(id) }
            guard key.count > 0, key.count <= StorageKey.digestLength else { return "its key is too long" }
            try wait(entity, key, row, origin)
            return nil
        }
        if waitingBytes > Salvage.batchBytes { try flush() }
        return reason
    }

    private func wait(_ entity: Catalog.Entity, _ key: Bytes, _ row: EncodedRow, _ origin: RowOrigin) throws {
        let expanded = try file.expandingLongLists(row.body)
        if let expanded, !expanded.isWhole {
            report.lose(
                "\(entity.name) \(file.describe(key))", "a long list is incomplete; the readable part was copied"
            )
        }
        let body = expanded?.bytes ?? Array(row.body.bytes)
        waiting.append(
            Row(
                entity: entity.id, key: Array(key), body: body, isWide: expanded?.isWide ?? row.body.isWide,
                isPartial: row.isPartial, origin: origin, version: row.version))
        waitingBytes += body.count + key.count
        highestVersion = max(highestVersion, row.version)
        counts[entity.id, default: 0] += 1
    }

    /// The first row of each record. Entities that are stored apart may have records of one key.
    private func places(of rows: [Row]) -> [ListedRecord: Int] {
        let roots = Dictionary(file.catalog.entities.map { ($0.id, $0.root) }) { first, _ in first }
        return Dictionary(
            rows.enumerated().map { position, row in
                (ListedRecord(entity: roots[row.entity] ?? row.entity, storageKey: row.key), position)
            }
        ) { first, _ in first }
    }

    func flush() throws {
        let rows = waiting, catalog = file.catalog
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
        guard !rows.isEmpty else { return }
        let (dropped, double, found) = try store.write { writer -> ([DroppedRecord], [UInt16], [RowOrigin]) in
            // If a page has replaced another one, a record occurs twice: the newer row stays.
            var double: [UInt16] = [], found: [RowOrigin] = []
            for row in rows {
                guard let entity = catalog.entity(id: row.entity) else { continue }
                try row.key.withUnsafeBytes { key in
                    try row.body.withUnsafeBytes { bytes in
                        guard let body = RowBody(bytes, isWide: row.isWide),
                            try !writer.restore(entity, key, body, isPartial: row.isPartial, version: row.version)
                        else {
                            if row.origin != .tree { found.append(row.origin) }
                            return
                        }
                        double.append(row.entity)
                    }
                }
            }
            return (try writer.dropDuplicates(), double, found)
        }
        report.found += found.count
        if found.contains(.oldPage) { report.mayBeOld = true }
        for entity in double { counts[entity, default: 1] -= 1 }
        let places = dropped.isEmpty ? [:] : places(of: rows)
        for record in dropped {
            let root = catalog.entity(id: record.entity)?.root ?? record.entity
            let row = places[ListedRecord(entity: root, storageKey: record.storageKey)].map { rows[$0] }
            counts[row?.entity ?? record.entity, default: 1] -= 1
            if let row, row.origin != .tree { report.found -= 1 }
            let name = catalog.entity(id: record.entity)?.name ?? "?"
            func key(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { file.describe($0) } }
            report.lose(
                "\(name) \(key(record.storageKey))",
                "\(name) \(key(record.holder)) has the same \(record.index), which must be unique")
        }
    }
}
