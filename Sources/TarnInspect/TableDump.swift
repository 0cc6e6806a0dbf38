// Tables as `mdb_dump` of lmdb-utils writes them, and as `mdb_load` reads them: also of a file that those would not read.

import TarnStore

/// Writes the tables of any data file of LMDB in the format of `mdb_dump -a` (`format=bytevalue`), as far as they can be read.
public struct TableDump {
    private let path: String

    public init(fileAt path: String) { self.path = path }

    /// Calls `line` with every line: for each table a head, then keys and values in turn, each as hexadecimal digits.
    ///
    /// - Throws: `StoreError`: `.noSuchStore`, `.notAStore` for what is no data file of LMDB, `.lmdb` if there is no permission.
    public func tables(line: (String) throws -> Void, damaged: (StoreDump.Damage) -> Void) throws {
        try StoreFile.open(at: path) { file in
            let meta = file.snapshot.meta
            for name in file.snapshot.names {
                for text in [
                    "VERSION=3", "format=bytevalue", "database=\(name)", "type=btree", "mapsize=\(meta.mapSize)",
                    "maxreaders=\(file.readers?.all ?? 126)", "db_pagesize=\(meta.pageSize)", "HEADER=END",
                ] { try line(text) }
                func entry(_ key: Bytes, _ value: Bytes) throws {
                    try line(" " + TableDump.hexadecimal(key))
                    try line(" " + TableDump.hexadecimal(value))
                }
                // `meta` was read when the file was opened.
                if file.counts[name] != nil { try file.again(name, entry) } else { try file.forEach(in: name, entry) }
                try line("DATA=END")
            }
            for finding in file.findings.list where finding.code.isOfPages {
                damaged(StoreDump.Damage(place: finding.place, reason: finding.detail, isOfPages: true))
            }
        }
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
