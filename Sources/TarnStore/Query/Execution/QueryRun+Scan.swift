// Scans of a table or of parts of it, in batches: while one batch of rows is evaluated, the next is
// prefetched.

internal import LMDB

extension AccessPath {
    /// Whether the walk returns rows in the table's own order.
    var isPlainScan: Bool {
        guard case .rows = source else { return false }
        // The table has only the prefix of a long key, so the order among such keys needs a sort.
        return !isPoints && direction == .forward && !(isOrdered && orderedCount > 0)
    }
}

/// A batch of rows of a scan, in memory of the stack frame that scans: raw, since an array would be
/// allocated for every query. `most` bounds it.
private struct ScanBatch {
    static let most = 16

    let entries: UnsafeMutableBufferPointer<RawCursor.Entry>
    /// The value that the condition tests first, for each row; empty where it is not known.
    let values: UnsafeMutableBufferPointer<Bytes>
    var count = 0

    init(
        _ entries: UnsafeMutableBufferPointer<RawCursor.Entry>, _ values: UnsafeMutableBufferPointer<Bytes>,
        _ range: Range<Int>
    ) {
        self.entries = UnsafeMutableBufferPointer(rebasing: entries[range])
        self.values = UnsafeMutableBufferPointer(rebasing: values[range])
    }
}

extension QueryRun {
    /// Calls a closure with every record of the spans that meets the condition.
    ///
    /// The records are in key order. The scan stops when the closure returns false.
    ///
    /// A row is longer than the part that the condition reads, so nearly every row would cost two
    /// or three cache misses. Therefore the values that the condition reads are prefetched a few
    /// rows ahead. The rows do not move: nothing is written while a query runs.
    func scan(_ spans: [KeySpan], _ table: Table, _ body: (Bytes, EncodedRow) throws -> Bool) throws {
        try withUnsafeTemporaryAllocation(of: RawCursor.Entry.self, capacity: ScanBatch.most * 2) { entries in
            try withUnsafeTemporaryAllocation(of: Bytes.self, capacity: ScanBatch.most * 2) { values in
                var batch = ScanBatch(entries, values, 0..<ScanBatch.most)
                var others = ScanBatch(entries, values, ScanBatch.most..<ScanBatch.most * 2)
                var pages = try ForwardScan(access.raw, table, name: TableName.records(query.entity.root))
                for span in spans {
                    try span.lower.withUnsafeBytes { try pages.seek($0) }
                    guard try scan(span, &pages, &batch, &others, body) else { return }
                }
            }
        }
    }

    /// Scans from the current position to the end of a span; returns false if the closure did.
    private func scan(
        _ span: KeySpan, _ pages: inout ForwardScan, _ batch: inout ScanBatch, _ others: inout ScanBatch,
        _ body: (Bytes, EncodedRow) throws -> Bool
    ) throws -> Bool {
        // A query with a small limit needs few rows.
        var size = min(4, query.reach), isLast = false
        try fill(&batch, size, span, &pages, &isLast)
        while batch.count > 0 {
            // While this batch is evaluated, the next one is prefetched.
            size = min(size * 2, ScanBatch.most)
            try fill(&others, size, span, &pages, &isLast)
            for index in 0..<batch.count {
                let value = batch.values[index]
                // Most rows of most scans are rejected here.
                if value.count > 0, evaluation.rejects(value) { continue }
                let (key, bytes) = batch.entries[index]
                let mark = access.rowMark
                defer { access.release(to: mark) }
                guard let row = try admitted(key, bytes) else { continue }
                guard try visit(key, row, body) else { return false }
            }
            swap(&batch, &others)
        }
        return true
    }

    private func fill(
        _ batch: inout ScanBatch, _ size: Int, _ span: KeySpan, _ pages: inout ForwardScan, _ isLast: inout Bool
    ) throws {
        batch.count = 0
        guard !isLast else { return }
        var count = try pages.fill(UnsafeMutableBufferPointer(rebasing: batch.entries[..<size]))
        if count > 0, !span.reaches(batch.entries[count - 1].key) {
            isLast = true
            while count > 0, !span.reaches(batch.entries[count - 1].key) { count -= 1 }
        }
        batch.count = count
        evaluation.findAhead(
            UnsafeBufferPointer(rebasing: batch.entries[..<count]), of: query.entity.id, into: batch.values)
    }
}
