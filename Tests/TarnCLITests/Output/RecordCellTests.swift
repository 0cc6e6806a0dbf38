// Cells that programs read: keys of several parts, the fields of changes, missing records, and the
// names of columns.

import Foundation
import TarnStore
import TestSupport
import Testing

@testable import TarnCLI

@Suite("Command line: cells for programs")
struct RecordCellTests {
    private let folder: TemporaryFolder
    private let store: Store
    private let key = RecordKey([.string("a, b"), .string("c")])

    init() throws {
        (folder, store) = try makeStore([
            EntityDefinition(
                "Team", key: ["org", "name"],
                attributes: [
                    .init("org", .string), .init("name", .string), .init("note", .string, optional: true),
                ]),
            EntityDefinition(
                "User", key: ["id"],
                attributes: [
                    .init("id", .int), .init("key", .string, optional: true),
                    .init("version", .string, optional: true), .init("more", .json, optional: true),
                ],
                relationships: [.init("teams", to: "Team", many: true), .init("friends", to: "User", many: true)]),
            EntityDefinition("Bot", parent: "User", attributes: [.init("owner", .string, optional: true)]),
        ])
    }

    private func csv(_ arguments: String...) async throws -> [String] {
        let result = try await tarn(arguments + ["--format", "csv"])
        #expect(result.status == 0, "\(arguments): \(result.error)")
        return result.lines
    }

