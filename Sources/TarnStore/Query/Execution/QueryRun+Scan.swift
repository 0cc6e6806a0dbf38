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

/// Some rows of a scan.
private struct ScanBatch {
    static let most = 16

    let entries: UnsafeMutableBufferPointer<RawCursor.Entry>
    /// What the condition looks at first in each of them; empty where that is not known.
    let values: UnsafeMutableBufferPointer<Bytes>
    var count = 0

    init(_ entries: UnsafeMutableBufferPointer<RawCursor.Entry>, _ values: UnsafeMutableBufferPointer<Bytes>, _ range: Range<Int>) {
        self.entries = UnsafeMutableBufferPointer(rebasing: entries[range])
        self.values = UnsafeMutableBufferPointer(rebasing: values[range])
    }
}

extension QueryRun {
    /// Every record of spans of the table that meets the condition, in the order of the keys, until the closure returns false.
    ///
    /// A row is longer than what the condition wants of it, so nearly every one would have to be waited for, two or three times. So what the
    /// condition will look at is asked for a few rows before. They stay where they are: nothing is written while a query runs.
    func scan(_ spans: [KeySpan], _ table: Table, _ body: (Bytes, RowView) throws -> Bool) throws {
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

    /// The same from where the pages are to the end of a span. False if the closure returned false.
    private func scan(
        _ span: KeySpan, _ pages: inout ForwardScan, _ batch: inout ScanBatch, _ others: inout ScanBatch,
        _ body: (Bytes, RowView) throws -> Bool
    ) throws -> Bool {
        // A query for the first few does not need many.
        var size = min(4, query.reach), isLast = false
        try fill(&batch, size, span, &pages, &isLast)
        while batch.count > 0 {
            // While some are looked at, others come.
            size = min(size * 2, ScanBatch.most)
            try fill(&others, size, span, &pages, &isLast)
            for index in 0..<batch.count {
                let value = batch.values[index]
                // Most rows of most scans end here.
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
        evaluation.findAhead(UnsafeBufferPointer(rebasing: batch.entries[..<count]), of: query.entity.id, into: batch.values)
    }
}
