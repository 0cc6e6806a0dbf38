// The questions of every day about records: `tarn inspect keys`, `schema`, `top` and `grep`.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Command line: inspect keys, schema, top and grep")
struct InspectQuestionsTests {
    @Test("keys are those of the dump, one a line, in both directions, from one to another, and their number")
    func keys() async throws {
        let store = try await Forge.store
        let dump = try await tarn("inspect", "dump", store, "--entity", "Issue")
        let wanted: [Int] = try dump.lines.map { line throws -> Int in try #require(try json(line)["key"] as? Int) }
        let found = try await tarn("inspect", "keys", store, "Issue")
        #expect(found.status == 0 && found.error == "" && found.lines == wanted.map(String.init))
        let reversed = try await tarn("inspect", "keys", store, "Issue", "--reverse", "--limit", "3")
        #expect(reversed.lines == wanted.suffix(3).reversed().map(String.init))
        let range = try await tarn(
            "inspect", "keys", store, "Issue", "--from", "\(wanted[10])", "--to", "\(wanted[20])", "--count")
        #expect(range.output == "11\n")
        #expect(try await tarn("inspect", "keys", store, "Issue", "--prefix", "1").status == 2)
        #expect(try await tarn("inspect", "keys", store, "Nope").status == 2)
        let piped = try await shell("set -o pipefail; $TARN inspect keys \(store) Comment | head -2")
        #expect(piped.lines.count == 2 && piped.error == "", "\(piped)")
    }

    @Test("grep ends where the system has no second thread to give", .timeLimit(.minutes(1)))
    func withoutSecondThread() async throws {
        let folder = try TemporaryFolder(), path = folder("s.tarn")
        let schema = Schema([EntityDefinition("A", key: ["id"], attributes: [.init("id", .string)])])
        do {
            // Long keys: a branch has few leaves.
            let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
            try await store.write { writer in
                for number in 10_000..<30_000 {
                    try writer.put("A", RecordKey("\(number)" + String(repeating: "k", count: 190)), [])
                }
            }
        }
        // No address space has room for a stack of 128 TiB.
        let result = try await shell("ulimit -s 137438953472; \"$TARN\" inspect grep '\(path)' 15000 --count")
        #expect(result.status == 0 && result.output == "1\n", "\(result)")
    }

    @Test("the schema is a description that tarn check accepts, and that makes the same catalog")
    func schema() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        let result = try await tarn("inspect", "schema", store)
        #expect(result.status == 0 && result.error == "")
        let file = folder.path + "/tarn.yaml"
        try result.output.write(toFile: file, atomically: true, encoding: .utf8)
        let check = try await tarn("check", "--file", file)
        #expect(check.status == 0, "\(check.output)\(check.error)\n\(result.output)")
        _ = try Store.open(at: folder.path + "/new.tarn", schema: try Description.load(path: file).schema)
        let difference = try await tarn("inspect", "diff", store, folder.path + "/new.tarn", "--summary", "--json")
        #expect(difference.output.contains("\"schema\":0,"), "\(difference.output)")
        let object = try json(try await tarn("inspect", "schema", store, "--json").output)
        let entities = try #require(object["entities"] as? [[String: Any]])
        #expect(entities.map { $0["name"] as? String }.contains("Issue") && entities.allSatisfy { $0["id"] is Int })
    }

