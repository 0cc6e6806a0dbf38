// The outbox of a file of unknown health.

import TarnStore

/// The operations of a file's outbox. For one thread.
///
/// Faults become findings of the file. A search reads a bounded number of entries.
final class FileOutbox: OutboxSource {
    let file: StoreFile
    let schema: OutboxSchema
    /// The number of entries that the current search may still read or look for.
    private var left = Int.max
    /// Whether the current search has read every entry that it needed.
    private var isWhole = true

    static let unreadable = "unreadable, or the checksum is wrong"

    init(_ file: StoreFile) {
        self.file = file
        schema = OutboxSchema(file.catalog)
    }

    var records: StoreFile { file }

    /// The numbers of operations by state; nil if they are unreadable.
    var counts: OutboxCounts? {
        OutboxEntryKey.counters.withUnsafeBytes { key in
            switch file.lookUp(key, in: TableName.outbox) {
            case .unreadable: return nil
            case .absent:
                // The first operation adds them.
                guard file.snapshot.tables[TableName.outbox]?.entries ?? 0 > 0 else { return OutboxCounts() }
                file.note(.outboxMissing, "outbox counters", "missing")
                return nil
            case .found(let value):
                let counters = value.withUnsafeBytes { FileOutbox.row(key, $0).flatMap { OutboxCounters($0) } }
                if counters == nil { file.note(.outboxForm, "outbox counters", FileOutbox.unreadable) }
                return counters?.counts
            }
        }
    }

    /// Runs a search that reads at most some entries.
    ///
    /// - Returns: The closure's result, and whether it rests on every entry that the search needed.
    func searching<Result>(most: Int, _ body: () throws -> Result) rethrows -> (result: Result, isWhole: Bool) {
        let outer = (left, isWhole)
        (left, isWhole) = (most, true)
        defer { (left, isWhole) = outer }
        let result = try body()
        return (result, isWhole)
    }

    private func mayRead() -> Bool {
        guard left > 0 else {
            isWhole = false
            return false
        }
        left -= 1
        return true
    }

    func stored(_ id: UInt64) -> StoredOperation? {
        guard mayRead() else { return nil }
        switch lookUp(id) {
        case .found(let operation): return operation
        case .absent: return nil
        case .unreadable:
            isWhole = false
            return nil
        }
    }

    /// Returns an operation that an entry refers to; nil after a finding, or behind the limit.
    func indexed(_ id: UInt64) -> StoredOperation? {
        let operation = stored(id)
        if operation == nil, left > 0, case .absent = lookUp(id) {
            isWhole = false
            file.note(.outboxExtra, "outbox operation \(id)", "an entry refers to it, and it does not exist")
        }
        return operation
    }

    private enum LookUp {
        case found(StoredOperation), absent, unreadable
    }

    /// Looks up an operation. If it is unreadable, the finding is recorded.
    private func lookUp(_ id: UInt64) -> LookUp {
        OutboxEntryKey.operation(id).withUnsafeBytes { key in
            switch file.lookUp(key, in: TableName.outbox) {
            case .absent: .absent
            case .unreadable: .unreadable
            case .found(let value): value.withUnsafeBytes { operation(id, key, $0) }.map(LookUp.found) ?? .unreadable
            }
        }
    }

    /// Decodes an operation; nil after a finding.
    func operation(_ id: UInt64, _ key: Bytes, _ value: Bytes) -> StoredOperation? {
        let operation = FileOutbox.row(key, value).flatMap { StoredOperation(id: id, $0) }
        if operation == nil { file.note(.outboxForm, "outbox operation \(id)", FileOutbox.unreadable) }
        return operation
    }

    /// Returns an operation with names and values, and with what it waits for; nil after a finding.
    ///
    /// - Parameter most: The most entries that are read for the latter.
    func inspected(_ operation: StoredOperation, most: Int, at now: Timestamp) -> InspectedOperation? {
        do {
            let (entry, isWhole) = try searching(most: most) { try self.entry(operation, now) }
            return InspectedOperation(entry: entry, areWaitsWhole: isWhole)
        } catch {
            file.note(.outboxForm, "outbox operation \(operation.id)", "undecodable value")
            return nil
        }
    }

    static func row(_ key: Bytes, _ value: Bytes) -> EncodedRow? {
        guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value),
            row.body.isWellFormed
        else { return nil }
        return row
    }

    func ids(_ kind: OutboxEntryKey.Kind, _ record: ListedRecord) -> [UInt64] {
        var ids: [UInt64] = []
        let start = OutboxEntryKey.record(kind, record)
        forEachID(behind: start.count, in: KeyInterval(prefix: start)) { id in
            ids.append(id)
            return true
        }
        return ids
    }

    func forEachID(of record: ListedRecord, before id: UInt64, _ body: (UInt64) throws -> Bool) rethrows {
        let start = OutboxEntryKey.record(.own, record)
        let interval = KeyInterval(from: start, below: OutboxEntryKey.record(.own, record, id))
        try forEachID(behind: start.count, in: interval, reversed: true, body)
    }

    /// - Parameter start: The length of the part of the keys before the id.
    private func forEachID(
        behind start: Int, in interval: KeyInterval, reversed: Bool = false, _ body: (UInt64) throws -> Bool
    ) rethrows {
        // A search that finds nothing counts, too: an operation may refer to a million records.
        guard mayRead() else { return }
        let cursor = TableCursor(file, TableName.outbox, in: interval, reversed: reversed)
        while cursor.next() {
            guard mayRead() else { return }
            // The key of another record may begin with this one: a text with a NUL.
            let id: UInt64?? = cursor.withKey { key -> UInt64? in
                key.count == start + 8 ? key.loadBigEndian(start) : nil
            }
            if let id = id ?? nil, try !body(id) { return }
        }
        if !cursor.isWhole { isWhole = false }
    }
}
