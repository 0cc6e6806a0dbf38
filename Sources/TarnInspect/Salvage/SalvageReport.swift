// The salvage of every readable row of a damaged store into a new one.

import Foundation
import TarnStore

/// The result of a salvage: the contents of the new store, and the losses.
public struct SalvageReport: Sendable {
    /// The number of records of the new store by entity, in catalog order.
    public internal(set) var records: [(entity: String, count: Int)] = []
    /// The number of records that were found on pages outside all trees, by their checksums.
    public internal(set) var found = 0
    /// Whether found records may be outdated or deleted.
    ///
    /// Without a readable free list, old pages cannot be distinguished.
    public internal(set) var mayBeOld = false
    /// The unreadable rows and pages, at most the first thousand.
    public internal(set) var lost: [StoreInspector.Damage] = []
    /// The total number of unreadable rows and pages.
    public internal(set) var lostCount = 0
    /// Whether the new store has the responses and the progress of mirrors.
    ///
    /// They are copied only if nothing was lost. Otherwise the next sync fetches everything again
    /// and restores what is missing.
    public internal(set) var hasProgress = false
    /// The number of stored responses in the new store.
    public internal(set) var responses = 0
    /// The number of marks of records that were changed locally and not yet sent to the server.
    public internal(set) var localChanges = 0
    /// The number of operations of the outbox: local changes that wait to be sent.
    public internal(set) var operations = 0
    /// The reason why no read transaction held the damaged file; nil if one did.
    public internal(set) var aloneBecause: String?
    /// The commit sequence of the new store.
    public internal(set) var sequence: UInt64 = 0

    mutating func lose(_ place: String, _ reason: String, isOfPages: Bool = false) {
        lostCount += 1
        if lost.count < 1000 { lost.append(StoreInspector.Damage(place: place, reason: reason, isOfPages: isOfPages)) }
    }
}

extension StoreInspector {
    /// Copies every readable row of a damaged store into a new store.
    ///
    /// The new store must not exist before and is complete when this returns. The damaged store is
    /// only read. Records keep their keys, values and versions. Indexes are rebuilt, the change log
    /// starts anew, and the new store has an incarnation of its own.
    ///
    /// - Parameters:
    ///   - new: A path at which no file or directory exists.
    ///   - progress: A closure that is called with every page read.
    /// - Throws: `StoreOpenError.noSuchStore`, `.newerFormat`; `.notAStore` and
    ///   `StoreError.damagedCatalog` if nothing describes the rows;
    ///   `StoreMaintenanceError.destinationExists`; `.changedMeanwhile` if no transaction held the
    ///   file and commits were made meanwhile, in which case no store is created; errors of
    ///   writing.
    public func salvage(to new: String, progress: ((Progress) -> Void)? = nil) throws -> SalvageReport {
        var status = stat()
        guard lstat(new, &status) != 0 else { throw StoreMaintenanceError.destinationExists(path: new) }
        return try open(progress: progress) { file in
            if let problem = file.formatProblem, problem.code == .newerFormat {
                throw StoreOpenError.newerFormat(path: path, found: file.format, known: Store.format)
            }
            if !file.hasCatalog { file.lookForSettings() }
            guard file.hasCatalog else {
                throw StoreError.damagedCatalog(
                    path: path, detail: "no readable copy was found; restore a backup, or mirror again")
            }
            let salvage = try Salvage(file, to: new)
            do {
                return try salvage.run()
            } catch {
                salvage.store.abandon()
                throw error
            }
        }
    }
}

/// A salvage in progress.
private final class Salvage {
    let file: StoreFile
    let store: StoreRestoration
    private var report = SalvageReport()
    private var counts: [UInt16: Int] = [:]
    private var highestVersion: UInt64 = 0
    /// The rows to be written with the next batch.
    private var waiting: [Row] = []
    private var waitingBytes = 0
    private static let batchBytes = 8 << 20

    private struct Row {
        var entity: UInt16
        var key: [UInt8]
        var body: [UInt8]
        var isWide: Bool, isPartial: Bool
        var version: UInt64
    }

