// The store's own rows: local marks, the outbox, responses and the progress of mirrors.

import TarnStore

extension Salvage {
    func takeLocalMarks() throws {
        try restoring(TableName.local) { restore in
            try file.forEach(in: TableName.local) { key, value in
                guard EncodedRow.hasValidChecksum(value, table: 0, key: key), key.count > 2,
                    EncodedRow(value).flatMap({ LocalMark($0) }) != nil
                else {
                    return report.lose("mark \(file.describe(key))", "unreadable, or the checksum is wrong")
                }
                report.localChanges += 1
                try restore(key, value)
            }
        }
    }

    /// Copies the readable entries of the outbox. Its index entries are made anew.
    func takeOutbox() throws {
        var audit = OutboxAudit(OutboxSchema(file.catalog)), hasEntries = false
        try restoring(TableName.outbox) { restore in
            try file.forEach(in: TableName.outbox) { key, value in
                // Index entries have no value, and follow from the others.
                if value.isEmpty { return }
                guard audit.add(key, value) == .sound else {
                    return report.lose(
                        "outbox \(OutboxEntryKey.describe(key))", "unreadable, or the checksum is wrong")
                }
                hasEntries = true
                try restore(key, value)
            }
        }
        report.operations = audit.counts.total
        if hasEntries { try store.write { try $0.repairOutbox() } }
    }

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
            // Cached bodies can be fetched again.
            for entry in responses
            where try entry.caching?.bodySize == nil && entry.listing.listed.allSatisfy({ try writer.has($0) }) {
                try writer.putResponse(entry)
                count += 1
            }
            return count
        }
    }
}
