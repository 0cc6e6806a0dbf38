// Appending to a table: in ascending order LMDB fills its pages completely.

internal import LMDB

/// Decides whether ascending keys are past the last key of a table, so that they can be appended.
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

    /// Returns whether a key is past the end.
    /// Keys must ascend from call to call, and a key past the end must then be stored.
    mutating func isPastTheEnd(_ key: Bytes) -> Bool {
        if !isPast { isPast = last.withUnsafeBytes { Bytes.compare(key, $0) > 0 } }
        return isPast
    }
}
