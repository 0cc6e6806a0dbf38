// The full-text indexes of an export: the real `sqlite3` finds the records by their words.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: full-text indexes of an export")
struct FullTextExportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Exports a new store with one record of each entity, by its fields.
    private func export(
        _ entities: [EntityDefinition], _ records: [(entity: String, key: RecordKey, fields: [Record.Field])]
    ) throws -> StoreExport {
        let path = folder.path + "/texts.tarn"
        let store = try Store.open(at: path, schema: Schema(entities), options: Store.Options(durability: .volatile))
        try store.write { writer in
            for record in records { try writer.put(record.entity, record.key, record.fields) }
        }
        return try StoreInspector(at: path).exportSQLite(to: folder.path + "/out.db", hasFullText: true) {
            Issue.record("\($0)")
        }
    }

    private func sql(_ query: String) throws -> [String] {
        let text = try run("/usr/bin/sqlite3", "-readonly", folder.path + "/out.db", query)
        return text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }

    /// The keys of the records of a table that have a word, the best match first.
    private func matches(_ word: String, _ table: String, in index: String? = nil, row: String = "rowid") throws
        -> [String]
    {
        let index = index ?? table + "_fts"
        return try sql(
            "SELECT t.id FROM \"\(index)\" JOIN \"\(table)\" t ON t.\(row) = \"\(index)\".rowid "
                + "WHERE \"\(index)\" MATCH '\(word)' ORDER BY \"\(index)\".rank")
    }

    @Test("records are found by the words of their texts and lists of texts, whatever the type of the key")
    func words() throws {
        let result = try export(
            [
                EntityDefinition(
                    "Issue", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("title", .string), .init("body", .string, optional: true),
                        .init("tags", .array(.string)), .init("count", .int), .init("sizes", .array(.int)),
                    ]),
                EntityDefinition("Label", key: ["id"], attributes: [.init("id", .string), .init("text", .string)]),
                EntityDefinition("Point", key: ["id"], attributes: [.init("id", .int), .init("x", .double)]),
            ],
            [
                (
                    "Issue", RecordKey(-7),
                    [
                        .init("title", .string("It's a Timeout")), .init("tags", .array([.string("slow net")])),
                        .init("count", .int(42)), .init("sizes", .array([.int(42)])),
                    ]
                ),
                (
                    "Issue", RecordKey(3),
                    [
                        .init("title", .string("Crash")), .init("body", .string("timeout\nafter a\0b crash")),
                        .init("tags", .array([])), .init("count", .int(42)), .init("sizes", .array([])),
                    ]
                ),
                ("Label", RecordKey("b"), [.init("text", .string("Été"))]),
                ("Point", RecordKey(1), [.init("x", .double(1))]),
            ])
        #expect(result.fullTextTables == ["Issue_fts", "Label_fts"])
        #expect(try matches("timeout", "Issue").sorted() == ["-7", "3"])
        #expect(try matches("crash", "Issue") == ["3"])
        #expect(try matches("net", "Issue") == ["-7"])
        #expect(try matches("42", "Issue") == [], "numbers are no texts")
        #expect(try matches("ete", "Label") == ["b"])
        #expect(try sql("PRAGMA integrity_check") == ["ok"])
        // `count(*)` of the index itself would count the rows of the table.
        #expect(try sql("SELECT count(*) FROM Issue; SELECT count(*) FROM Issue_fts_docsize") == ["2", "2"])
        // The query by which datasette finds the index of a table.
        let found = try sql(
            "SELECT name FROM sqlite_master WHERE rootpage = 0 "
                + "AND sql LIKE '%VIRTUAL TABLE%USING FTS%content=\"Issue\"%'")
        #expect(found == ["Issue_fts"])
    }

    @Test("names that SQLite keeps for itself, and tables that have the names of an index's own, do not fail it")
    func names() throws {
        let result = try export(
            [
                EntityDefinition(
                    "Row", key: ["id"],
                    attributes: [
                        .init("id", .int), .init("rowid", .string), .init("rank", .string), .init("Row_fts", .string),
                        .init("content", .string), .init("unindexed", .string), .init("_body", .string),
                    ],
                    relationships: [.init("fts_2", to: "Row", many: true, inverse: "others")]),
                EntityDefinition(
                    "Row_fts_3_idx", key: ["id"], attributes: [.init("id", .int), .init("rank", .string)]),
            ],
            [
                (
                    "Row", RecordKey(1),
                    [
                        .init("rowid", .string("one")), .init("rank", .string("two")),
                        .init("Row_fts", .string("three")), .init("content", .string("four")),
                        .init("unindexed", .string("five")), .init("_body", .string("six")),
                    ]
                ),
                ("Row_fts_3_idx", RecordKey(1), [.init("rank", .string("one"))]),
            ])
        // Row_fts is a column, Row_fts_2 the table of a relationship, Row_fts_3_idx an entity.
        #expect(result.fullTextTables == ["Row_fts_4"])
        for word in ["three", "four", "five", "six"] {
            #expect(try matches(word, "Row", in: "Row_fts_4", row: "_rowid_") == ["1"], "\(word)")
        }
        #expect(try matches("two", "Row", in: "Row_fts_4", row: "_rowid_") == [])
        #expect(try sql("PRAGMA integrity_check") == ["ok"])
    }
}
