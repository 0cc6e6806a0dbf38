// Deliberate damage of a store, which proves that the check finds it.

import Foundation
import LMDB
import TarnStore

/// Damages a store, bypassing all that keeps it consistent.
///
/// - Parameter kind: `row` removes only the row of a record; `index`, `inverse` and `entry` remove
///   an entry of an attribute's index, of a relationship's index and of the change log; `extra`
///   adds an entry to an index; `byte` changes a byte of a row; `tail` removes the shared counter;
///   `pages` empties the list of free pages.
func damage(_ path: String, _ kind: String) throws {
    if kind == "pages" { return try forgetFreePages(path + "/data.mdb") }
    let store = try Store.open(at: path, schema: Workload.schema)
    let (catalog, environment) = (store.catalog, store.environment)
    func table(_ entity: String, _ field: String? = nil) throws -> String {
        guard let entity = catalog.entity(entity) else { throw Problem("no \(entity)") }
        guard let field else { return "r/\(entity.id)" }
        guard let index = entity.field(field)?.index else { throw Problem("no index of \(field)") }
        return "i/\(index)"
    }
    let name =
        switch kind {
        case "row", "byte": try table("Line")
        case "index", "extra": try table("Line", "amount")
        case "inverse": try table("Line", "order")
        case "entry": "changes"
        case "tail": try table("Counter")
        default: throw Problem("no kind \(kind)")
        }
    try environment.writeOpeningTables { transaction in
        let table = try transaction.table(name), raw = transaction.raw
        let cursor = try raw.cursor(table)
        defer { cursor.close() }
        if kind == "tail" {
            _ = try RecordKey(Workload.shared).storageKey.withUnsafeBytes { try raw.delete(table, $0) }
            return
        }
        // An entry from the middle, if there are enough.
        var entry = try cursor.first()
        for _ in 0..<7 { entry = try cursor.next() ?? cursor.last() }
        guard let (key, value) = entry else { throw Problem("\(name) is empty") }
        var keyBytes = Array(key), valueBytes = Array(value)
        switch kind {
        case "extra":
            keyBytes[keyBytes.count - 1] ^= 1
            try keyBytes.withUnsafeBytes { try raw.put(table, $0, UnsafeRawBufferPointer(start: nil, count: 0)) }
        case "byte":
            valueBytes[valueBytes.count - 3] ^= 1
            try keyBytes.withUnsafeBytes { key in try valueBytes.withUnsafeBytes { try raw.put(table, key, $0) } }
        default:
            guard try keyBytes.withUnsafeBytes({ try raw.delete(table, $0) }) else { throw Problem("it was not there") }
        }
    }
}

/// Empties the list of free pages in both meta pages.
///
/// The layout is that of `struct MDB_meta` in mdb.c, with pages of 4096 bytes.
private func forgetFreePages(_ path: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    for page in [UInt64(0), 4096] {
        // The first of `mm_dbs`, the free list: zeros from the depth to the entries, then no root.
        try file.seek(toOffset: page + 46)
        try file.write(contentsOf: Data(repeating: 0, count: 80 - 46) + Data(repeating: 0xFF, count: 8))
    }
    try file.close()
}
