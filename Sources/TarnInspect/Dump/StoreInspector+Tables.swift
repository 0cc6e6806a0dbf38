// Tables in the format of `mdb_dump` and `mdb_load` of lmdb-utils, also from files that these
// refuse.

import LMDBPages
import TarnStore

extension StoreInspector {
    /// Calls `line` with every line of a dump of all readable tables, as `mdb_dump -a` writes it.
    ///
    /// Works for any LMDB data file. The format is `format=bytevalue`: each table has a header,
    /// then keys and values in turn, as hexadecimal digits. Entries of the table of tables that are
    /// no tables come first, as in a dump of a file without named tables.
    ///
    /// - Returns: The reason why no read transaction held the state; nil if one did.
    /// - Throws: The error of `line`; `StoreOpenError.noSuchStore`, `.notAStore` for a file that is
    ///   not an LMDB data file, `.store(.lmdb)` without permission; at the end
    ///   `StoreMaintenanceError.changedMeanwhile` if no transaction held the state and the output
    ///   may mix several commits.
    @discardableResult
    public func dumpTables(line: (String) throws -> Void, damaged: (Damage) -> Void) throws -> String? {
        try open { file in
            func entry(_ key: Bytes, _ value: Bytes) throws {
                try line(" " + StoreInspector.hexadecimal(key))
                try line(" " + StoreInspector.hexadecimal(value))
            }
            if file.snapshot.ownEntries > 0, !file.isStore {
                try StoreInspector.head(nil, file.snapshot.meta.main, file, line)
                try file.forEachOwnEntry(entry)
                try line("DATA=END")
            }
            for name in file.snapshot.names {
                guard let record = file.snapshot.tables[name] else { continue }
                try StoreInspector.head(name, record, file, line)
                // `meta` was scanned when the file was opened.
                if file.counts[name] != nil {
                    try file.again(name, asStored: true, entry)
                } else {
                    try file.forEachEntry(inAnyTable: name, asStored: true, entry)
                }
                try line("DATA=END")
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
            return file.aloneBecause
        }
    }

    /// Writes the header of a table, in the order of mdb_dump.c.
    private static func head(_ name: String?, _ record: TableRecord, _ file: StoreFile, _ line: (String) throws -> Void)
        rethrows
    {
        let meta = file.snapshot.meta
        try line("VERSION=3")
        try line("format=bytevalue")
        if let name { try line("database=\(name)") }
        for text in ["type=btree", "mapsize=\(meta.mapSize)", "maxreaders=\(file.readers?.all ?? 126)"] {
            try line(text)
        }
        if record.hasDuplicates { try line("duplicates=1") }
        for option in record.optionNames { try line("\(option)=1") }
        try line("db_pagesize=\(meta.pageSize)")
        try line("HEADER=END")
    }

    private static let digits = Array("0123456789abcdef".utf8)

    static func hexadecimal(_ bytes: Bytes) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
