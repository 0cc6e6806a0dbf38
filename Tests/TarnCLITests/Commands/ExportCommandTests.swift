// `tarn inspect export`: what `sqlite3` and readers of CSV and JSON find in its output.

import Foundation
import TestSupport
import Testing

@Suite("Command line: inspect export")
struct ExportCommandTests {
    private static let counts = [
        "User": 42, "Label": 25, "Milestone": 12, "Issue": 330, "Comment": 500, "ChecklistItem": 56,
    ]

    private func sqlite(_ database: String, _ query: String) throws -> [String] {
        let result = try output(of: "/usr/bin/sqlite3", ["-readonly", database, query])
        #expect(result.status == 0, "\(result.text)")
        return result.text.split(separator: "\n").map(String.init)
    }

    @Test("a database of SQLite has as many rows as the store has records, and its references lead to them")
    func database() async throws {
        let folder = try TemporaryFolder(), path = folder.path + "/forge.db"
        let result = try await tarn("inspect", "export", try await Forge.store, "--sqlite", path)
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        for (table, count) in Self.counts {
            #expect(result.lines.contains("\(table): \(count) rows"))
            #expect(try sqlite(path, "SELECT count(*) FROM \(table)") == ["\(count)"])
        }
        #expect(try sqlite(path, "SELECT count(*) FROM Issue i JOIN User u ON u.id = i.author") == ["330"])
        #expect(try sqlite(path, "PRAGMA integrity_check") == ["ok"])
        let again = try await tarn("inspect", "export", try await Forge.store, "--sqlite", path)
        #expect(again.status == 1 && again.error.contains("forge.db"), "\(again.error)")
    }

    @Test("--full-text makes an index of the texts, which finds what the store's own search finds")
    func fullText() async throws {
        let folder = try TemporaryFolder(), path = folder.path + "/forge.db", store = try await Forge.store
        let result = try await tarn("inspect", "export", store, "--sqlite", path, "--full-text")
        expectSuccess(result)
        #expect(result.lines.contains("Issue_fts: full-text index"), "\(result.output)")
        let grep = try await tarn(
            "inspect", "grep", store, "crash", "-i", "--entity", "Issue", "--fields", "title", "--format", "csv")
        let rows = grep.lines.dropFirst().map { $0.split(separator: ",") }
        let keys = Set(rows.map { String($0[1]) })
        let found = Set(try sqlite(path, "SELECT rowid FROM Issue_fts WHERE Issue_fts MATCH 'title: crash*'"))
        #expect(!keys.isEmpty && found == keys)
        #expect(try sqlite(path, "SELECT count(*) FROM Issue") == ["330"])
        let sql = try await tarn("inspect", "export", store, "--sql", "--full-text")
        #expect(sql.lines.count { $0.contains("USING fts5") } > 1)
        let csv = try await tarn("inspect", "export", store, "--ndjson", "--full-text")
        #expect(csv.status == 2 && csv.error.contains("--full-text"), "\(csv.error)")
    }

    @Test("--sqlite needs no hard links, which the file systems of memory cards lack")
    func sqliteWithoutLinks() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        let source = try folder.write("nolink.c", "int link(const char *a, const char *b) { return -1; }\n")
        let result = try await shell(
            """
            cc -shared -fPIC '\(source)' -o '\(folder("nolink.so"))' || exit 99
            LD_PRELOAD='\(folder("nolink.so"))' "$TARN" inspect export '\(store)' --sqlite '\(folder("forge.db"))'
            """)
        #expect(result.status == 0, "\(result)")
        #expect(try sqlite(folder("forge.db"), "SELECT count(*) FROM Issue") == ["330"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["forge.db", "nolink.c", "nolink.so"])
    }

    @Test("--sql is what sqlite3 reads, --csv one file for each table, --ndjson the dump")
    func otherForms() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        let sql = try await tarn("inspect", "export", store, "--sql")
        try Data(sql.output.utf8).write(to: URL(fileURLWithPath: folder.path + "/forge.sql"))
        #expect(
            try output(of: "/usr/bin/sqlite3", [folder.path + "/forge.db", ".read \(folder.path)/forge.sql"]).status
                == 0)
        #expect(try sqlite(folder.path + "/forge.db", "SELECT count(*) FROM Comment") == ["500"])
        let csv = try await tarn("inspect", "export", store, "--csv", folder.path + "/tables")
        #expect(csv.status == 0 && csv.error == "")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tables")
        #expect(files.contains("Issue.csv") && files.contains("Issue_labels.csv") && files.count == csv.lines.count)
        let ndjson = try await tarn("inspect", "export", store, "--ndjson")
        #expect(ndjson.output == (try await tarn("inspect", "dump", store)).output)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "forge.db", "forge.sql", "tables",
            ])
    }

    @Test("what a killed export has left under the same process id is in nobody's way")
    func afterKill() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        // The shell replaces itself: the program has its process id.
        let result = try await shell(
            "mkdir '\(folder.path)/t.unfinished-'$$; exec \"$TARN\" inspect export '\(store)' --csv '\(folder.path)/t'")
        expectSuccess(result)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("t") && names.count == 2, "\(names)")
    }

    @Test("a damaged row has exit code 6 and is left out; no form, or two, is a usage error")
    func failures() async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let result = try await tarn("inspect", "export", copy, "--sqlite", folder.path + "/forge.db")
        #expect(result.status == 6 && result.error.contains("the checksum is wrong"))
        #expect(try sqlite(folder.path + "/forge.db", "SELECT count(*) FROM Issue") == ["329"])
        #expect(try await tarn("inspect", "export", copy).status == 2)
        #expect(try await tarn("inspect", "export", copy, "--sql", "--ndjson").status == 2)
    }

    @Test("entities that SQLite reserves, a name like an option, and a slash behind a directory are exported")
    func hardNames() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s.tarn"
        let description =
            "api: { base: 'http://127.0.0.1:1' }\nentities:\n  sqlite_p: { key: id, attributes: { id: int } }\n"
        try Data(description.utf8).write(to: URL(fileURLWithPath: folder.path + "/tarn.yaml"))
        let line = #"{"entity":"sqlite_p","key":-5,"version":1,"fields":{"id":-5}}"#
        try Data((line + "\n").utf8).write(to: URL(fileURLWithPath: folder.path + "/lines"))
        expectSuccess(
            try await tarn("store", "import", store, folder.path + "/lines", "--file", folder.path + "/tarn.yaml"))
        let result = try await shell(
            "cd '\(folder.path)' && \"$TARN\" inspect export s.tarn --sqlite=-x.db && \"$TARN\" inspect export s.tarn --csv tables/"
        )
        expectSuccess(result)
        #expect(try sqlite(folder.path + "/-x.db", "SELECT id FROM _sqlite_p") == ["-5"])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/tables")
        #expect(files == ["_sqlite_p.csv"], "\(files)")
    }

    @Test("an error of the file system is its path and its reason")
    func fileErrors() async throws {
        let store = try await Forge.store
        let exported = try await tarn("inspect", "export", store, "--csv", "/nonexistent-folder/tables")
        #expect(exported.status == 1 && exported.error.contains("No such file or directory"), "\(exported.error)")
        #expect(!exported.error.contains("NSError") && !exported.error.contains("Domain"), "\(exported.error)")
        let folder = try TemporaryFolder()
        let imported = try await tarn("store", "import", folder.path + "/n", folder.path, "--schema-of", store)
        #expect(imported.status == 1 && imported.error.contains("s a directory"), "\(imported.error)")
        #expect(!imported.error.contains("Domain") && !imported.error.contains("Error"), "\(imported.error)")
    }
}
