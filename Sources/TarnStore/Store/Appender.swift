// Where tables end: what lies behind is appended, and pages fill up that way.

internal import LMDB

/// Knows where the table that is being written ends: records that come one by one in the order of their keys are appended, and
/// are not looked for first. Only this transaction changes the table, and what it deletes makes the end no greater.
struct TableTail: ~Copyable {
    private var root: UInt16?
    private var last = ByteWriter(capacity: 64)
    private var isKnown = false, isEmpty = false

    /// Whether a key lies past the end. The end is looked up when a table is written for the second time in a row.
    mutating func isPast(_ key: Bytes, _ root: UInt16, _ raw: RawTransaction, _ table: Table) throws(LMDBError) -> Bool {
        guard self.root == root else {
            self.root = root
            isKnown = false
            return false
        }
        if !isKnown {
            let cursor = try raw.cursor(table)
            defer { cursor.close() }
            let end = try cursor.last()
            last.removeAll()
            if let end { last.append(end.key) }
            isEmpty = end == nil
            isKnown = true
        }
        return isEmpty || Bytes.compare(key, last.bytes) > 0
    }

    /// A key was, or is about to be, appended.
    mutating func moved(to key: Bytes, _ root: UInt16) {
        guard self.root == root, isKnown else { return }
        last.removeAll()
        last.append(key)
        isEmpty = false
    }
}

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