    @Test("the default of a JSON attribute in the schema is one that a description can have, whatever it is")
    func defaultsOfJSON() async throws {
        let folder = try TemporaryFolder(), old = folder("old.tarn"), new = folder("new.tarn")
        let defaults = [#"{"a":[1,null],"b c":"x: y"}"#, "[]", "null", "true", #""text""#, "1.50"]
        let attributes = defaults.enumerated().map { AttributeDefinition("a\($0)", .json, default: .json($1)) }
        _ = try Store.open(
            at: old,
            schema: Schema([
                EntityDefinition("A", key: ["id"], attributes: [AttributeDefinition("id", .int)] + attributes)
            ])
        )
        let result = try await tarn("inspect", "schema", old)
        let copy = try folder.write("copy.yaml", result.output)
        expectSuccess(try await tarn("check", "--file", copy))
        _ = try Store.open(at: new, schema: try Description.load(path: copy).schema)
        let difference = try await tarn("inspect", "diff", old, new, "--summary", "--json")
        #expect(difference.output.contains("\"schema\":0,"), "\(difference.output)\n\(result.output)")
    }

    @Test("the conditions of an index in the schema are those of the store, whatever texts they have")
    func conditions() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              A:
                key: id
                attributes: { id: int, s: string?, and: string?, n: int?, at: date?, ok: bool? }
                indexes:
                  i1: { on: n, where: 's = ">= 5"' }
                  i2: { on: n, where: 's != "null"' }
                  i3: { on: n, where: 's = "null" and n is missing' }
                  i4: { on: n, where: 's > a and s != "null"' }
                  i5: { on: n, where: 's >= b and s = "and"' }
                  i6: { on: n, where: 's != " sp "' }
                  i7: { on: n, where: 's = "== x"' }
                  i8: { on: n, where: 's >= "a" and s != "true" and s != "In"' }
                  i9: { on: s, where: 'n > -5 and n < 7 and at >= 2024-01-01T00:00:00Z and ok = true' }
                  i10: { on: n, where: '`and` >= b and `and` < "a \\"q\\" b"' }
                  i11: { on: n, where: { s: open, n: '>= 5', at: null, ok: 'true' } }
            """)
        _ = try Store.open(at: folder.path + "/old.tarn", schema: try Description.load(path: file).schema)
        let result = try await tarn("inspect", "schema", folder.path + "/old.tarn")
        let copy = try folder.write("copy.yaml", result.output)
        let check = try await tarn("check", "--file", copy)
        #expect(check.status == 0, "\(check.output)\(check.error)\n\(result.output)")
        _ = try Store.open(at: folder.path + "/new.tarn", schema: try Description.load(path: copy).schema)
        let difference = try await tarn(
            "inspect", "diff", folder.path + "/old.tarn", folder.path + "/new.tarn", "--summary", "--json")
        #expect(difference.output.contains("\"schema\":0,"), "\(difference.output)\n\(result.output)")
        for text in [
            #"where: "s == \">= 5\"""#, "n > -5 and n < 7 and at >= 2024-01-01T00:00:00Z", "ok == true", #": ">= 5""#,
        ] {
            #expect(result.output.contains(text), "\(text): \(result.output)")
        }
    }

    @Test("top lists records by size, lists by length and tables by bytes")
    func top() async throws {
        let store = try await Forge.store
        let object = try json(try await tarn("inspect", "top", store, "--json", "--limit", "4").output)
        let stored = try #require(object["stored"] as? [[String: Any]])
        #expect(stored.count == 4)
        let entity = try #require(stored[0]["entity"] as? String), key = try #require(stored[0]["key"] as? Int)
        let record = try json(try await tarn("inspect", "get", store, entity, "\(key)", "--json").output)
        let row = try #require(record["row"] as? [String: Any])
        #expect(row["storedSize"] as? Int == stored[0]["stored"] as? Int)
        let table = try await tarn("inspect", "top", store)
        for heading in ["largest records, as they are stored", "longest lists", "fullest tables"] {
            #expect(table.lines.contains(heading))
        }
        #expect(try await tarn("inspect", "top", store, "--limit", "0").status == 2)
    }

    @Test("grep finds what a scan of the dump finds; exit code 0 with a match, 1 without, 2 for a wrong name")
    func grep() async throws {
        let store = try await Forge.store
        let dump = try await tarn("inspect", "dump", store, "--entity", "Issue").lines
        let wanted = try dump.filter {
            ((try json($0)["fields"] as? [String: Any])?["title"] as? String)?.contains("rule") ?? false
        }
        let found = try await tarn("inspect", "grep", store, "rule", "--entity", "Issue", "--fields", "title")
        #expect(found.status == 0 && found.lines.count == wanted.count && wanted.count > 1, "\(found.error)")
        for line in found.lines {
            let match = try json(line)
            #expect(match["field"] as? String == "title" && (match["value"] as? String)?.contains("rule") == true)
        }
        let counted = try await tarn(
            "inspect", "grep", store, "RULE", "-i", "--entity", "Issue", "--fields", "title", "--count")
        #expect(Int(counted.output.dropLast()).map { $0 >= wanted.count } == true)
        let none = try await tarn("inspect", "grep", store, "nothing has this text")
        #expect(none.status == 1 && none.output == "" && none.error == "")
        let wrong = try await tarn("inspect", "grep", store, "a", "--fields", "titel")
        #expect(wrong.status == 2 && wrong.error == "tarn: unknown field \"titel\": did you mean \"title\"?\n")
        #expect(try await tarn("inspect", "grep", store, "").status == 2)
        #expect(try await tarn("inspect", "grep", store, "e", "--limit", "3").lines.count == 3)
    }

    @Test("damage is reported on standard error with exit code 6, and the rest is answered")
    func damage() async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        try Damage.flip("Crash when a rule named \"all\" depends on itself", in: copy)
        let place = "tarn: \(copy): Issue 2262018391: the checksum is wrong"
        let keys = try await tarn("inspect", "keys", copy, "Issue")
        #expect(keys.status == 6 && keys.errorLines.first == place && keys.lines.count == 329)
        let grep = try await tarn("inspect", "grep", copy, "rule")
        #expect(grep.status == 6 && grep.errorLines.first == place && !grep.lines.isEmpty)
        let top = try await tarn("inspect", "top", copy)
        #expect(top.status == 6 && top.errorLines.first == place && !top.lines.isEmpty)
    }

    private func makeHostile(_ path: String) throws {
        let schema = Schema([
            EntityDefinition("Note", key: ["id"], attributes: [.init("id", .string), .init("text", .string)])
        ])
        try Store.open(at: path, schema: schema).write {
            try $0.put("Note", RecordKey("\u{1B}[2J"), [.init("text", .string("red \u{1B}[31m\u{202E} herring"))])
        }
    }

    @Test("values with escape sequences are escaped on a terminal")
    func hostile() async throws {
        let folder = try TemporaryFolder(), path = folder.path + "/hostile.tarn"
        try makeHostile(path)
        for arguments in [["keys", path, "Note"], ["grep", path, "herring"], ["top", path], ["changes", path]] {
            let shown = try await Terminal.run(["inspect"] + arguments).output
            #expect(
                !shown.contains("\u{1B}[2J") && !shown.contains("\u{1B}[31m") && !shown.contains("\u{202E}"), "\(shown)"
            )
        }
    }
}
