// Where tables end: what lies behind is appended, and pages fill up that way.

internal import LMDB

/// Tells whether ascending keys lie past the last key of a table, where they can be appended: pages fill up that way.
struct Appender {
    private var last: [UInt8]
    private var isPast: Bool

    init(_ raw: RawTransaction, _ table: Table) throws(LMDBError) {
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        let entry = try cursor.last()
        last = entry.map { Array($0.key) } ?? []
        isPast = entry == nil
    }

    /// Keys must be asked for in ascending order, and each that is past the end must then be put.
    mutating func isPastTheEnd(_ key: Bytes) -> Bool {
        if !isPast { isPast = last.withUnsafeBytes { Bytes.compare(key, $0) > 0 } }
        return isPast
    }
}
