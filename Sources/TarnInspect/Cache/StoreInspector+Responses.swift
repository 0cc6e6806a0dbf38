// The stored responses of a file of unknown health.

import TarnStore

extension StoreInspector {
    /// Calls the closure with every readable response, in the order of their ids, oldest first.
    ///
    /// Unreadable ones and unreadable pages are reported to `damaged`.
    ///
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The error of the closure; otherwise as
    ///   ``dumpRecords(of:withVersions:line:damaged:)``.
    @discardableResult
    package func responses(
        _ body: (_ id: UInt64, ResponseEntry) throws -> Void, damaged: (Damage) -> Void
    ) throws -> String? {
        try open { file in
            try checkIsReadable(file)
            if file.snapshot.tables[TableName.responses] == nil {
                damaged(Damage(place: TableName.responses, reason: "the table is missing", isOfPages: true))
            }
            try file.forEach(in: TableName.responses) { key, value in
                if let (id, entry) = StoreInspector.response(key, value, damaged) { try body(id, entry) }
            }
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    /// Reads some responses, the newest first, as of one snapshot.
    ///
    /// - Parameters:
    ///   - id: The response before the first one, in this order; nil for the beginning.
    ///   - limit: The most entries that are read.
    /// - Returns: The id before which the next entries begin; nil if there are no more.
    /// - Throws: As ``dumpRecords(of:withVersions:line:damaged:)``.
    package func responses(
        before id: UInt64?, limit: Int, _ body: (_ id: UInt64, ResponseEntry) -> Void, damaged: (Damage) -> Void
    ) throws -> UInt64? {
        try open { file in
            try checkIsReadable(file)
            let interval = KeyInterval(below: id.map { withUnsafeBytes(of: $0.bigEndian) { Array($0) } })
            let cursor = TableCursor(file, TableName.responses, in: interval, reversed: true)
            var count = 0, last: UInt64?, next: UInt64?
            while cursor.next() {
                guard count < limit else {
                    next = last
                    break
                }
                count += 1
                // Also of a damaged one: the next entries are behind it.
                cursor.withKey { if $0.count == 8 { last = $0.loadBigEndian(0) } }
                cursor.withEntry { key, value in
                    if let (id, entry) = StoreInspector.response(key, value, damaged) { body(id, entry) }
                }
            }
            file.reportFindings(to: damaged)
            return next
        }
    }

    private static func response(
        _ key: Bytes, _ value: Bytes, _ damaged: (Damage) -> Void
    ) -> (UInt64, ResponseEntry)? {
        guard key.count == 8 else {
            damaged(Damage(place: "response", reason: "its id has \(key.count) bytes"))
            return nil
        }
        let id = key.loadBigEndian(0) as UInt64
        guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value),
            row.body.isWellFormed, let entry = ResponseEntry(row)
        else {
            damaged(Damage(place: "response \(id)", reason: "unreadable, or the checksum is wrong"))
            return nil
        }
        return (id, entry)
    }
}