    init(_ file: StoreFile, to new: String) throws {
        self.file = file
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
        for root in file.catalog.entities where root.root == root.id {
            let table = TableName.records(root.id)
            try file.forEach(in: table) { key, value in
                if let reason = try take(root, key, value) { report.lose("\(root.name) \(file.describe(key))", reason) }
            }
            if file.snapshot.tables[table] == nil {
                report.lose(table, "the table of \(root.name) is missing", isOfPages: true)
            }
        }
        try flush()
        for name in [TableName.edges, TableName.responses, TableName.checkpoints, TableName.scans] {
            file.forEach(in: name) { _, _ in }
        }
        try takeLocalMarks()
        try takeOutbox()
        if file.findings.list.contains(where: { $0.code.isOfPages }) { try takeRowsOfNoTree() }
        for finding in file.findings.list where finding.code.isOfPages {
            report.lose(finding.place, finding.detail, isOfPages: true)
        }
        if report.lostCount == 0 { try takeProgress() }
        report.sequence = max(file.number(MetaKey.sequence) ?? 0, highestVersion)
        report.records = file.catalog.entities.map { ($0.name, counts[$0.id, default: 0]) }
        // Checked before the new store exists: it would mix several commits.
        try file.checkIsUnchanged()
        report.aloneBecause = file.aloneBecause
        try store.finish(sequence: report.sequence)
        return report
    }

    // MARK: - Rows

