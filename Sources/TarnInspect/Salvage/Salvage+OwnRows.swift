// The store's own rows: local marks, the outbox, responses and the progress of mirrors.

import TarnStore

extension Salvage {
    func takeLocalMarks() throws {
        try restoring(TableName.local) { restore in
            let isWhole = try file.forEach(in: TableName.local) { key, value in
                guard isMark(key, value) else {
                    return loseOwnRow("mark \(file.describe(key))", "unreadable, or the checksum is wrong")
                }
                report.localChanges += 1
                try restore(key, value)
            }
            check(TableName.local, "marks of local changes", isWhole)
        }
    }

    private func isMark(_ key: Bytes, _ value: Bytes) -> Bool {
        EncodedRow.hasValidChecksum(value, table: 0, key: key) && key.count > 2
            && EncodedRow(value).flatMap { LocalMark($0) } != nil
    }

    /// Copies the readable entries of the outbox.
    func takeOutbox() throws {
        var known: Set<UInt64> = [], lost: Set<UInt64> = [], names: [[UInt8]] = []
        defer { lostOperations = LostOperation.all(lost, namedBy: names) }
        try restoring(TableName.outbox) { restore in
            let isWhole = try file.forEach(in: TableName.outbox) { key, value in
                // Index entries have no value, and follow from the others, which precede them.
                if value.isEmpty {
                    guard let id = OutboxEntryKey.operationID(ofIndexEntry: key), !known.contains(id) else { return }
                    lost.insert(id)
                    return names.append(Array(key))
                }
                guard outbox.add(key, value) == .sound else {
                    return loseOwnRow(
                        "outbox \(OutboxEntryKey.describe(key))", "unreadable, or the checksum is wrong")
                }
                if let id = OutboxEntryKey.operationID(key) { known.insert(id) }
                try restore(key, value)
            }
            check(TableName.outbox, "operations that wait to be sent", isWhole)
        }
    }

    /// Makes the index entries and the counters of the outbox anew.
    func finishOutbox() throws {
        report.operations = outbox.counts.total
        if outbox.hasEntries { try store.write { try $0.repairOutbox() } }
        guard !lostOperations.isEmpty else { return }
        let lost = lostOperations
        let restored = try store.write { try $0.settle(lost) }
        report.localChanges -= restored
        guard restored > 0, report.lostCount == 0 else { return }
        // With responses and progress, the next sync would not bring the records back.
        loseOwnRow("outbox", "operations are missing that its index entries name")
    }

    /// Reports the marks whose record the new store lacks: its local values are lost.
    func reportLostLocalChanges() throws {
        var marks: [(record: ListedRecord, fields: String)] = []
        file.again(TableName.local) { key, value in
            guard isMark(key, value), let mark = EncodedRow(value).flatMap({ LocalMark($0) }),
                let fields = mark.changedFields(file.catalog)
            else { return }
            let record = ListedRecord(entity: key.loadBigEndian(0, UInt16.self), storageKey: Array(key.dropFirst(2)))
            marks.append((record, fields))
        }
        guard !marks.isEmpty else { return }
        let lost = try store.write { writer in try marks.filter { try !writer.has($0.record) } }
        for (record, fields) in lost {
            let name = file.catalog.entity(id: record.entity)?.name ?? "?"
            let key = record.storageKey.withUnsafeBytes { file.describe($0) }
            report.lostLocalChanges.append("\(name) \(key) (\(fields))")
        }
        guard !lost.isEmpty else { return }
        report.mayLackLocalChanges = true
        let removed = try store.write { writer in
            try lost.count { try writer.removeMarkOfLostRow($0.record) }
        }
        report.localChanges -= removed
    }

    private func loseOwnRow(_ place: String, _ reason: String) {
        report.lose(place, reason)
        report.mayLackLocalChanges = true
    }

    /// Notes that a table of local changes is missing or incomplete.
    private func check(_ table: String, _ content: String, _ isWhole: Bool) {
        if file.snapshot.tables[table] != nil {
            if !isWhole { report.mayLackLocalChanges = true }
        } else if table != TableName.local || mayHaveLostTables {
            report.lose(table, "the table of \(content) is missing", isOfPages: true)
            report.mayLackLocalChanges = true
        }
    }

    /// Whether a table that a store need not have may have existed.
    ///
    /// A table without a name that is known may be one whose name is damaged.
    private var mayHaveLostTables: Bool {
        file.findings.list.contains { $0.code.isOfPages && $0.code != .noMeta }
            || file.snapshot.names.contains {
                !TableName.all.contains($0) && !$0.hasPrefix("r/") && !$0.hasPrefix("i/")
            }
    }

    // MARK: - Pages of no tree

