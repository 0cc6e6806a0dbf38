// `tarn inspect` about LMDB files of other programs: diff, export, schema, watch, salvage, and what
// such a file does not have.

import Foundation
import TestSupport
import Testing

@Suite("Command line: files of other programs")
struct ForeignFileCommandTests {
    private static let script =
        ForeignTables.script(
            """
            fill(b'names', [(b'key%03d' % i, b'{"n":%d}' % i) for i in range(300)] + [(b'=1', b"it's, \\"x\\"")])
            fill(b'Names', [(b'a', b'b')])
            fill(b'sqlite_x', [(b'\\x00', b'\\xff')])
            fill(b'../../up/' + b'long' * 100, [(b'deep', b'1')])
            fill(b'numbers', [(struct.pack('=Q', i), b'v') for i in (0, 7, 2**63)], integerkey=True)
            fill(b'several', [(b'k', b'one'), (b'k', b'two'), (b'l', b'three')], dupsort=True)
            fill(b'empty', [])
            t.put(b'beside', b'the tables')
            """)
            + """
            with env.begin(write=True) as t: exec(sys.argv[2] if len(sys.argv) > 2 else '')
            """

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func make(_ name: String, _ edit: String = "") throws -> String {
        let path = folder(name), made = try output(of: "/usr/bin/python3", ["-c", Self.script, path, edit])
        #expect(made.status == 0, "\(made.text)")
        return path
    }

