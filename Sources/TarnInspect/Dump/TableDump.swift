// Tables as `mdb_dump` of lmdb-utils writes them, and as `mdb_load` reads them: also of a file that those would not read.

import TarnStore

/// Writes the tables of any data file of LMDB in the format of `mdb_dump -a` (`format=bytevalue`), as far as they can be read.
///
/// What a program keeps in the table of tables itself comes first, as `mdb_dump` writes a file without named tables.
public struct TableDump {
    private let path: String

    public init(fileAt path: String) { self.path = path }

    /// Calls `line` with every line: for each table a head, then keys and values in turn, each as hexadecimal digits.
    ///
    /// - Returns: why nobody held the state that was written; nil if a read transaction did.
    /// - Throws: `StoreError`: `.noSuchStore`, `.notAStore` for what is no data file of LMDB, `.lmdb` if there is no permission;
    ///   `.changedMeanwhile` at the end if the state was not held, and what was written may be of several commits.
    @discardableResult
    public func tables(line: (String) throws -> Void, damaged: (StoreDump.Damage) -> Void) throws -> String? {
        try StoreFile.open(at: path) { file in
            func entry(_ key: Bytes, _ value: Bytes) throws {
                try line(" " + TableDump.hexadecimal(key))
                try line(" " + TableDump.hexadecimal(value))
            }
            if file.snapshot.ownEntries > 0, !file.isStore {
                try TableDump.head(nil, file.snapshot.meta.main, file, line)
                try file.forEachOwnEntry(entry)
                try line("DATA=END")
            }
            for name in file.snapshot.names {
                guard let record = file.snapshot.tables[name] else { continue }
                try TableDump.head(name, record, file, line)
                // `meta` was read when the file was opened.
                if file.counts[name] != nil {
                    try file.again(name, asStored: true, entry)
                } else {
                    try file.forEachEntry(inAnyTable: name, asStored: true, entry)
                }
                try line("DATA=END")
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(StoreDump.Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
            return file.aloneBecause
        }
    }

    /// The lines before the entries of a table, in the order of mdb_dump.c.
    private static func head(_ name: String?, _ record: TableRecord, _ file: StoreFile, _ line: (String) throws -> Void) rethrows {
        let meta = file.snapshot.meta
        try line("VERSION=3")
        try line("format=bytevalue")
        if let name { try line("database=\(name)") }
        for text in ["type=btree", "mapsize=\(meta.mapSize)", "maxreaders=\(file.readers?.all ?? 126)"] { try line(text) }
        if record.hasDuplicates { try line("duplicates=1") }
        for option in record.optionNames { try line("\(option)=1") }
        try line("db_pagesize=\(meta.pageSize)")
        try line("HEADER=END")
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hexadecimal(_ bytes: Bytes) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
