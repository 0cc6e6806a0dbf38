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
                guard key.count == 8 else {
                    return damaged(Damage(place: "response", reason: "its id has \(key.count) bytes"))
                }
                let id = key.loadBigEndian(0) as UInt64
                guard EncodedRow.hasValidChecksum(value, table: 0, key: key), let row = EncodedRow(value),
                    row.body.isWellFormed, let entry = ResponseEntry(row)
                else {
                    return damaged(
                        Damage(place: "response \(id)", reason: "unreadable, or the checksum is wrong"))
                }
                try body(id, entry)
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
            return file.aloneBecause
        }
    }
}