    private func sqlite(_ database: String, _ query: String) throws -> String {
        try output(of: "/usr/bin/env", ["sqlite3", database, query]).text.trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    @Test("diff has the differences of tables, the exit codes of diff, and a summary", arguments: ["", ".mdb"])
    func diff(_ ending: String) async throws {
        let a = try make("a\(ending)"), same = try make("same\(ending)")
        let b = try make(
            "b\(ending)",
            "n = env.open_db(b'names', txn=t); t.put(b'key007', b'x', db=n); t.delete(b'key008', db=n)")
        let equal = try await tarn("inspect", "diff", a, same)
        #expect(equal.status == 0 && equal.lines == ["equal: 311 entries"], "\(equal)")
        let result = try await tarn("inspect", "diff", a, b)
        #expect(
            result.status == 1
                && result.lines == [
                    "~ names key007", "    {\"n\":7} → x", "- names key008", "    {\"n\":8}",
                    "names: 0 added, 1 removed, 1 changed, 299 equal",
                ], "\(result)")
        let summary = try await tarn("inspect", "diff", a, b, "--summary", "--json", "--entity", "names")
        #expect(
            summary.lines == [
                #"{"summary":{"equal":false,"complete":true,"schema":0,"tables":{"names":{"same":299,"added":0,"removed":1,"changed":1,"unreadable":0}}}}"#
            ], "\(summary)")
        let store = try await Forge.store, mixed = try await tarn("inspect", "diff", a, store)
        #expect(mixed.status == 2 && mixed.error.contains("an LMDB file of another program"), "\(mixed.error)")
        let unknown = try await tarn("inspect", "diff", a, b, "--entity", "nams")
        #expect(unknown.status == 2 && unknown.error.contains("did you mean \"Names\"?"), "\(unknown.error)")
    }

    @Test("export makes a table of each table, also of names that are none of a file or of SQLite")
    func exportSQLite() async throws {
        let file = try make("a"), database = folder("a.db")
        let result = try await tarn("inspect", "export", file, "--sqlite", database)
        #expect(result.status == 0 && result.lines.contains("names_2: 301 rows"), "\(result)")
        #expect(try sqlite(database, "SELECT count(*) FROM sqlite_master WHERE type = 'table'") == "8")
        #expect(try sqlite(database, "SELECT value FROM names_2 WHERE key = '=1'") == "it's, \"x\"")
        #expect(try sqlite(database, "SELECT key || value FROM Names") == "ab")
        #expect(
            try sqlite(database, "SELECT typeof(key), typeof(value), hex(key), hex(value) FROM _sqlite_x")
                == "blob|blob|00|FF")
        #expect(try sqlite(database, "SELECT group_concat(typeof(key)) FROM numbers") == "integer,integer,blob")
        #expect(try sqlite(database, "SELECT sum(key) FROM numbers WHERE typeof(key) = 'integer'") == "7")
        #expect(try sqlite(database, "SELECT group_concat(value) FROM several WHERE key = 'k'") == "one,two")
        #expect(try sqlite(database, "SELECT value FROM main WHERE key = 'beside'") == "the tables")
        #expect(try sqlite(database, "SELECT count(*) FROM empty") == "0")
        let text = try await tarn("inspect", "export", file, "--sql", "--full-text")
        #expect(text.status == 2 && text.error.contains("--full-text is for stores of Tarn"), "\(text.error)")
    }

    @Test("export writes files of CSV inside of the directory, and entries as lines of JSON")
    func exportText() async throws {
        let file = try make("a"), directory = folder("tables")
        expectSuccess(try await tarn("inspect", "export", file, "--csv", directory))
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(files.count == 8 && files.allSatisfy { $0.utf8.count < 255 && $0.hasSuffix(".csv") }, "\(files)")
        let numbers = try String(contentsOfFile: directory + "/numbers.csv", encoding: .utf8)
        #expect(numbers == "key,value\r\n0,v\r\n7,v\r\n0x0000000000000080,v\r\n")
        let lines = try await tarn("inspect", "export", file, "--ndjson")
        #expect(lines.status == 0 && lines.lines.count == 311, "\(lines.lines.count)")
        #expect(lines.lines.first == #"{"table":null,"key":"beside","value":"the tables"}"#)
        #expect(lines.lines.contains(#"{"table":"several","key":"k","value":"two"}"#))
        #expect(try await tarn("inspect", "dump", file).lines == lines.lines)
        let entity = try await tarn("inspect", "dump", file, "--entity", "names")
        #expect(entity.status == 2 && entity.error.contains("--entity is for stores of Tarn"), "\(entity.error)")
    }

    @Test("a large table of an export is whole, names have no line breaks, and damage ends with an error")
    func exportParts() async throws {
        let file = try make(
            "a",
            """
            b = env.open_db(b'big', txn=t)
            for i in range(3000): t.put(b'%06d' % i, b'x' * 100, db=b)
            for name in (b'a\\nb', b'a_b'): t.put(b'k', b'v', db=env.open_db(name, txn=t))
            """)
        expectSuccess(try await tarn("inspect", "export", file, "--csv", folder("tables")))
        let big = try String(contentsOfFile: folder("tables/big.csv"), encoding: .utf8)
        #expect(big.hasPrefix("key,value\r\n000000,x") && big.split(separator: "\r\n").count == 3001)
        let sql = try await tarn("inspect", "export", file, "--sql")
        // Both names are written in the same way.
        let names = sql.lines.filter { $0.hasPrefix("CREATE TABLE \"a_b") }.map { $0.split(separator: " ")[2] }
        #expect(names.count == 2 && Set(names).count == 2, "\(names) \(sql.error)")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file + "/data.mdb"))
        let place = try #require(bytes.range(of: Data("001500".utf8))).lowerBound
        // The flags of the page.
        bytes[place / 4096 * 4096 + 10] = 0xFF
        try bytes.write(to: URL(fileURLWithPath: file + "/data.mdb"))
        let damaged = try await tarn("inspect", "export", file, "--csv", folder("readable"))
        #expect(damaged.status == 6 && damaged.error.contains("the readable entries were exported"), "\(damaged)")
        #expect(FileManager.default.fileExists(atPath: folder("readable/big.csv")))
    }

    @Test("schema lists the tables with options, numbers and kinds")
    func schema() async throws {
        let file = try make("a")
        let shown = try await tarn("inspect", "schema", file)
        #expect(shown.status == 0 && shown.lines.count == 9, "\(shown)")
        let tables = try #require(
            try json(try await tarn("inspect", "schema", file, "--json").output)["tables"] as? [[String: Any]])
        let numbers = try #require(tables.first { $0["name"] as? String == "numbers" })
        #expect(numbers["options"] as? [String] == ["integerkey"] && numbers["entries"] as? Int == 3)
        #expect(numbers["keys"] as? [String] == ["integer"] && numbers["values"] as? [String] == ["text"])
        #expect(tables[0]["name"] == nil && tables[0]["entries"] as? Int == 1, "\(tables[0])")
    }

    @Test("cache and changes, and records in the shell, say that the file has none, and what answers instead")
    func nothingOfThat() async throws {
        let file = try make("a.mdb")
        let cache = try await tarn("inspect", "cache", file)
        #expect(
            cache.status == 2
                && cache.error.contains(
                    "an LMDB file of another program has no stored responses; `tarn inspect schema`"),
            "\(cache.error)")
        let changes = try await tarn("inspect", "changes", file)
        #expect(
            changes.status == 2 && changes.error.contains("no change log; `tarn inspect watch`"), "\(changes.error)")
        let asked = try await shell("printf 'count names\\nkeys names --count\\n' | $TARN inspect shell '\(file)'")
        #expect(asked.lines == ["301"] && asked.error.contains("has no records; `schema` lists"), "\(asked)")
    }

    @Test("watch shows the tables of each commit of another process", arguments: ["a", "a.mdb"])
    func watch(_ name: String) async throws {
        let file = try make(name)
        let watch = try TarnProcess(["inspect", "watch", file, "--limit", "3", "--format", "ndjson"])
        let edit = """
            import lmdb, sys, time
            env = lmdb.open(sys.argv[1], map_size=1 << 24, max_dbs=16, subdir=not sys.argv[1].endswith('.mdb'))
            for i in range(100):
                time.sleep(0.3)
                with env.begin(write=True) as t:
                    t.put(b'new%d' % i, b'x', db=env.open_db(b'names', txn=t))
            """
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        writer.arguments = ["-c", edit, file]
        try writer.run()
        defer { writer.terminate() }
        let result = await watch.end()
        #expect(result.status == 0 && result.lines.count == 3, "\(result)")
        let rows = try result.lines.map { try json($0) }
        #expect(
            rows.allSatisfy { $0["table"] as? String == "names" && ($0["difference"] as? Int ?? 0) >= 1 }, "\(rows)")
        let transactions = rows.compactMap { $0["transaction"] as? Int }
        #expect(transactions.count == 3 && transactions == transactions.sorted(), "\(rows)")
    }

    @Test("salvage writes an environment with the tables, and exits with 3 if anything is lost")
    func salvage() async throws {
        let file = try make("a"), new = folder("new")
        let sound = try await tarn("inspect", "salvage", file, new)
        #expect(sound.status == 0 && sound.output.contains("311 entries ("), "\(sound)")
        #expect(try output(of: "/usr/bin/mdb_dump", ["-s", "several", new]).text.contains("duplicates=1"))
        #expect(try await tarn("inspect", "diff", file, new).status == 0)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file + "/data.mdb"))
        for index in 0..<8192 { bytes[index] = 0 }
        try bytes.write(to: URL(fileURLWithPath: file + "/data.mdb"))
        let found = try await tarn("inspect", "salvage", file, folder("found"))
        #expect(found.status == 3 && found.output.contains("both meta pages are unreadable"), "\(found)")
        #expect(found.output.contains("301 names"), "\(found.output)")
    }

    @Test("a damaged file is asked about its tables nevertheless")
    func damaged() async throws {
        let file = try make("a", "t.put(b'second', b'commit')")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file + "/data.mdb"))
        // The older meta page, of the first transaction.
        bytes[4096 + 16] = 0
        try bytes.write(to: URL(fileURLWithPath: file + "/data.mdb"))
        for question in [
            ["keys", file, "names"], ["schema", file], ["export", file, "--ndjson"], ["grep", file, "key"],
        ] {
            let result = try await tarn(["inspect"] + question)
            #expect(!result.error.contains("not a Tarn store") && !result.lines.isEmpty, "\(question) \(result)")
        }
    }

    @Test("readers shows processes that read, also of a single file", arguments: ["a", "a.mdb"])
    func readers(_ name: String) async throws {
        let file = try make(name), ready = folder("ready")
        let script = """
            import lmdb, sys, time
            env = lmdb.open(sys.argv[1], subdir=not sys.argv[1].endswith('.mdb'), readonly=True)
            with env.begin() as t:
                open(sys.argv[2], 'w').close()
                time.sleep(60)
            """
        let reader = Process()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        reader.arguments = ["-c", script, file, ready]
        try reader.run()
        defer { reader.terminate() }
        while !FileManager.default.fileExists(atPath: ready), reader.isRunning { usleep(10_000) }
        for options in [["--json"], ["--format", "json"], []] {
            let result = try await tarn(["inspect", "readers", file] + options)
            #expect(result.status == 0 && result.lines.count == 1, "\(result)")
            let row = try json(try #require(result.lines.first))
            #expect(row["process"] as? Int == Int(reader.processIdentifier) && row["state"] as? String == "reading")
            #expect(row["transaction"] as? Int == 1 && row["behind"] as? Int == 0, "\(row)")
        }
        try Data("no LMDB".utf8).write(to: URL(fileURLWithPath: folder("text")))
        let text = try await tarn("inspect", "readers", folder("text"))
        #expect(text.status != 0 && text.error.contains("no data file of LMDB"), "\(text)")
        let cleared = try await tarn("inspect", "readers", file, "--clear")
        #expect(cleared.status == (name == "a" ? 0 : 2), "\(cleared)")
        #expect(try await tarn("inspect", "readers", "--help").output.contains("--json"))
    }
}
