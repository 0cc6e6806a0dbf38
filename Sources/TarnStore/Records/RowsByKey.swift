// The rows of a list of keys, located several at a time.

internal import LMDB

/// A batch of keys whose rows are located together, so that the processor loads their memory in
/// parallel.
///
/// The keys must stay in place until their rows are passed on: in a snapshot they do.
struct RowsByKey: ~Copyable {
    private var lookup: PageLookup
    private let keys: UnsafeMutableBufferPointer<Bytes>
    private let rows: UnsafeMutableBufferPointer<Bytes?>
    private var count = 0
    /// The size of the next batch: the first ones are small, for callers that need few rows.
    private var size: Int
    private let largest: Int
    /// The number of bytes of each row that are prefetched.
    private let ahead: Int
    /// The largest number of rows of a batch.
    static let most = PageLookup.most

    fileprivate init(
        _ lookup: PageLookup, _ keys: UnsafeMutableBufferPointer<Bytes>, _ rows: UnsafeMutableBufferPointer<Bytes?>,
        isSnapshot: Bool, ahead: Int
    ) {
        self.lookup = lookup
        self.keys = keys
        self.rows = rows
        self.ahead = ahead
        largest = isSnapshot ? PageLookup.most : 1
        size = min(2, largest)
    }

    /// Adds a key, and passes on the rows of a full batch.
    ///
    /// - Parameter body: Gets keys and rows, in order, until it returns false. Keys without a row
    ///   are skipped.
    /// - Returns: Whether `body` wants more rows.
    @inline(__always)
    mutating func append(_ key: Bytes, _ body: (Bytes, Bytes) throws -> Bool) throws -> Bool {
        keys[count] = key
        count += 1
        return try count < size || flush(body)
    }

    /// Passes on the rows of an incomplete batch.
    @discardableResult
    mutating func flush(_ body: (Bytes, Bytes) throws -> Bool) throws -> Bool {
        try flushTogether { keys, rows in
            for index in keys.indices {
                guard let row = rows[index] else { continue }
                guard try body(keys[index], row) else { return false }
            }
            return true
        }
    }

    /// The keys of a batch, and the row of each; nil if there is none.
    typealias Batch = (keys: UnsafeBufferPointer<Bytes>, rows: UnsafeBufferPointer<Bytes?>)

    /// Adds a key as ``append(_:_:)`` does, and passes on full batches as they are.
    @inline(__always)
    mutating func appendTogether(_ key: Bytes, _ body: (Batch) throws -> Bool) throws -> Bool {
        keys[count] = key
        count += 1
        return try count < size || flushTogether(body)
    }

    /// Passes on an incomplete batch as it is.
    @discardableResult
    mutating func flushTogether(_ body: (Batch) throws -> Bool) throws -> Bool {
        let found = count
        count = 0
        guard found > 0 else { return true }
        let keys = UnsafeBufferPointer(rebasing: keys[..<found])
        try lookup.find(keys, rows)
        for row in rows[..<found] { if let row { RowsByKey.ask(for: row, atMost: ahead) } }
        guard try body((keys, UnsafeBufferPointer(rebasing: rows[..<found]))) else { return false }
        size = min(2 * size, largest)
        return true
    }

    /// The longest part of a row that is prefetched, in bytes.
    ///
    /// In longer rows the processor prefetches the rest by itself once the beginning is read.
    static let mostBytes = 2048
    /// The header, the directory of most rows, and the first values.
    fileprivate static let firstBytes = 192

    /// Prefetches the beginning of a row.
    static func ask(for row: Bytes, atMost most: Int) {
        guard let base = row.baseAddress else { return }
        for offset in stride(from: 0, to: min(row.count, most), by: 64) { LMDB.ask(for: base + offset) }
    }
}

extension RecordTable {
    /// Calls a closure that looks rows up by their keys.
    ///
    /// - Parameter readsWholeRows: Whether rows are read to their ends, as checksums need it.
    func byKey<Result>(
        _ table: Table, root: UInt16, readsWholeRows: Bool, _ body: (inout RowsByKey) throws -> Result
    ) throws -> Result {
        let lookup = try PageLookup(raw, table, name: TableName.records(root))
        return try withUnsafeTemporaryAllocation(of: Bytes.self, capacity: PageLookup.most) { keys in
            try withUnsafeTemporaryAllocation(of: Bytes?.self, capacity: PageLookup.most) { rows in
                keys.initialize(repeating: Bytes(start: nil, count: 0))
                rows.initialize(repeating: nil)
                var batch = RowsByKey(
                    lookup, keys, rows, isSnapshot: raw.isSnapshot,
                    ahead: readsWholeRows ? RowsByKey.mostBytes : RowsByKey.firstBytes)
                return try body(&batch)
            }
        }
    }
}