    /// Reads a row and queues it for writing.
    ///
    /// - Returns: The reason why it is unreadable; nil if it was queued.
    private func take(_ root: Catalog.Entity, _ key: Bytes, _ value: Bytes) throws -> String? {
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
            guard key.count > 0, key.count <= StorageKey.digestLength else { return "its key is too long" }
            try wait(entity, key, row)
            return nil
        }
        if waitingBytes > Salvage.batchBytes { try flush() }
        return reason
    }

    private func wait(_ entity: Catalog.Entity, _ key: Bytes, _ row: EncodedRow) throws {
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
                isPartial: row.isPartial,
                version: row.version))
        waitingBytes += body.count + key.count
        highestVersion = max(highestVersion, row.version)
        counts[entity.id, default: 0] += 1
    }

    private func flush() throws {
        let rows = waiting, catalog = file.catalog
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
        guard !rows.isEmpty else { return }
        let (dropped, double) = try store.write { writer -> ([DroppedRecord], [UInt16]) in
            // If a page has replaced another one, a record occurs twice.
            var double: [UInt16] = []
            for row in rows {
                guard let entity = catalog.entity(id: row.entity) else { continue }
                try row.key.withUnsafeBytes { key in
                    try row.body.withUnsafeBytes { bytes in
                        guard let body = RowBody(bytes, isWide: row.isWide),
                            try !writer.restore(entity, key, body, isPartial: row.isPartial, version: row.version)
                        else { return }
                        double.append(row.entity)
                    }
                }
            }
            return (try writer.dropDuplicates(), double)
        }
        for entity in double { counts[entity, default: 1] -= 1 }
        for record in dropped {
            let entity = rows.first { $0.key == record.storageKey }?.entity ?? record.entity
            counts[entity, default: 1] -= 1
            let name = catalog.entity(id: record.entity)?.name ?? "?"
            func key(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { file.describe($0) } }
            report.lose(
                "\(name) \(key(record.storageKey))",
                "\(name) \(key(record.holder)) has the same \(record.index), which must be unique")
        }
    }

    // MARK: - Rows outside all trees

    /// Salvages rows on pages that a damaged branch no longer reaches, identified by checksum.
    private func takeRowsOfNoTree() throws {
        let roots = file.catalog.entities.filter { $0.root == $0.id }
        let (pages, isCertain) = file.pagesOfNobody()
        var newest: [ListedRecord: (version: UInt64, page: UInt64, node: Int)] = [:]
        for page in pages {
            file.forEachNode(ofLeaf: page) { node, key, value in
                guard value.count >= RowFormat.headerSize, value[0] == RowFormat.version,
                    key.count <= StorageKey.digestLength,
                    let entity = file.catalog.entity(id: value.load(6)),
                    let root = roots.first(where: { $0.id == entity.root }),
                    EncodedRow.hasValidChecksum(value, table: UInt32(root.id), key: key)
                else { return }
                let record = ListedRecord(entity: root.id, storageKey: Array(key)),
                    version = value.load(12, UInt64.self)
                if let known = newest[record], known.version >= version { return }
                newest[record] = (version, page, node)
            }
        }
        guard !newest.isEmpty else { return }
        let known = try store.write { writer in try Set(newest.keys.filter { try writer.has($0) }) }
        // Sorted by page, so that each page is read once.
        let missing = newest.filter { !known.contains($0.key) }.sorted {
            ($0.value.page, $0.value.node) < ($1.value.page, $1.value.node)
        }
        for (record, place) in missing {
            guard let root = roots.first(where: { $0.id == record.entity }) else { continue }
            try file.withNode(place.node, ofLeaf: place.page) { key, value in
                if let reason = try take(root, key, value) {
                    return report.lose("\(root.name) \(file.describe(key))", reason)
                }
                report.found += 1
            }
        }
        report.mayBeOld = !isCertain && report.found > 0
        try flush()
    }

    // MARK: - Local marks and progress

    private func takeLocalMarks() throws {
        var marks: [([UInt8], [UInt8])] = []
        file.forEach(in: TableName.local) { key, value in
            guard EncodedRow.hasValidChecksum(value, table: 0, key: key), key.count > 2,
                EncodedRow(value).flatMap({ LocalMark($0) }) != nil
            else {
                return report.lose("mark \(file.describe(key))", "unreadable, or the checksum is wrong")
            }
            marks.append((Array(key), Array(value)))
        }
        report.localChanges = marks.count
        try restore(marks, TableName.local)
    }

    /// Copies the readable entries of the outbox. Its index entries are made anew.
    private func takeOutbox() throws {
        var audit = OutboxAudit(OutboxSchema(file.catalog)), entries: [([UInt8], [UInt8])] = []
        file.forEach(in: TableName.outbox) { key, value in
            // Index entries have no value, and follow from the others.
            if value.isEmpty { return }
            guard audit.add(key, value) == .sound else {
                return report.lose(
                    "outbox \(OutboxEntryKey.describe(key))", "unreadable, or the checksum is wrong")
            }
            entries.append((Array(key), Array(value)))
        }
        report.operations = audit.counts.total
        guard !entries.isEmpty else { return }
        try restore(entries, TableName.outbox)
        try store.write { try $0.repairOutbox() }
    }

    private func restore(_ rows: [([UInt8], [UInt8])], _ table: String) throws {
        guard !rows.isEmpty else { return }
        try store.write { writer in
            for (key, value) in rows {
                try key.withUnsafeBytes { key in try value.withUnsafeBytes { try writer.restore(table, key, $0) } }
            }
        }
    }

    /// Copies responses and progress, which are valid only if nothing is missing.
    private func takeProgress() throws {
        var responses: [ResponseEntry] = [], checkpoints: [([UInt8], [UInt8])] = [], scans: [([UInt8], [UInt8])] = [],
            isSound = true
        func isWhole(_ key: Bytes, _ value: Bytes) -> EncodedRow? {
            EncodedRow.hasValidChecksum(value, table: 0, key: key) ? EncodedRow(value) : nil
        }
        file.again(TableName.responses) { key, value in
            if let entry = isWhole(key, value).flatMap({ ResponseEntry($0) }) { responses.append(entry) }
        }
        file.again(TableName.checkpoints) { key, value in
            guard isWhole(key, value).flatMap({ Checkpoint($0) }) != nil else { return isSound = false }
            checkpoints.append((Array(key), Array(value)))
        }
        file.again(TableName.scans) { key, value in
            guard ScanMember(key, value) != nil else { return isSound = false }
            scans.append((Array(key), Array(value)))
        }
        guard isSound else { return }
        report.responses = try store.write { writer in
            var count = 0
            // Cached bodies can be fetched again.
            for entry in responses
            where try entry.caching?.bodySize == nil && entry.listing.listed.allSatisfy({ try writer.has($0) }) {
                try writer.putResponse(entry)
                count += 1
            }
            return count
        }
        try restore(checkpoints, TableName.checkpoints)
        try restore(scans, TableName.scans)
        report.hasProgress = true
    }
}
