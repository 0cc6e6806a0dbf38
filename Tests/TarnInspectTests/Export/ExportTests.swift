// An export has what the store has: the real `sqlite3` counts, joins and compares the same.

import Foundation
import TestSupport
import Testing

@testable import TarnInspect
@testable import TarnStore

@Suite("Inspect: export")
struct ExportTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @discardableResult
    private func export(_ store: String, _ name: String = "out.db") throws -> StoreExport {
        try StoreInspector(at: store).exportSQLite(to: folder.path + "/" + name) { Issue.record("\($0)") }
    }

    private func sql(_ query: String, _ name: String = "out.db") throws -> [String] {
        let text = try run("/usr/bin/sqlite3", "-readonly", folder.path + "/" + name, query)
        return text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
    }

    @Test("tables, views and join tables have as many rows as the store has records and references")
    func counts() throws {
        let store = try RichStore()
        let result = try export(store.path), records = try StoreInspector(at: store.path).verification().records
        #expect(result.records.map { "\($0.name) \($0.count)" } == records.map { "\($0.entity) \($0.count)" })
        #expect(result.damaged == 0 && result.unknownValues == 0)
        for table in result.rows {
            #expect(try sql("SELECT count(*) FROM \"\(table.name)\"") == ["\(table.count)"], "\(table.name)")
        }
        #expect(result.rows.map(\.name).contains("Issue_parts"))
        #expect(try sql("SELECT count(*) FROM Push; SELECT count(*) FROM Event") == ["10", "20"])
        #expect(try sql("SELECT count(*) FROM Issue_parts WHERE owner = 5") == ["1200"])
        #expect(try sql("PRAGMA integrity_check") == ["ok"])
        // Only what is missing in the store, too: parts of the long list, and references to them.
        let missing = try sql("SELECT DISTINCT \"table\" FROM pragma_foreign_key_check")
        #expect(missing == ["Issue_parts"])
    }

    @Test("values keep their type and their content: texts of any kind, the largest numbers, bytes, null and absent")
    func values() throws {
        let path = folder.path + "/values.tarn"
        let schema = Schema([
            EntityDefinition(
                "Thing", key: ["id"],
                attributes: [
                    .init("id", .string), .init("i", .int, optional: true), .init("u", .uint, optional: true),
                    .init("d", .double, optional: true), .init("n", .decimal, optional: true),
                    .init("s", .string, optional: true), .init("b", .bytes, optional: true),
                    .init("Name", .string, optional: true), .init("name", .string, optional: true),
                    .init("when", .date, optional: true), .init("flag", .bool, optional: true),
                ])
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        let texts = [
            "plain", "it's", "a\nb", ".quit", "\n.quit\n", "a\0b", "';DROP TABLE Thing;--", "日本 \u{202E}", "\"q\"",
            "go\n/\n", "", "it'\u{301}s", "a \"\u{301}quote", "'\u{200D}", "\u{FE0F}'",
        ]
        try store.write { writer in
            for (number, text) in texts.enumerated() {
                try writer.put("Thing", RecordKey("k\(number)"), [.init("s", .string(text)), .init("i", .int(.min))])
            }
            try writer.put(
                "Thing", RecordKey("z"),
                [
                    .init("i", .int(.max)), .init("u", .uint(.max)), .init("d", .double(0.1)),
                    .init("n", .decimal(try #require(ExactDecimal("123456789012345678901234567890.5")))),
                    .init("b", .bytes([0, 255, 39])), .init("Name", .string("A")), .init("name", .string("b")),
                    .init("when", .date(Timestamp(microseconds: 1))), .init("flag", .bool(true)), .init("s", .null),
                ])
            try writer.put("Thing", RecordKey("zz"), [.init("d", .double(-.infinity)), .init("u", .uint(7))])
        }
        try export(path)
        for (number, text) in texts.enumerated() {
            let wanted = Array(text.utf8).map { String(format: "%02X", $0) }.joined()
            #expect(try sql("SELECT typeof(s) || hex(s) FROM Thing WHERE id = 'k\(number)'") == ["text" + wanted])
        }
        #expect(
            try sql(
                "SELECT i, u, typeof(u), d, n, hex(b), Name, name_2 FROM Thing WHERE id = 'z'"
            ) == ["9223372036854775807|18446744073709551615|text|0.1|123456789012345678901234567890.5|00FF27|A|b"])
        #expect(
            try sql("SELECT \"when\", flag, s IS NULL, _partial FROM Thing WHERE id = 'z'")
                == ["1970-01-01T00:00:00.000001Z|1|1|0"])
        #expect(try sql("SELECT d < -1e308, typeof(u), u, i IS NULL FROM Thing WHERE id = 'zz'") == ["1|integer|7|1"])
        #expect(try sql("SELECT count(*) FROM Thing WHERE i = -9223372036854775808") == ["\(texts.count)"])
    }

    @Test("a double is the same double in SQLite, which rounds some literals wrongly")
    func doubles() throws {
        let path = folder.path + "/doubles.tarn"
        let schema = Schema([
            EntityDefinition("Place", key: ["id"], attributes: [.init("id", .int), .init("d", .double)])
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        let doubles: [Double] = [
            98.528416, 31.552759, -69.4620514, 69.605879535503, -176.6433329398523, 0.665972162555378, 0.00930586,
            3.596456570686927e-09, 1.8446744073709552e+19, -4.410589767956074e-303, 7.547351870371835e-303,
            .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 0, 1e-290, 0.1, 1.25, -7, 1e22,
            123456.7891,
        ]
        try store.write { writer in
            for (id, double) in doubles.enumerated() {
                try writer.put("Place", RecordKey(Int64(id)), [.init("d", .double(double))])
            }
        }
        try export(path)
        let bits = try sql("SELECT hex(ieee754_to_blob(d)) FROM Place ORDER BY id")
        #expect(bits == doubles.map { String(format: "%016llX", $0.bitPattern) })
    }

    @Test("a composite key has a column for each component, in the table, in references and in join tables")
    func compositeKeys() throws {
        let store = try RichStore()
        try export(store.path)
        #expect(
            try sql("SELECT name FROM pragma_table_info('Issue_parts')") == [
                "owner", "position", "target_issue", "target_number",
            ])
        #expect(
            try sql(
                "SELECT count(*) FROM Issue_parts JOIN Part p ON p.issue = target_issue AND p.number = target_number"
            ) == ["88"])
        #expect(try sql("SELECT name FROM pragma_table_info('Part') WHERE pk > 0 ORDER BY pk") == ["issue", "number"])
        #expect(
            try sql("SELECT \"table\", \"from\", \"to\" FROM pragma_foreign_key_list('Part')") == ["Issue|issue|id"])
    }

    @Test("indexes are those of the catalog, partial and unique ones included")
    func indexes() throws {
        let store = try RichStore()
        try export(store.path)
        let indexes = try sql(
            "SELECT name, \"unique\", partial FROM pragma_index_list('User') WHERE origin = 'c' ORDER BY name")
        #expect(indexes == ["User_age|0|0", "User_byName|0|1", "User_login|1|0"])
        #expect(
            try sql("SELECT sql FROM sqlite_schema WHERE name = 'User_byName'")
                == [#"CREATE INDEX "User_byName" ON "User" ("name" COLLATE NOCASE,"age") WHERE "age" IS NOT NULL"#])
    }

    @Test("records that a unique index leaves out by a number or a date do not fail the export")
    func conditionsOnTexts() throws {
        let path = folder.path + "/partial.tarn"
        let entity = EntityDefinition(
            "A", key: ["id"],
            attributes: [
                .init("id", .int), .init("price", .decimal), .init("at", .date), .init("serial", .int),
            ],
            indexes: [
                IndexDefinition(
                    "cheap", on: "serial", unique: true,
                    where: [IndexCondition("price", .less, .decimal(try #require(ExactDecimal("5"))))]),
                IndexDefinition(
                    "old", on: "serial", unique: true,
                    where: [IndexCondition("at", .less, .date(Timestamp(microseconds: 0)))]),
            ])
        let store = try Store.open(at: path, schema: Schema([entity]), options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, price, at) in [(1, "10", 500_000), (2, "40", 250_000)] as [(Int64, String, Int64)] {
                try writer.put(
                    "A", RecordKey(id),
                    [
                        .init("price", .decimal(try #require(ExactDecimal(price)))),
                        .init("at", .date(Timestamp(microseconds: at))), .init("serial", .int(7)),
                    ])
            }
        }
        try export(path)
        #expect(try sql("SELECT count(*) FROM A") == ["2"])
    }

    @Test("texts that differ behind a NUL do not fail the export of a unique index that ignores case")
    func uniqueWithoutCase() throws {
        let path = folder.path + "/nul.tarn"
        let entity = EntityDefinition(
            "N", key: ["id"], attributes: [.init("id", .int), .init("s", .string)],
            indexes: [IndexDefinition("u", on: [IndexDefinition.Component("s", ignoringCase: true)], unique: true)])
        let store = try Store.open(at: path, schema: Schema([entity]), options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, text) in [(1, "a\0b"), (2, "a\0c")] as [(Int64, String)] {
                try writer.put("N", RecordKey(id), [.init("s", .string(text))])
            }
        }
        try export(path)
        #expect(try sql("SELECT count(*) FROM N") == ["2"])
        #expect(try sql("SELECT name, \"unique\" FROM pragma_index_list('N') WHERE origin = 'c'") == ["N_u|0"])
    }

    @Test(
        "a name with a quotation mark stays one identifier of SQL, whatever marks follow",
        arguments: ["a\"b", "f\"\u{301}); SELECT 1;--", "\"\u{200D}\"", "é\"\u{FE0F} TEXT, x\""])
    func hostileNames(_ name: String) throws {
        let found = try run(
            "/usr/bin/sqlite3", ":memory:",
            "CREATE TABLE t (\(ExportCell.identifier(name)) TEXT); SELECT hex(name) FROM pragma_table_info('t')")
        #expect(found == name.utf8.map { String(format: "%02X", $0) }.joined() + "\n")
    }

    @Test("a unique index of an entity with a parent is unique among its records, not in the whole table")
    func uniqueIndexBelow() throws {
        let path = folder.path + "/below.tarn"
        let schema = Schema([
            EntityDefinition("Person", key: ["id"], attributes: [.init("id", .int), .init("name", .string)]),
            EntityDefinition(
                "Employee", parent: "Person", attributes: [],
                indexes: [IndexDefinition("byName", on: "name", unique: true)]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        try store.write { writer in
            for (id, entity, name) in [
                (1, "Person", "Ada"), (2, "Person", "Ada"), (3, "Employee", "Ada"), (4, "Employee", "Bea"),
            ] as [(Int64, String, String)] {
                try writer.put(entity, RecordKey(id), [.init("name", .string(name))])
            }
        }
        try export(path)
        #expect(try sql("SELECT count(*) FROM Person; SELECT count(*) FROM Employee") == ["4", "2"])
        #expect(
            try sql("SELECT name, \"unique\", partial FROM pragma_index_list('Person') WHERE origin = 'c'") == [
                "Person_byName|1|1"
            ])
    }

    @Test("references to missing records do not fail an export where SQLite checks foreign keys")
    func foreignKeysOn() throws {
        let store = try RichStore(), file = folder.path + "/out.sql"
        var lines = ""
        _ = try StoreInspector(at: store.path).exportSQL(
            line: { lines += $0 + "\n" }, damaged: { Issue.record("\($0)") })
        try lines.write(toFile: file, atomically: true, encoding: .utf8)
        // As with `PRAGMA foreign_keys=ON;` in ~/.sqliterc.
        _ = try run(
            "/usr/bin/sqlite3", "-bail", "-cmd", "PRAGMA foreign_keys=ON", folder.path + "/out.db", ".read \(file)")
        #expect(try sql("SELECT count(*) FROM Issue_parts WHERE owner = 5") == ["1200"])
    }

    @Test("the columns of a join table have different names, also if those of the key's components are alike")
    func joinColumns() throws {
        let path = folder.path + "/rooms.tarn"
        let schema = Schema([
            EntityDefinition("Area", key: ["b", "c"], attributes: [.init("b", .int), .init("c", .int)]),
            EntityDefinition(
                "Room", key: ["a", "a_b"], attributes: [.init("a_b", .int)],
                relationships: [
                    .init("a", to: "Area", inverse: "rooms"), .init("doors", to: "Room", many: true, inverse: "from"),
                ]),
        ])
        let store = try Store.open(at: path, schema: schema, options: Store.Options(durability: .volatile))
        let rooms = [RecordKey([.int(1), .int(2), .int(3)]), RecordKey([.int(1), .int(2), .int(4)])]
        try store.write { writer in
            try writer.put("Room", rooms[0], [.init("doors", .references([rooms[1]]))])
            try writer.put("Room", rooms[1], [])
        }
        try export(path)
        #expect(
            try sql("SELECT name FROM pragma_table_info('Room_doors')") == [
                "owner_a_b", "owner_a_c", "owner_a_b_2", "position", "target_a_b", "target_a_c", "target_a_b_2",
            ])
        #expect(try sql("SELECT * FROM Room_doors") == ["1|2|3|0|1|2|4"])
    }

    @Test("an existing file stays as it is, a failing sqlite3 is an error, and nothing unfinished is left")
    func failures() throws {
        let store = try InspectedStore(), path = folder.path + "/there.db"
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: StoreMaintenanceError.self) { try export(store.path, "there.db") }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("x".utf8))
        #expect(throws: (any Error).self) { try export(store.path, "no/such/folder.db") }
        #expect(throws: StoreOpenError.self) { try export(folder.path + "/none.tarn", "new.db") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["there.db"])
    }

    @Test("damaged rows are reported and counted; the others are exported")
    func damagedRow() throws {
        let store = try InspectedStore()
        try store.damage("Volume number 1")
        var damaged: [String] = []
        let result = try StoreInspector(at: store.path).exportSQLite(to: folder.path + "/out.db") {
            damaged.append("\($0)")
        }
        #expect(damaged == ["Book [a/b, 1]: the checksum is wrong"] && result.damaged == 1)
        #expect(try sql("SELECT number FROM Book") == ["2"])
    }

    @Test("CSV has the same rows, and a reader of CSV gets the same texts")
    func csv() throws {
        let store = try RichStore()
        var files: [String: String] = [:]
        let result = try StoreInspector(at: store.path).exportCSV {
            files[$0, default: ""] += $1
        } damaged: {
            Issue.record("\($0)")
        }
        #expect(files.keys.sorted() == result.rows.map(\.name).sorted())
        try export(store.path)
        for table in result.rows {
            let path = folder.path + "/\(table.name).csv"
            try Data((files[table.name] ?? "").utf8).write(to: URL(fileURLWithPath: path))
            // The program reads the file, and finds the same rows as in the exported table.
            let names = try sql("SELECT name FROM pragma_table_info('\(table.name)')").map { "\"\($0)\"" }.joined(
                separator: ",")
            let texts = names.split(separator: ",").map { "coalesce(CAST(\($0) AS TEXT),'')" }.joined(separator: ",")
            let lacking = "SELECT \(names) FROM back EXCEPT SELECT \(texts) FROM other.\"\(table.name)\""
            let text = try run(
                "/usr/bin/sqlite3", ":memory:", "-cmd", ".mode csv", "-cmd", ".import \(path) back", "-cmd",
                "ATTACH '\(folder.path)/out.db' AS other",
                "SELECT count(*), (SELECT count(*) FROM (\(lacking))) FROM back")
            #expect(text.trimmingCharacters(in: .whitespacesAndNewlines) == "\(table.count),0", "\(table.name)")
        }
    }
}
