// The formats of records: every command, values that need quoting, paths, kinds, times.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: formats of records")
struct RecordFormatTests {
    private static let yaml = """
        api: { base: https://api.test.example }
        entities:
          Event:
            key: id
            attributes: { id: int, type: string, note: string?, at: date?, tags: '[string]?', extra: json? }
            relationships:
              owner: { to: User, inverse: events }
            kinds: { Push: { type: push }, Event: {} }
          Push: { parent: Event, attributes: { branch: string? } }
          User: { key: id, attributes: { id: string, login: string? }, relationships: { boss: { to: User, inverse: staff } } }
        endpoints:
          events: { path: /events, entity: Event, paginate: single_page }
        """
    private static let events = """
        [{"id":1,"type":"push","branch":"main","note":"a \\"b\\", c\\nd\\te\\\\","at":"2026-01-02T03:04:05.5Z",
          "tags":["x","y"],"extra":{"k":[1]},"owner":{"id":"u","login":"ada","boss":{"id":"v","login":"Bob"}}},
         {"id":2,"type":"note","note":"=SUM(A1)","owner":{"id":"w"}},
         {"id":3,"type":"note","note":"-3 | <b>","at":null}]
        """

    private static let mirrored = Task { () -> (folder: TemporaryFolder, file: String) in
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", yaml)
        let server = try LocalServer([recording("/events", events)])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        guard result.status == 0 else { throw LocalServer.Failure(description: result.error) }
        return (folder, file)
    }

    private func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> TarnProcess.Result {
        let mirror = try await Self.mirrored.value
        return try await tarn(arguments + ["--file", mirror.file], environment: environment)
    }

    @Test("ndjson has a line for each record, json is one array, and both have the kind")
    func json() async throws {
        let lines = try await run("list", "Event").lines
        #expect(
            lines.last == #"{"_kind":"Event","id":3,"type":"note","note":"-3 | <b>","at":null}"#, "\(lines)")
        let text = try await run("list", "Event", "--format", "json").output
        let array = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
        #expect(array.map { $0["_kind"] as? String } == ["Push", "Event", "Event"])
        #expect(array[0]["branch"] as? String == "main" && array[0]["note"] as? String == "a \"b\", c\nd\te\\")
        #expect(try await run("list", "Event", "--format", "json", "--limit", "0").output == "[]\n")
        let one = try await run("get", "Event", "3", "--format", "json").output
        #expect(try JSONSerialization.jsonObject(with: Data(one.utf8)) is [String: Any])
    }

