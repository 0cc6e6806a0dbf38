// Looking at all rows of a table, or of parts of it: several at a time, so that they come from memory while others are looked at.

internal import LMDB

extension AccessPath {
    /// Whether it is a walk over rows as they stand, in their order.
    var isPlainScan: Bool {
        guard case .rows = source else { return false }
        // Keys that the table knows only the beginning of have to be sorted.
        return !isPoints && direction == .forward && !(isOrdered && orderedCount > 0)
    }
}

extension QueryRun {
    /// Every record of spans of the table that meets the condition, in the order of the keys, until the closure returns false.
    ///
    /// A row is longer than what the condition wants of it, so nearly every one would have to be waited for, two or three times. So what the
    /// condition will look at is asked for a few rows before. They stay where they are: nothing is written while a query runs.
    func scan(_ spans: [KeySpan], _ table: Table, _ body: (Bytes, RowView) throws -> Bool) throws {
        var pages = try ForwardScan(access.raw, table, name: TableName.records(query.entity.root))
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: QueryRun.rowsAhead * 2) { rows in
            for span in spans {
                try span.lower.withUnsafeBytes { try pages.seek($0) }
                // A query for the first few does not need many.
                var size = min(4, query.reach), isLast = false
                func fill(_ batch: UnsafeMutableBufferPointer<RawCursor.Entry>) throws -> Int {
                    guard !isLast else { return 0 }
                    var count = try pages.fill(UnsafeMutableBufferPointer(rebasing: batch[..<size]))
                    if count > 0, !span.reaches(batch[count - 1].key) {
                        isLast = true
                        while count > 0, !span.reaches(batch[count - 1].key) { count -= 1 }
                    }
                    evaluation.askAhead(UnsafeBufferPointer(rebasing: batch[..<count]))
                    size = min(size * 2, QueryRun.rowsAhead)
                    return count
                }
                // While some are looked at, others come.
                var batch = UnsafeMutableBufferPointer(rebasing: rows[..<QueryRun.rowsAhead])
                var others = UnsafeMutableBufferPointer(rebasing: rows[QueryRun.rowsAhead...])
                var count = try fill(batch)
                while count > 0 {
                    let next = try fill(others)
                    for index in 0..<count {
                        let (key, bytes) = batch[index]
                        let mark = access.rowMark
                        defer { access.release(to: mark) }
                        guard let row = try admitted(key, bytes) else { continue }
                        guard try visit(key, row, body) else { return }
                    }
                    swap(&batch, &others)
                    count = next
                }
            }
        }
    }

    private static let rowsAhead = 16
}
