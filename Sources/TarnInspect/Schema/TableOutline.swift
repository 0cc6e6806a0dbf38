import Foundation
import LMDBPages
import TarnStore

/// The tables of a file of another program: options, numbers, and the kinds of keys and values.
package struct TableOutline: Sendable, Encodable {
    /// A table.
    package struct Table: Sendable, Encodable {
        /// The name; nil for the table without a name.
        package var name: String?
        /// The options, as `mdb_dump` names them.
        package var options: [String]
        package var entries: Int
        /// The kinds of keys and of values, as far as the first entries show: `text`, `integer`,
        /// `bytes`, or several of them.
        package var keys: [String], values: [String]
        /// The least and the greatest size of a value among the first entries, in bytes.
        package var smallestValue: Int, largestValue: Int
    }

    package var path: String
    package var transaction: UInt64
    package var tables: [Table] = []
    package var findings: [Finding] { faults }
    private var faults: [Finding] = []
    package private(set) var aloneBecause: String?

    private enum CodingKeys: String, CodingKey { case path, transaction, tables }

    /// The number of entries whose keys and values are looked at.
    private static let looked = 1000

    init(_ path: String, _ file: StoreFile) throws {
        (self.path, transaction) = (path, file.snapshot.meta.transaction)
        struct Enough: Error {}
        for name in try file.tables(named: nil) {
            guard let record = file.tableRecord(name) else { continue }
            let entries = name == nil ? file.snapshot.ownEntries : Int(clamping: record.entries)
            var table = Table(
                name: name, options: record.optionNames, entries: entries, keys: [], values: [], smallestValue: 0,
                largestValue: 0)
            var count = 0
            do {
                try file.forEachTableEntry(of: name) { entry in
                    guard count < TableOutline.looked else { throw Enough() }
                    count += 1
                    TableOutline.note(entry.keyBytes, record.hasIntegerKeys, in: &table.keys)
                    TableOutline.note(entry.valueBytes, record.hasIntegerValues, in: &table.values)
                    table.smallestValue = count == 1 ? entry.valueSize : min(table.smallestValue, entry.valueSize)
                    table.largestValue = max(table.largestValue, entry.valueSize)
                }
            } catch is Enough {}
            tables.append(table)
        }
        (faults, aloneBecause) = (file.findings.list, file.aloneBecause)
    }

    /// The outline as a JSON object, without a line break.
    package var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }

    private static func note(_ bytes: Bytes, _ isInteger: Bool, in kinds: inout [String]) {
        let isNumber = TableLines.number(bytes, isInteger: isInteger) != nil
        let kind = isNumber ? "integer" : TableLines.string(bytes) != nil ? "text" : "bytes"
        if !kinds.contains(kind) { kinds.append(kind) }
    }
}

extension StoreInspector {
    /// Reads the outline of the tables of a file of another program.
    ///
    /// - Throws: As ``statistics()``.
    package func tableOutline() throws -> TableOutline { try open { try TableOutline(path, $0) } }
}