    @Test("csv quotes by RFC 4180, tsv escapes, and both have every field of every kind")
    func separated() async throws {
        let csv = try await run("list", "Event", "--format", "csv").output
        #expect(
            csv == """
                _kind,id,type,note,at,tags,extra,owner,branch
                Push,1,push,"a ""b"", c
                d\te\\",2026-01-02T03:04:05.5Z,"[""x"",""y""]","{""k"":[1]}",u,main
                Event,2,note,=SUM(A1),,,,w,
                Event,3,note,-3 | <b>,,,,,

                """)
        let tsv = try await run("list", "Event", "--format", "tsv", "--fields", "id,note").output
        #expect(tsv == "id\tnote\n1\ta \"b\", c\\nd\\te\\\\\n2\t=SUM(A1)\n3\t-3 | <b>\n")
    }

    @Test("a row of csv with one empty cell is no empty line, which readers skip")
    func emptyCells() async throws {
        #expect(
            try await run("list", "Event", "--format", "csv", "--fields", "branch").output
                == "branch\nmain\n\"\"\n\"\"\n")
        #expect(try await run("list", "Event", "--format", "csv", "--fields", "branch,at").lines.last == ",")
    }

    @Test("--csv-safe marks texts that a spreadsheet would run, and no numbers")
    func spreadsheets() async throws {
        let safe = try await run("list", "Event", "--format", "csv", "--csv-safe", "--fields", "id,note,type")
        #expect(safe.lines.suffix(2) == ["2,'=SUM(A1),note", "3,'-3 | <b>,note"])
        func csv(_ text: String) -> String {
            var bytes: [UInt8] = []
            SeparatedText.appendCSV(text, isSafe: false, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(csv("+1") == "'+1" && csv("\t=1") == "'\t=1" && csv("a=1") == "a=1" && csv("") == "")
        #expect(csv("@x,y") == "\"'@x,y\"")
        #expect(try await run("list", "Event", "--csv-safe").status == 2)
    }

    @Test("--csv-safe marks such texts in dumps and in exported tables, too")
    func spreadsheetsOfInspect() async throws {
        let mirror = try await Self.mirrored.value, store = mirror.folder.path + "/tarn.tarn"
        let dump = ["inspect", "dump", store, "--entity", "Event", "--fields", "note", "--no-versions"]
        let plain = try await tarn(dump + ["--format", "csv"]),
            safe = try await tarn(dump + ["--format", "csv", "--csv-safe"])
        #expect(plain.lines.suffix(2) == ["Event,2,,=SUM(A1)", "Event,3,,-3 | <b>"])
        #expect(safe.lines.suffix(2) == ["Event,2,,'=SUM(A1)", "Event,3,,'-3 | <b>"])
        #expect(try await tarn(dump + ["--csv-safe"]).status == 2)
        let folder = try TemporaryFolder()
        for (name, options) in [("plain", [String]()), ("safe", ["--csv-safe"])] {
            expectSuccess(
                try await tarn(["inspect", "export", store, "--csv", folder.path + "/" + name] + options))
        }
        func table(_ name: String) throws -> String {
            try String(contentsOfFile: "\(folder.path)/\(name)/Event.csv", encoding: .utf8)
        }
        let (raw, marked) = (try table("plain"), try table("safe"))
        #expect(raw.contains(",=SUM(A1),") && raw.contains(",-3 | <b>,"))
        #expect(marked.contains(",'=SUM(A1),") && marked.contains(",'-3 | <b>,"))
        #expect(marked.replacing("'", with: "") == raw)
        #expect(try await tarn("inspect", "export", store, "--sql", "--csv-safe").status == 2)
    }

    @Test("--csv-safe leaves plain numbers as they are, also texts, as an export does")
    func spreadsheetNumbers() {
        var style = OutputStyle(.csv)
        style.isSpreadsheetSafe = true
        for text in ["-7", "-1.5e10", "+3"] {
            #expect(RowWriter.isSafe(.text(text), style) && RowWriter.isSafe(.json(text), style), "\(text)")
            #expect(RowWriter.isSafe(.value(.string(text)), style), "\(text)")
        }
        for text in ["-", "-7-", "-inf", "-0x1", "=1", "-7\n", "- 7"] {
            #expect(!RowWriter.isSafe(.text(text), style), "\(text)")
            #expect(!RowWriter.isSafe(.value(.string(text)), style), "\(text)")
        }
    }

    @Test("yaml has blocks for texts of several lines, and quotes what would be something else")
    func yaml() async throws {
        let one = try await run("get", "Event", "1", "--format", "yaml").output
        #expect(
            one == """
                _kind: Push
                id: 1
                type: push
                note: "a \\"b\\", c\\nd\\te\\\\"
                at: "2026-01-02T03:04:05.5Z"
                tags: ["x","y"]
                extra: {"k":[1]}
                owner: u
                branch: main

                """)
        let list = try await run("list", "Event", "--format", "yaml", "--fields", "id,note").output
        #expect(list.hasSuffix("- id: 2\n  note: \"=SUM(A1)\"\n- id: 3\n  note: \"-3 | <b>\"\n"), "\(list)")
        #expect(YAMLText.scalar("a\nb: c\n", indent: "  ") == "|\n  a\n  b: c")
        #expect(YAMLText.scalar("a\n\nb", indent: "  ") == "|-\n  a\n\n  b")
        #expect(YAMLText.scalar(" a\nb", indent: "  ") == "\" a\\nb\"")
        #expect(YAMLText.scalar("a\u{1B}\nb", indent: "  ") == "\"a\\u001b\\nb\"")
        // Neither may be in a text of YAML.
        #expect(YAMLText.scalar("a\u{FFFE}\nb", indent: "  ") == "\"a\\ufffe\\nb\"")
        #expect(YAMLText.scalar("\u{FFFF}", indent: nil) == "\"\\uffff\"")
        for text in ["", "yes", "Null", "12", "-x", "a: b", "x #y", "x:", "@x", "a\u{202E}b", "1.5", "~"] {
            #expect(YAMLText.scalar(text, indent: nil).hasPrefix("\""), "\(text)")
        }
        // Readers of YAML 1.1 need a fraction, and a sign in the exponent.
        for (json, expected) in [
            ("5e-324", "5.0e-324"), ("1.5e+300", "1.5e+300"), (#"[-1E5,"1e5",true,2.5]"#, #"[-1.0E+5,"1e5",true,2.5]"#),
        ] {
            #expect(YAMLText.withFractions(json) == expected)
        }
        for text in ["main", "a b", "größe", "http://x.example/a?b=1", "v1.2-rc"] {
            #expect(YAMLText.scalar(text, indent: nil) == text)
        }
    }

    @Test("markdown is a table whose cells have no markup of their own")
    func markdown() async throws {
        let result = try await run("list", "Event", "--format", "markdown", "--fields", "id,note")
        #expect(
            result.lines == [
                "| id | note |", "| --- | --- |", "| 1 | a \"b\", c<br>d e\\\\ |", "| 2 | =SUM(A1) |",
                "| 3 | -3 \\| &lt;b> |",
            ], "\(result.output)")
    }

    @Test("a table marks that a relationship has more than 6 targets; Markdown shows all, and escapes ~")
    func manyTargets() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              User:
                key: id
                attributes: { id: int, name: string? }
                relationships: { boss: { to: User, inverse: staff } }
            endpoints:
              users: { path: /users, entity: User, paginate: single_page }
            """)
        let users =
            (1...7).map { #"{"id":\#($0),"boss":{"id":20}}"# }
            + (8...13).map { #"{"id":\#($0),"name":"~\#($0)~","boss":{"id":21}}"# }
        let server = try LocalServer([recording("/users", "[" + users.joined(separator: ",") + "]")])
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        func list(_ id: Int, _ format: String) async throws -> TarnProcess.Result {
            try await tarn(
                "list", "User", "--file", file, "--where", "id = \(id)", "--fields", "id,staff", "--format", format)
        }
        #expect(try await list(20, "table").output.contains("1, 2, 3, 4, 5, 6, …"))
        #expect(try await list(21, "table").lines.last?.hasSuffix("~13~") == true)
        #expect(try await list(20, "markdown").lines.last == "| 20 | 1, 2, 3, 4, 5, 6, 7 |")
        #expect(try await list(21, "markdown").lines.last?.hasSuffix("\\~12\\~, \\~13\\~ |") == true)
    }

    @Test("count by a list says what it expects, and missing names the stored side of a derived relationship")
    func severalValues() async throws {
        let counted = try await run("count", "Event", "--by", "tags")
        #expect(
            counted.status == 2
                && counted.error.contains("expected a field with a single value, found a list of string"),
            "\(counted.error)")
        let missing = try await run("missing", "User", "events")
        #expect(missing.status == 0 && missing.output == "")
        #expect(missing.error.contains("tarn missing Event owner"), "\(missing.error)")
    }

    @Test("--fields follows relationships, also inverse ones and those of kinds, and refuses what is not there")
    func paths() async throws {
        let result = try await run("list", "Event", "--fields", "id,owner.login,owner.boss.login,branch")
        #expect(
            result.lines == [
                #"{"id":1,"owner.login":"ada","owner.boss.login":"Bob","branch":"main"}"#,
                #"{"id":2,"owner.login":null,"owner.boss.login":null}"#,
                #"{"id":3,"owner.login":null,"owner.boss.login":null}"#,
            ])
        let users = try await run(
            "list", "User", "--fields", "id,events.note,staff.events.id", "--where", "id in (u, v)")
        #expect(
            users.lines == [
                #"{"id":"u","events.note":["a \"b\", c\nd\te\\"],"staff.events.id":[]}"#,
                #"{"id":"v","events.note":[],"staff.events.id":[1]}"#,
            ])
        let table = try await run(
            "list", "User", "--fields", "id,staff.events.type", "--format", "table", "--where", "id = v")
        #expect(table.lines.last?.split(separator: " ") == ["v", "push"])
        for wrong in ["owner.nope", "type.x", "nope.x", "owner.", ".owner", "owner.boss.boss.nope"] {
            let refused = try await run("list", "Event", "--fields", wrong)
            #expect(refused.status == 2 && refused.output == "", "\(wrong): \(refused.error)")
        }
        let inside = try await run("list", "Event", "--fields", "type.x")
        #expect(inside.error.contains("Event.type is an attribute, and has no fields"), "\(inside.error)")
        let twice = try await run("list", "Event", "--fields", "id,type,id", "--limit", "1")
        #expect(twice.lines == [#"{"id":1,"type":"push"}"#])
    }

    @Test("of a path through a to-many relationship, each target has its place, also if it is missing")
    func placesOfTargets() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            request.target.hasPrefix("/items")
                ? .init(body: #"[{"id":1,"labels":[1,2,3],"box":7},{"id":2,"labels":[]}]"#)
                : .init(body: #"[{"id":1,"name":"one","color":"red"},{"id":3,"name":"three"}]"#)
        }
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(server.base)' }
            entities:
              Item:
                key: id
                attributes: { id: int }
                relationships: { labels: { to: [Label], ordered: true }, box: { to: Box, inverse: items } }
              Label: { key: id, attributes: { id: int, name: string, color: string? } }
              Box: { key: id, attributes: { id: int } }
            endpoints:
              labels: { path: /labels, entity: Label, paginate: single_page }
              items: { path: /items, entity: Item, paginate: single_page }
            """)
        try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
        let fields = "id,labels.name,labels.color,box.id,box.items.id"
        let result = try await tarn("list", "Item", "--fields", fields, "--file", file)
        #expect(
            result.lines == [
                #"{"id":1,"labels.name":["one",null,"three"],"labels.color":["red",null,null],"box.id":null,"box.items.id":[]}"#,
                #"{"id":2,"labels.name":[],"labels.color":[],"box.id":null,"box.items.id":[]}"#,
            ], "\(result.output)\(result.error)")
    }

    @Test("--local shows times with the offset of the time zone, in every format; the default is UTC")
    func localTimes() async throws {
        for (zone, text) in [
            ("Asia/Kolkata", "2026-01-02T08:34:05.5+05:30"), ("America/St_Johns", "2026-01-01T23:34:05.5-03:30"),
            // Before standard time, offsets have seconds. RFC 3339 has none.
            ("LMT-0:53:28", "2026-01-02T03:57:05.5+00:53"),
        ] {
            for format in ["ndjson", "csv", "yaml", "table"] {
                let arguments = ["list", "Event", "--fields", "at", "--limit", "1", "--format", format]
                let file = try await Self.mirrored.value.file
                let local = try await tarn(arguments + ["--local", "--file", file], environment: ["TZ": zone])
                #expect(local.output.contains(text), "\(format): \(local.output)")
                let utc = try await tarn(arguments + ["--file", file], environment: ["TZ": zone])
                #expect(utc.output.contains("2026-01-02T03:04:05.5Z"))
            }
        }
    }

    @Test("a table has the kind of each record, and names the columns that it hides")
    func kindsAndHiddenColumns() async throws {
        let result = try await run("list", "Event", "--format", "table")
        #expect(try result.line(0).split(separator: " ") == ["id", "kind", "type", "note", "at"], "\(result.output)")
        #expect(try result.line(1).hasPrefix("1   Push "))
        #expect(
            result.errorLines == [
                "3 records", "4 hidden columns: tags, extra, owner, branch (--fields all shows all)",
            ])
        let all = try await run("list", "Event", "--format", "table", "--fields", "all")
        #expect(
            try all.line(0).hasPrefix("kind ") && all.line(0).hasSuffix("branch") && all.errorLines == ["3 records"])
    }

    @Test("the other commands that print records have the formats, too")
    func otherCommands() async throws {
        #expect(try await run("missing", "Event", "owner", "--format", "json").output == "[]\n")
        #expect(
            try await run("count", "Event", "--by", "type", "--format", "csv").output == "type,count\nnote,2\npush,1\n")
        #expect(
            try await run("count", "Event", "--by", "type", "--format", "yaml").output
                == "- value: note\n  count: 2\n- value: push\n  count: 1\n")
        #expect(
            try await run("related", "User", "u", "events", "--format", "csv", "--fields", "id").output == "id\n1\n")
        let changes = try await run("changes", "--format", "csv", "--entity", "User")
        #expect(changes.lines.first == "change,operation,entity,key,fields" && changes.lines.count == 4)
        #expect(changes.errorLines.first?.hasPrefix("token: ") == true)
    }

    @Test("get shows whole texts with their line breaks, below each other")
    func wholeTexts() async throws {
        let result = try await run("get", "Event", "1", "--format", "table")
        #expect(
            result.output.hasPrefix(
                "Push    1\nid      1\ntype    push\nnote    a \"b\", c\n        d    e\\\nat      2026-01-02T03:04:05.5Z\n"
            ),
            "\(result.output)")
        let chosen = try await run("get", "Event", "1", "--format", "table", "--fields", "owner.login")
        #expect(chosen.lines == ["Push         1", "owner.login  ada"])
    }

    @Test(
        "columns: wide characters and emoji take two, marks none",
        arguments: [
            ("abc", 3), ("状態", 4), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("🇸🇪", 2), ("❤️", 2), ("❤", 1), ("🚀x", 3), ("ﾊﾝ", 2),
            ("ไทย", 3), ("กำ", 2), ("ᄒ\u{1161}\u{11AB}", 2), ("한글", 4), ("\u{200B}", 0), ("〰", 2), ("ｆｕｌｌ", 8), ("é", 1),
            ("क्षि", 3), ("🫠", 2), ("𝒳", 1), ("↔︎", 1), ("⌚", 2),
        ])
    func columns(text: String, width: Int) {
        #expect(VisibleText.columns(of: text) == width, "\(text)")
        let rows = [["x", "y"], [text, "|"]]
        let widths = Table.widths(rows, width: 80)
        let lines = rows.map { Table.line($0, widths, []) }
        #expect(lines.map { VisibleText.columns(of: $0) }.allSatisfy { $0 == max(1, width) + 3 })
    }
}