    /// Salvages the marks and the entries of the outbox on a page that no tree reaches.
    ///
    /// An outdated operation would be sent again, and an outdated mark would keep a value from
    /// being synced. Therefore rows that may be outdated are reported, and not salvaged.
    ///
    /// - Parameter isCertain: Whether such pages have rows of the newest commit only.
    func takeOwnRows(ofLostPage page: UInt64, isCertain: Bool) throws {
        var rows: [(table: String, key: [UInt8], value: [UInt8])] = []
        file.forEachLostNode(of: page) { key, value in
            guard let value, let table = ownTable(of: key, value) else { return }
            rows.append((table, Array(key), Array(value)))
        }
        guard !rows.isEmpty else { return }
        try store.write { writer in
            for row in rows {
                try row.key.withUnsafeBytes { key in
                    try row.value.withUnsafeBytes { value in
                        // The row that a tree leads to is the newest one.
                        guard try !writer.hasOwnRow(row.table, key) else { return }
                        guard isCertain else {
                            let name = row.table == TableName.local ? file.describe(key) : OutboxEntryKey.describe(key)
                            return loseOwnRow(
                                "\(row.table) \(name)",
                                "found on page \(page), which no tree reaches: it may be outdated")
                        }
                        try writer.restore(row.table, key, value)
                        if row.table == TableName.local {
                            report.localChanges += 1
                        } else {
                            _ = outbox.add(key, value)
                        }
                    }
                }
            }
        }
    }

    /// Returns the table of a row that is a mark or an entry of the outbox; nil for other rows.
    ///
    /// The checksum of a row of entity 0 does not cover its table, but the fields differ. Field 1
    /// is a number in the outbox's counters, bytes in an alias, and a text in the others:
    /// `underWay` or `complete` in a checkpoint. Field 3 is a date in a mark, bytes in an
    /// operation, and a text in a response.
    private func ownTable(of key: Bytes, _ value: Bytes) -> String? {
        guard value.count >= RowFormat.headerSize, value.load(6, UInt16.self) == 0 else { return nil }
        var probe = OutboxAudit(outboxSchema)
        if probe.add(key, value) == .sound { return TableName.outbox }
        guard isMark(key, value), let mark = EncodedRow(value).flatMap({ LocalMark($0) }),
            file.catalog.entity(id: mark.entity)?.root == key.loadBigEndian(0, UInt16.self)
        else { return nil }
        return TableName.local
    }

    // MARK: - Writing

    /// Writes rows of one table in transactions of limited size.
    private func restoring(
        _ table: String, _ body: (_ restore: (Bytes, Bytes) throws -> Void) throws -> Void
    ) throws {
        var rows: [([UInt8], [UInt8])] = [], bytes = 0
        try body { key, value in
            rows.append((Array(key), Array(value)))
            bytes += key.count + value.count
            guard bytes > Salvage.batchBytes else { return }
            try restore(rows, table)
            rows.removeAll(keepingCapacity: true)
            bytes = 0
        }
        try restore(rows, table)
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
    func takeProgress() throws {
        var isSound = true
        file.again(TableName.checkpoints) { key, value in
            if Salvage.whole(key, value).flatMap({ Checkpoint($0) }) == nil { isSound = false }
        }
        file.again(TableName.scans) { key, value in if ScanMember(key, value) == nil { isSound = false } }
        guard isSound else { return }
        try takeResponses()
        for table in [TableName.checkpoints, TableName.scans] {
            try restoring(table) { try file.again(table, $0) }
        }
        report.hasProgress = true
    }

    /// Copies what scans with an orphan rule have listed.
    ///
    /// Without it, the records that the server has deleted since would stay for ever: no later scan
    /// would know that they were listed. Each entry is true by itself.
    func takeScans() throws {
        try restoring(TableName.scans) { restore in
            try file.again(TableName.scans) { key, value in
                guard let member = ScanMember(key, value), file.catalog.entity(id: member.record.entity) != nil else {
                    return
                }
                try restore(key, value)
            }
        }
    }

    private func takeResponses() throws {
        var responses: [ResponseEntry] = [], bytes = 0
        try file.again(TableName.responses) { key, value in
            guard let entry = Salvage.whole(key, value).flatMap({ ResponseEntry($0) }) else { return }
            responses.append(entry)
            bytes += value.count
            guard bytes > Salvage.batchBytes else { return }
            try restore(responses)
            responses.removeAll(keepingCapacity: true)
            bytes = 0
        }
        try restore(responses)
    }

    private static func whole(_ key: Bytes, _ value: Bytes) -> EncodedRow? {
        EncodedRow.hasValidChecksum(value, table: 0, key: key) ? EncodedRow(value) : nil
    }

    private func restore(_ responses: [ResponseEntry]) throws {
        guard !responses.isEmpty else { return }
        report.responses += try store.write { writer in
            var count = 0
            // Cached bodies can be fetched again. Versions cannot, if the deletion is discarded.
            for entry in responses where entry.caching?.bodySize == nil {
                let mayListMissing = entry.mayListMissing
                let isWhole = try entry.listing.listed.allSatisfy { record in
                    try writer.has(record)
                        || mayListMissing && writer.catalog.entity(id: record.entity)?.root == record.entity
                }
                guard isWhole else { continue }
                try writer.putResponse(entry)
                count += 1
            }
            return count
        }
    }
}
