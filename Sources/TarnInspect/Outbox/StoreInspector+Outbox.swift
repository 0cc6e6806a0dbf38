// The outbox of a file of unknown health, for a reader that pages through it.

import TarnStore

extension StoreInspector {
    /// Reads some operations of the outbox, in the order of their ids, as of one snapshot.
    ///
    /// - Parameters:
    ///   - filter: The operations that are wanted; nil for all. There is no index of states: a page
    ///     may have fewer operations than the limit, or none, and still not be the last.
    ///   - position: The position that the page before it names; nil for the beginning.
    ///   - limit: The most operations.
    ///   - most: The most entries that are read.
    ///   - time: The time after which no further entry is read; nil for any time.
    ///   - waits: The most entries that are read to find what an operation waits for.
    ///   - targets: The most targets of a value that are looked up.
    ///   - now: The time with which the ends of back-offs are compared.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func outboxPage(
        in filter: OutboxFilter? = nil, after position: [UInt8]? = nil, limit: Int = 50, most: Int = .max,
        time: Duration? = nil, waits: Int = .max, targets: Int = .max, at now: Timestamp = .now
    ) throws -> OutboxPage {
        try open { file in
            try checkIsReadable(file)
            let outbox = FileOutbox(file), end = time.map { ContinuousClock.now + $0 }
            var page = OutboxPage()
            page.counts = outbox.counts
            // At least one entry is read: each page continues behind the one before it.
            func isOver() -> Bool { page.examined > 0 && (end.map { $0 <= .now } ?? false) }
            let first = position.map { $0 + [0] } ?? [OutboxEntryKey.Kind.operation.rawValue]
            let interval = KeyInterval(from: first, below: [OutboxEntryKey.Kind.operation.rawValue + 1])
            let cursor = TableCursor(file, TableName.outbox, in: interval)
            while page.operations.count < limit, page.examined < most, !isOver() {
                guard cursor.next() else {
                    page.last = nil
                    break
                }
                page.examined += 1
                cursor.withKey { page.last = Array($0) }
                let stored = cursor.withEntry { StoreInspector.operation($0, $1, in: filter, outbox) } ?? nil
                guard let stored, let operation = outbox.inspected(stored, most: waits, at: now) else { continue }
                page.operations.append(operation)
                page.targets.lookUp(operation.operation, most: targets, in: file)
            }
            file.reportFindings { page.damages.append($0) }
            return page
        }
    }

    /// Reads one operation of the outbox.
    ///
    /// - Parameters: As those of ``outboxPage(in:after:limit:most:time:waits:targets:at:)``.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func outboxOperation(
        _ id: UInt64, waits: Int = .max, targets: Int = .max, at now: Timestamp = .now
    ) throws -> OperationInspection {
        try open { file in
            try checkIsReadable(file)
            let outbox = FileOutbox(file)
            var inspection = OperationInspection()
            let (stored, isWhole) = outbox.searching(most: 1) { outbox.stored(id) }
            inspection.operation = stored.flatMap { outbox.inspected($0, most: waits, at: now) }
            inspection.isUnreadable = !isWhole || (stored != nil && inspection.operation == nil)
            if let operation = inspection.operation?.operation {
                inspection.targets.lookUp(operation, most: targets, in: file)
            }
            file.reportFindings { inspection.damages.append($0) }
            return inspection
        }
    }

    /// Decodes an entry; nil if it is not wanted, and after a finding.
    private static func operation(
        _ key: Bytes, _ value: Bytes, in filter: OutboxFilter?, _ outbox: FileOutbox
    ) -> StoredOperation? {
        guard let id = OutboxEntryKey.operationID(key) else {
            outbox.file.note(.outboxForm, "outbox \(OutboxEntryKey.describe(key))", "an operation without an id")
            return nil
        }
        if let filter, let state = FileOutbox.row(key, value).flatMap(StoredOperation.state), !filter.contains(state) {
            return nil
        }
        return outbox.operation(id, key, value)
    }
}
