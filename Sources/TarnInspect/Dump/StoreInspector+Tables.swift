// Tables in the format of `mdb_dump` and `mdb_load` of lmdb-utils, or as JSON, also from files that
// these programs refuse.

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
        try dumpTables(.all, as: .hex, line: line, damaged: damaged)
    }

    /// Calls `line` with every line of a dump of tables.
    ///
    /// The table without a name also has the records of the named tables, as `mdb_dump` without
    /// `-a` and `-s` writes it; `mdb_load` reads such a dump as a table of plain values.
    ///
    /// - Throws: `RecordSelectionError.unknownTable`; otherwise as ``dumpTables(line:damaged:)``.
    @discardableResult
    package func dumpTables(
        _ tables: DumpedTables, as form: TableDumpForm, line: (String) throws -> Void, damaged: (Damage) -> Void
    ) throws -> String? {
        try open { file in
            switch tables {
            case .all:
                if file.snapshot.ownEntries > 0, !file.isStore {
                    try StoreInspector.dumpMain(file, form, ownOnly: true, line)
                }
                for name in file.snapshot.names { try StoreInspector.dump(name, file, form, line, damaged) }
            case .main: try StoreInspector.dumpMain(file, form, ownOnly: false, line)
            case .named(let given):
                guard let name = file.snapshot.name(given) else {
                    throw RecordSelectionError.unknownTable(name: given, known: file.snapshot.names)
                }
                try StoreInspector.dump(name, file, form, line, damaged)
            }
            file.reportFindings(to: damaged)
            return file.aloneBecause
        }
    }

    private static func dump(
        _ name: String, _ file: StoreFile, _ form: TableDumpForm, _ line: (String) throws -> Void,
        _ damaged: (Damage) -> Void
    ) throws {
        guard let record = file.snapshot.tables[name] else { return }
        // The name is a line of text in the header; mdb_dump leaves out names with a NUL.
        let text = file.snapshot.escapedNames[name] ?? name
        guard form == .json || text.map({ !$0.utf8.contains { $0 == 0 || $0 == 0x0A } }) ?? false else {
            let reason = "a name that is not UTF-8, or has a NUL or a line break; only JSON has its entries"
            return damaged(Damage(place: name, reason: reason))
        }
        let lines = TableLines(form: form, name: form == .json ? name : text, record: record)
        for text in lines.head(file.snapshot.meta, readers: file.readers?.all ?? defaultReaders) { try line(text) }
        func entry(_ key: Bytes, _ value: Bytes) throws { for text in lines.entry(key, value) { try line(text) } }
        // `meta` was scanned when the file was opened.
        if file.counts[name] != nil {
            try file.again(name, asStored: true, entry)
        } else {
            try file.forEachEntry(inAnyTable: name, asStored: true, entry)
        }
        for text in lines.end { try line(text) }
    }

    /// Dumps the table without a name.
    ///
    /// - Parameter ownOnly: Whether the records of the named tables are left out.
    private static func dumpMain(
        _ file: StoreFile, _ form: TableDumpForm, ownOnly: Bool, _ line: (String) throws -> Void
    ) throws {
        let lines = TableLines(form: form, name: nil, record: file.snapshot.meta.main)
        for text in lines.head(file.snapshot.meta, readers: file.readers?.all ?? defaultReaders) { try line(text) }
        try file.forEachMainEntry { key, value, isTable in
            guard !isTable || !ownOnly else { return }
            for text in lines.entry(key, value) { try line(text) }
        }
        for text in lines.end { try line(text) }
    }

    /// The reader slots of an environment without a lock file: `DEFAULT_READERS` of mdb.c.
    private static let defaultReaders = 126

    static func hexadecimal(_ bytes: Bytes) -> String {
        func digit(_ half: UInt8) -> UInt8 { half + (half < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }
}
