// `tarn store import`: what a dump has comes back, byte for byte, and what has a problem is named.

import Foundation
import TestSupport
import Testing

@Suite("Command line: store import")
struct StoreImportCommandTests {
    private func write(_ text: String, _ folder: TemporaryFolder, _ name: String = "lines.ndjson") throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder.path)/\(name)"))
        return "\(folder.path)/\(name)"
    }

    @Test("the dump of the new store equals the dump that it was made from, and it verifies")
    func roundTrip() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store, copy = folder.path + "/copy.tarn"
        let dump = try await tarn("inspect", "dump", store)
        let file = try write(dump.output, folder)
        let result = try await tarn("store", "import", copy, file, "--schema-of", store)
        expectSuccess(result)
        #expect(result.output.contains("330 Issue") && result.output.contains("500 Comment"), "\(result.output)")
        #expect(try await tarn("inspect", "dump", copy).output == dump.output)
        expectSuccess(try await tarn("inspect", "verify", copy))
        // By the description, from a pipe.
        let piped = try await shell(
            "\"$TARN\" inspect dump '\(store)' | \"$TARN\" store import '\(folder.path)/piped.tarn' - --file '\(Repository.forgeFile)'"
        )
        expectSuccess(piped)
        #expect(try await tarn("inspect", "dump", folder.path + "/piped.tarn").output == dump.output)
        let again = try await tarn("store", "import", copy, file, "--schema-of", store)
        #expect(again.status == 1 && again.error.contains("--merge"), "\(again.error)")
    }

    @Test("lines with problems are named by their number, and nothing is imported without --skip-bad")
    func badLines() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store, copy = folder.path + "/copy.tarn"
        var lines = try await tarn("inspect", "dump", store, "--entity", "Label").lines
        let all = lines.count
        lines.insert("{\"entity\":\"Label\",\"key\":1", at: 1)
        lines.insert("{\"entity\":\"Lable\",\"key\":1,\"fields\":{}}", at: 2)
        lines.insert("{\"entity\":\"Label\",\"key\":\"x\",\"fields\":{}}", at: 3)
        lines.insert("{\"entity\":\"Label\",\"key\":1,\"fields\":{\"id\":2}}", at: 4)
        lines.append(lines[0])
        let file = try write(lines.joined(separator: "\n"), folder)
        let result = try await tarn("store", "import", copy, file, "--schema-of", store)
        #expect(result.status == 1 && result.output == "", "\(result)")
        for number in [2, 3, 4, 5, lines.count] {
            #expect(result.error.contains("\(file):\(number): "), "\(number): \(result.error)")
        }
        #expect(result.error.contains("did you mean \"Label\"") && result.error.contains("occurs twice"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["lines.ndjson"])
        let skipped = try await tarn("store", "import", copy, file, "--schema-of", store, "--skip-bad")
        #expect(skipped.status == 3 && skipped.output.contains("\(all) Label"), "\(skipped)")
        #expect(
            try await tarn("inspect", "dump", copy).output
                == (try await tarn("inspect", "dump", store, "--entity", "Label")).output)
    }

    @Test("a reference to a missing record with a long key comes back, and leads to the record once it is there")
    func missingLongKey() async throws {
        let folder = try TemporaryFolder(), key = String(repeating: "long/", count: 100)
        let description = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              Team: { key: name, attributes: { name: string } }
              Item: { key: id, attributes: { id: int }, relationships: { team: Team, teams: { to: [Team] } } }
            """)
        let item = try write(
            #"{"entity":"Item","key":1,"fields":{"id":1,"team":"\#(key)","teams":["a","\#(key)"]}}"# + "\n", folder)
        let first = folder("first.tarn"), second = folder("second.tarn")
        expectSuccess(try await tarn("store", "import", first, item, "--file", description))
        let dump = try await tarn("inspect", "dump", first)
        #expect(dump.output.contains(#""team":{"digest":""#) && !dump.output.contains(key), "\(dump)")
        let file = try write(dump.output, folder, "dump.ndjson")
        expectSuccess(try await tarn("store", "import", second, file, "--file", description))
        #expect(try await tarn("inspect", "dump", second).output == dump.output)
        expectSuccess(try await tarn("inspect", "verify", second))
        let team = try write(#"{"entity":"Team","key":"\#(key)","fields":{"name":"\#(key)"}}"# + "\n", folder, "team")
        expectSuccess(try await tarn("store", "import", second, team, "--merge"))
        let related = try await tarn("related", "Item", "1", "team", "--store", second, "--format", "json")
        #expect(related.status == 0 && related.output.contains(key), "\(related)")
        // Not one of a long key.
        for digest in ["00", String(repeating: "f", count: 479), String(repeating: "0", count: 480), "x"] {
            let lines = try write(
                #"{"entity":"Item","key":2,"fields":{"id":2,"team":{"digest":"\#(digest)"}}}"# + "\n", folder, "wrong")
            let wrong = try await tarn("store", "import", second, lines, "--merge")
            #expect(wrong.status == 1 && wrong.error.contains("480 hexadecimal digits"), "\(wrong)")
        }
    }

    @Test("in csv and tsv, keys of several parts are JSON, and an included key or null is as without --include")
    func compositeKeys() async throws {
        let folder = try TemporaryFolder()
        let description = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: https://api.test.example }
            entities:
              Team: { key: [org, name], attributes: { org: string, name: string } }
              User: { key: login, attributes: { login: string } }
              Item: { key: id, attributes: { id: int }, relationships: { team: Team, owner: User } }
            """)
        let file = try write(
            """
            {"entity":"Item","key":1,"fields":{"id":1,"team":["a, b","c"],"owner":"ada"}}
            {"entity":"Item","key":2,"fields":{"id":2,"team":["a","b, c"],"owner":null}}

            """, folder)
        let store = folder("s.tarn")
        expectSuccess(try await tarn("store", "import", store, file, "--file", description))
        let csv = #"""
            id,team,owner
            1,"[""a, b"",""c""]",ada
            2,"[""a"",""b, c""]",

            """#
        #expect(try await tarn("list", "Item", "--store", store, "--format", "csv").output == csv)
        let tsv = try await tarn("list", "Item", "--store", store, "--format", "tsv", "--include", "owner")
        #expect(
            tsv.lines == ["id\tteam\towner", "1\t[\"a, b\",\"c\"]\tada", "2\t[\"a\",\"b, c\"]\t"], "\(tsv.output)")
    }

    @Test("--merge sets the fields of the file in an existing store, and nothing if a line has a problem")
    func merging() async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        let before = try await Forge.dump(copy)
        let key = try #require(
            try json(try await tarn("inspect", "dump", copy, "--entity", "Label", "--limit", "1").lines[0])["key"]
                as? Int)
        let good = "{\"entity\":\"Label\",\"key\":\(key),\"fields\":{\"color\":\"123456\"}}\n"
        let bad = try write(good + "{}\n", folder, "bad.ndjson")
        let refused = try await tarn("store", "import", copy, bad, "--merge")
        #expect(refused.status == 1 && refused.error.contains("bad.ndjson:2: "), "\(refused)")
        #expect(try await Forge.dump(copy) == before)
        expectSuccess(try await tarn("store", "import", copy, try write(good, folder), "--merge"))
        let after = try await Forge.dump(copy)
        #expect(zip(before, after).count { $0 != $1 } == 1 && after.contains { $0.contains("\"color\":\"123456\"") })
        #expect(try await tarn("changes", "--store", copy, "--limit", "1000").output.contains("\(key)"))
        // The store's own dump changes nothing.
        let whole = try write(after.joined(separator: "\n"), folder, "whole.ndjson")
        expectSuccess(try await tarn("store", "import", copy, whole, "--merge"))
        #expect(try await Forge.dump(copy) == after)
    }

    @Test(
        "--merge refuses every pipe, of which a second reading finds nothing",
        arguments: ["- < 'FILE'", "/dev/stdin < <(cat 'FILE')", "<(cat 'FILE')", "'FOLDER/fifo'"])
    func mergedPipe(_ lines: String) async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        let before = try await Forge.dump(copy), file = try write(before[0] + "\n", folder)
        let argument = lines.replacing("FILE", with: file).replacing("FOLDER", with: folder.path)
        // To open the pipe would wait for a writer.
        let result = try await shell(
            "mkfifo '\(folder.path)/fifo'; timeout 60 \"$TARN\" store import '\(copy)' \(argument) --merge")
        #expect(result.status == 2 && result.error.contains("it needs a file, not a pipe"), "\(result)")
        #expect(try await Forge.dump(copy) == before)
    }

    @Test("a standard input that cannot be read is named", arguments: ["<&-", "</"])
    func unreadableInput(_ redirection: String) async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        let result = try await shell(
            "\"$TARN\" store import '\(folder.path)/new.tarn' - --schema-of '\(store)' \(redirection)")
        #expect(result.status == 1 && result.error.contains("standard input cannot be read"), "\(result)")
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/new.tarn"))
    }
}
