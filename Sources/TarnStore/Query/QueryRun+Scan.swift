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
    /// A row is longer than what the condition wants of it, so nearly every one has to be waited for, two or three times. Reading the
    /// next few first, each at places that depend on nothing but itself, lets the processor wait for all of them at once. They stay
    /// where they are: nothing is written while a query runs.
    func scan(_ spans: [KeySpan], _ table: Table, _ body: (Bytes, RowView) throws -> Bool) throws {
        let cursor = try access.raw.cursor(table)
        defer { cursor.close() }
        let pageSize = cursor.runPageSize
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: QueryRun.rowsAhead) { batch in
            // A query for the first few does not need many.
            var size = min(4, query.reach)
            for span in spans {
                var entry = try span.lower.isEmpty ? cursor.first() : span.lower.withUnsafeBytes { try cursor.seek($0) }
                while true {
                    var count = 0
                    while count < size, let found = entry, span.reaches(found.key) {
                        let run = try cursor.run(from: found, into: UnsafeMutableBufferPointer(rebasing: batch[count..<size]), pageSize: pageSize)
                        let end = count + run
                        if span.reaches(batch[end - 1].key) {
                            count = end
                            entry = try cursor.next()
                        } else {
                            while count < end, span.reaches(batch[count].key) { count += 1 }
                            entry = nil
                        }
                    }
                    guard count > 0 else { break }
                    evaluation.readAhead(UnsafeBufferPointer(rebasing: batch[..<count]))
                    for index in 0..<count {
                        let (key, bytes) = batch[index]
                        let mark = access.rowMark
                        defer { access.release(to: mark) }
                        guard let row = try admitted(key, bytes) else { continue }
                        guard try visit(key, row, body) else { return }
                    }
                    size = min(size * 2, QueryRun.rowsAhead)
                }
            }
        }
    }

    private static let rowsAhead = 32
}