    @Test("in csv, a key of several parts is JSON in every command, and so are the fields of a change")
    func keys() async throws {
        try store.setChangeValues(.all)
        try await store.write { try $0.put("Team", key, [.init("note", .string("x=1 y"))]) }
        let cell = #""[""a, b"",""c""]""#
        #expect(
            try await csv("changes", "--store", store.path) == [
                "change,operation,entity,key,fields",
                #"1.0,created,Team,\#(cell),"{""org"":""a, b"",""name"":""c"",""note"":""x=1 y""}""#,
            ])
        #expect(
            try await csv("inspect", "changes", store.path) == csv("changes", "--store", store.path))
        #expect(
            try await csv("search", "x=1", "--store", store.path)
                == ["entity,key,field,text", "Team,\(cell),note,x=1 y"])
        #expect(
            try await csv("inspect", "grep", store.path, "x=1")
                == ["entity,key,field,value", "Team,\(cell),note,x=1 y"])
        // A table is for people.
        let table = try await tarn("search", "x=1", "--store", store.path, "--format", "table")
        #expect(table.lines.last?.contains("[a, b, c]") == true, "\(table.output)")
    }

    @Test("in csv, a related record that is missing has the parts of its key in their columns, and nothing else")
    func missing() async throws {
        try await store.write { writer in
            try writer.put(
                "User", RecordKey(1),
                [.init("teams", .references([key])), .init("friends", .references([RecordKey(2)]))])
        }
        func related(_ name: String, _ fields: String) async throws -> String? {
            try await csv("related", "User", "1", name, "--store", store.path, "--fields", fields).last
        }
        #expect(try await related("teams", "note,org,name") == #","a, b",c"#)
        #expect(try await related("friends", "all")?.hasPrefix(",2,") == true)
        #expect(try await related("friends", "key,id") == ",2")
        #expect(try await related("friends", "key") == "\"\"")
        let lines = try await tarn("related", "User", "1", "teams", "--store", store.path)
        #expect(lines.lines == [#"{"missing":["a, b","c"]}"#])
    }

    @Test("no two columns of a dump have one name")
    func titles() async throws {
        try await store.write {
            try $0.put("User", RecordKey(7), [.init("key", .string("K-7")), .init("version", .string("v"))])
        }
        let fields = ["--entity", "User", "--fields", "key,version"]
        #expect(
            try await csv("inspect", "dump", store.path, fields[0], fields[1], fields[2], fields[3])
                == ["entity,key,version,partial,key_2,version_2", "User,7,1,,K-7,v"])
    }

    @Test("--csv-safe leaves numbers as they are: keys, and texts and JSON that are a number")
    func numbers() async throws {
        try await store.write { writer in
            try writer.put("User", RecordKey(-5), [.init("more", .json("-1.5")), .init("key", .string("-5"))])
            try writer.put("Team", key, [.init("note", .string("=1"))])
        }
        #expect(
            try await csv("list", "User", "--fields", "id,more,key", "--store", store.path, "--csv-safe").last
                == "-5,-1.5,-5")
        #expect(try await csv("search", "5", "--store", store.path, "--csv-safe").contains("User,-5,key,-5"))
        var style = OutputStyle(.csv)
        style.isSpreadsheetSafe = true
        #expect(RowWriter.isSafe(.value(.reference(RecordKey(-5))), style))
        #expect(RowWriter.isSafe(.value(.reference(RecordKey("-5"))), style))
        #expect(!RowWriter.isSafe(.value(.reference(RecordKey("=5"))), style))
        #expect(!RowWriter.isSafe(.value(.json(#""=1""#)), style) && !RowWriter.isSafe(.value(.json("-x")), style))
    }

    @Test("fetch has the kind of each record in data, as list has")
    func kinds() async throws {
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              Event:
                key: id
                attributes: { id: int, type: string }
                kinds: { Push: { type: push }, Event: {} }
              Push: { parent: Event, attributes: { branch: string? } }
            endpoints:
              events: { path: /events, entity: Event, paginate: single_page }
            """)
        let events = #"[{"id":1,"type":"push","branch":"main"},{"id":2,"type":"note"}]"#
        let server = try LocalServer([recording("/events", events)])
        let fetched = try await tarn("fetch", "events", "--file", file, "--base", server.base)
        #expect(
            fetched.lines == [
                #"{"_kind":"Push","id":1,"type":"push","branch":"main"}"#, #"{"_kind":"Event","id":2,"type":"note"}"#,
            ], "\(fetched.output)\(fetched.error)")
        #expect(try await tarn("list", "Event", "--file", file).lines == fetched.lines)
    }

    @Test("in Markdown, the escapes of a cell are never a part of a link that GitHub makes of a URL")
    func links() {
        for (text, cell) in [
            ("http://x.example/a_b?c=1&d=2", "<http://x.example/a_b?c=1&d=2>"),
            ("https://x.example/a", "https://x.example/a"),
            ("https://x.example/?a&lt;", #"https\://x.example/?a&amp;lt;"#),
            ("see http://x.example/a_b, a_b", #"see http\://x.example/a\_b, a\_b"#),
            ("(www.x.example/~a) www.x.example ftp://x/*", #"(www\.x.example/\~a) www.x.example ftp\://x/\*"#),
            ("http://x.example/a|b", #"http\://x.example/a\|b"#), ("http://x.example/é_", #"http\://x.example/é\_"#),
            ("a: b_c, no: w", #"a: b\_c, no: w"#), ("http://x/a http://y/_", #"http://x/a http\://y/\_"#),
            ("www.www._", #"www\.www\.\_"#), ("http://a://b_", "<http://a://b_>"),
        ] {
            #expect(SeparatedText.markdown(text) == cell)
        }
        // Each word is looked at once.
        let long = String(repeating: "www.", count: 200_000)
        #expect(SeparatedText.markdown(long) == long)
    }

    @Test("in YAML, a key of JSON that is too long for a reader is an explicit one")
    func longKeys() {
        let key = String(repeating: "k", count: 1100), style = OutputStyle(.yaml)
        func yaml(_ json: String) -> String { YAMLText.value(.value(.json(json)), style, indent: "  ") }
        #expect(
            yaml(#"{"a":{"\#(key)":[{"\#(key)" : 1}]},"b":"\#(key)"}"#)
                == #"{"a":{? "\#(key)":[{? "\#(key)" : 1}]},"b":"\#(key)"}"#)
        #expect(yaml(#"["\#(key)"]"#) == #"["\#(key)"]"#)
        let escaped = String(repeating: #"\""#, count: 501)
        #expect(yaml(#"{"\#(escaped)":"\#(escaped)"}"#) == #"{? "\#(escaped)":"\#(escaped)"}"#)
    }

    @Test("in YAML, the escapes of a pair of surrogates in JSON are one character")
    func pairs() {
        let style = OutputStyle(.yaml)
        for (json, text) in [
            (#"{"a":"\ud83d\uDE00\u00e9","\uD83D\ude00":1}"#, #"{"a":"😀\u00e9","😀":1}"#),
            (
                #"["\\ud83d\\ude00","\ud83d","\ud83d\n","\\\ud83d\ude00"]"#,
                #"["\\ud83d\\ude00","\ud83d","\ud83d\n","\\😀"]"#
            ),
        ] {
            #expect(YAMLText.withoutPairs(json) == text)
            #expect(YAMLText.withoutPairs(text) == text)
        }
        #expect(YAMLText.value(.value(.json(#"{"a":"\ud83d\ude00"}"#)), style, indent: "  ") == #"{"a":"😀"}"#)
    }
}
