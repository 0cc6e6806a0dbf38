// Everything that a user's API, files and arguments can get wrong: one line, the right exit code,
// and a store as it was.

import Foundation
import TestSupport
import Testing

@Suite("Command line: bad input")
struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var status: Int32
        /// The first line on standard error; BASE stands for the server.
        var line: String
        var pages = itemPages
        var fault: String?
        var endpoint = "paginate: header_link"
        /// Keys in the store afterwards.
        var keys: [Int] = []
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "404 at once", status: 1, line: "tarn: GET BASE/items: the server returned 404: injected fault",
            fault: ":status:404"),
        Case(
            name: "500 at the second page", status: 3,
            line: "tarn: GET BASE/items?page=2: the server returned 500: injected fault",
            fault: "page=2:status:500", keys: [1]),
        Case(
            name: "401", status: 4, line: "tarn: GET BASE/items: the server returned 401: injected fault",
            fault: ":status:401"),
        Case(
            name: "a page cut in the middle", status: 3,
            line: "tarn: GET BASE/items?page=3: the response of ", fault: "page=3:cut:10", keys: [1, 2]),
        Case(
            name: "a closed connection", status: 3, line: "tarn: GET BASE/items?page=2: ", fault: "page=2:close",
            keys: [1]),
        Case(
            name: "HTML instead of JSON", status: 3, line: "tarn: GET BASE/items?page=2: not valid JSON",
            fault: "page=2:html",
            keys: [1]),
        Case(
            name: "a wrong key path", status: 1,
            line:
                "tarn: GET BASE/items: no records at `data`: the key `data` is missing; found no keys (FILE:11, endpoint items)",
            endpoint: "records: data"),
        Case(
            name: "an entity without a key in the response", status: 1,
            line:
                "tarn: GET BASE/items: no record of the response can be stored (check `records` and `key`): key.missing at $[0]: Item",
            pages: [recording("/items", #"[{"name":"x"}]"#)]),
        Case(
            name: "some records without a key", status: 3, line: "Not imported as received:",
            pages: [recording("/items", #"[{"name":"x"},{"id":7,"name":"y"}]"#)], keys: [7]),
    ]

    @Test("a bad answer is one line that names the request, with its exit code; pages before it stay", arguments: cases)
    func badAnswer(_ each: Case) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML(each.endpoint))
        let server = try LocalServer(each.pages, each.fault.map { ["--fault", $0] } ?? [])
        let result = try await tarn(["sync", "--file", file, "--base", server.base, "--quiet"])
        #expect(result.status == each.status, "\(result.error)")
        let line = each.line.replacing("BASE", with: server.base).replacing("FILE", with: file)
        #expect(result.error.hasPrefix(line), "\(result.error)")
        #expect(result.output == "")
        if each.line.hasPrefix("tarn: ") { #expect(result.errorLines.count == 1, "\(result.error)") }
        let list = try await tarn("list", "Item", "--file", file)
        #expect(list.status == 0, "\(list.error)")
        #expect(try list.lines.map { try json($0)["id"] as? Int } == each.keys)
    }

    @Test("an argument that is not UTF-8 is refused with its position and its bytes, and no other path is used")
    func argumentBytes() async throws {
        let folder = try TemporaryFolder(), store = try await Forge.store
        let result = try await shell(
            "cd '\(folder.path)' && \"$TARN\" store backup '\(store)' $'out\\xff\\x01'")
        #expect(result.status == 2 && result.output == "", "\(result)")
        #expect(result.error.hasPrefix(#"tarn: argument 4 is not valid UTF-8: out\xff\x01: "#), "\(result.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let history = try await shell("TARN_HISTORY=$'/tmp/\\xe9' \"$TARN\" --version")
        #expect(history.status == 2 && history.error.contains(#"TARN_HISTORY is not valid UTF-8: /tmp/\xe9"#))
    }

    @Test("what a sync leaves out is one line a field, with the number and one example, as text and as JSON")
    func omissions() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let items = (1...366).map { "{\"id\":\($0)}" }.joined(separator: ",")
        let server = try LocalServer([recording("/items", "[\(items)]", "ETag: \"a\"")])
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        #expect(result.status == 0)
        #expect(
            result.errorLines == [
                "Not imported as received:",
                "  366 times, the first: value.absent at $[0]: Item 1.name: absent, but the schema requires a value; a stored value is kept",
                "Attributes without a value in any record (check their JSON paths):",
                "  Item.name  (366 times)",
            ])
        let summary = try json(try #require(result.lines.last))
        let group = try #require((summary["diagnostic_groups"] as? [[String: Any]])?.first)
        #expect(
            group["code"] as? String == "value.absent" && group["field"] as? String == "name"
                && group["count"] as? Int == 366)
        #expect(summary["absent_attributes"] as? [String] == ["Item.name"])
    }

    @Test("a sync that leaves out values which do not fit says so, and exits with 3, as text and as JSON")
    func unfitValues() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":["x"]},{"id":2,"name":"y"}]"#)])
        let text = "left out 1 value that does not fit Item.name: what the store had was kept; "
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--quiet")
        #expect(result.status == 3 && result.errorLines.last?.hasPrefix("tarn: " + text) == true, "\(result.error)")
        let events = try await tarn("sync", "--file", file, "--base", server.base, "--refetch", "--json")
        let error = try #require(try events.lines.map { try json($0) }.last { $0["event"] as? String == "error" })
        #expect(events.status == 3 && error["exit_code"] as? Int == 3, "\(events.error)")
        #expect((error["message"] as? String)?.hasPrefix(text) == true, "\(error)")
        let list = try await tarn("list", "Item", "--file", file)
        #expect(list.lines.count == 2 && list.status == 0, "\(list.error)")
    }

    @Test(
        "an unreachable server is exit 5 with one line; nothing was ever complete, so nothing is said about old answers"
    )
    func unreachableServer() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let dead = DeadPort()
        let result = try await tarn("sync", "--file", file, "--base", "http://127.0.0.1:\(dead.port)")
        #expect(result.status == 5)
        #expect(result.errorLines.count == 1 && result.output == "", "\(result.error)\(result.output)")
        #expect(
            result.error.hasPrefix("tarn: GET http://127.0.0.1:\(dead.port)/items: could not connect"),
            "\(result.error)")
    }

    @Test("off line is exit 5 and says since when; the store still answers")
    func offLine() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        let dead = DeadPort()
        let result = try await tarn("sync", "--file", file, "--base", "http://127.0.0.1:\(dead.port)")
        #expect(result.status == 5)
        #expect(result.errorLines.count == 2)
        let pattern = /offline: the store has the records as of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z; .*/
        #expect(result.errorLines.last?.wholeMatch(of: pattern) != nil, "\(result.error)")
        #expect(try await tarn("list", "Item", "--file", file).lines.count == 3)
    }

    @Test("a sync that reaches one API and not another one is a partial success, and not off line")
    func partlyOffLine() async throws {
        let folder = try TemporaryFolder(), dead = DeadPort()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let file = try folder.write(
            "tarn.yaml",
            """
            apis:
              dead: { base: 'http://127.0.0.1:\(dead.port)' }
              live: { base: '\(server.base)' }
            entities:
              Item: { key: id, attributes: { id: int } }
            endpoints:
              notes: { api: dead, path: /notes, entity: Item }
              items: { api: live, path: /items, entity: Item }
            """)
        let result = try await tarn("sync", "--file", file)
        #expect(result.status == 3 && !result.error.contains("offline:"), "\(result)")
    }

    @Test("off line, the store has the records as of the earliest endpoint, without those that were never complete")
    func offLineWithSeveralEndpoints() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML(
                "paginate: header_link\n  others: { path: /others, entity: Item }\n  last: { path: /last, entity: Item }"
            ))
        let server = try LocalServer(itemPages + [recording("/others", "[]")])
        var times: [String] = []
        for name in ["items", "others"] {
            try await expectSuccess(tarn("sync", name, "--file", file, "--base", server.base))
            let status = try json(try await tarn("status", name, "--file", file, "--json").line(0))
            let endpoint = try #require((status["endpoints"] as? [[String: Any]])?.first)
            times.append(try #require(endpoint["completed_at"] as? String))
        }
        #expect(times[0] < times[1])
        let dead = DeadPort()
        func note(_ names: String...) async throws -> String? {
            try await tarn(["sync"] + names + ["--file", file, "--base", "http://127.0.0.1:\(dead.port)"])
                .errorLines.last
        }
        let end = "; `tarn list`, `get` and `related` work"
        #expect(
            try await note()
                == "offline: the store has the records as of \(times[0]); never completely synced: last\(end)")
        #expect(try await note("others") == "offline: the store has the records as of \(times[1])\(end)")
        #expect(try await note("last")?.hasPrefix("offline:") == false)
    }

    @Test("a token that is not set is exit 4 and names the variable; a token never shows in what is printed")
    func tokens() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml", itemsYAML(api: "  auth: { bearer: { env: TARN_TEST_TOKEN_OF_NOBODY } }"))
        let missing = try await tarn("sync", "--file", file, "--base", "http://127.0.0.1:1")
        #expect(missing.status == 4)
        #expect(
            missing.error
                == "tarn: the environment variable TARN_TEST_TOKEN_OF_NOBODY is not set; it must provide the token of this API\n"
        )
        let server = try LocalServer(itemPages, "--fault", "page=2:status:403")
        let refused = try await tarn(
            ["sync", "--file", file, "--base", server.base], environment: ["TARN_TEST_TOKEN_OF_NOBODY": "hush-hush"])
        #expect(refused.status == 3, "the first page is committed: \(refused.error)")
        #expect(!(refused.error + refused.output).contains("hush-hush"))
        #expect(refused.error.contains("the server returned 403"))
    }

    @Test(
        "a variable that is not UTF-8 is no other path and no other secret, and a command for a secret gets it as it is"
    )
    func variables() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        func sync(_ yaml: String) async throws -> TarnProcess.Result {
            let file = try folder.write("tarn.yaml", yaml)
            return try await shell(
                "TARN_X=$(printf 'p\\351') \"$TARN\" sync --file '\(file)' --base '\(server.base)'")
        }
        let path = try await sync("store: '${TARN_X}/s'\n" + itemsYAML())
        #expect(path.status == 2 && path.error.contains("TARN_X is not valid UTF-8"), "\(path)")
        let secret = try await sync(itemsYAML(api: "  auth: { bearer: { env: TARN_X } }"))
        #expect(secret.status == 4 && secret.error.contains("TARN_X is not UTF-8"), "\(secret)")
        #expect(server.requests.isEmpty)
        let command = #"[sh, -c, 'test "$TARN_X" = "$(printf "p\351")" && echo s3cret']"#
        expectSuccess(try await sync(itemsYAML(api: "  auth: { bearer: { command: \(command) } }")))
    }

    @Test("in a directory whose path is not UTF-8, relative paths are those of this directory")
    func directory() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        _ = try folder.write("tarn.yaml", itemsYAML())
        let result = try await shell(
            """
            set -e; cd '\(folder.path)'; there=$(printf 'caf\\351'); mkdir "$there"; mv tarn.yaml "$there"; cd "$there"
            "$TARN" sync --base '\(server.base)'; "$TARN" list Item --format ndjson; ls tarn.tarn
            """)
        #expect(result.status == 0 && result.error.isEmpty, "\(result)")
        #expect(result.output.contains(#"{"id":3,"#) && result.lines.contains("wake"), "\(result.output)")
    }

    @Test("an entity without a key in the description is exit 2 with file, line, column and field")
    func descriptionWithoutKey() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML(key: "nope"))
        let result = try await tarn("sync", "--file", file)
        #expect(result.status == 2)
        #expect(result.error.hasPrefix("tarn: \(file):6:10: entities.Item.key: "), "\(result.error)")
        let absent = try folder.write("none.yaml", itemsYAML().replacing("    key: id\n", with: ""))
        let second = try await tarn("sync", "--file", absent)
        #expect(second.status == 2)
        #expect(second.error.hasPrefix("tarn: \(absent):5:"), "\(second.error)")
        #expect(second.error.contains("entities.Item") && second.error.contains("key"))
    }

    @Test("relative paths of a description that comes from a pipe are those of the working directory")
    func pipedDescription() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        _ = try folder.write("part.yaml", "entities: { Item: { key: id, attributes: { id: int, name: string } } }\n")
        let text = itemsYAML().components(separatedBy: "entities:")[0]
        let endpoints = "endpoints: { items: { path: /items, entity: Item, paginate: header_link } }\n"
        for (store, name) in [("store: own.tarn\n", "own.tarn"), ("", "tarn.tarn")] {
            let file = try folder.write("piped", store + "include: part.yaml\n" + text + endpoints)
            let result = try await shell(
                "cd '\(folder.path)' && cat '\(file)' | \"$TARN\" sync --file /dev/stdin --base '\(server.base)'")
            #expect(result.status == 0, "\(result)")
            #expect(FileManager.default.fileExists(atPath: folder(name) + "/data.mdb"))
        }
        let inDev = try FileManager.default.contentsOfDirectory(atPath: "/dev").filter { $0.hasSuffix(".tarn") }
        #expect(inDev.isEmpty)
    }

    @Test("a place where no store can be is exit 6 and names the path, for writing and for reading")
    func unusablePlaces() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let plain = try folder.write("plain", "a file")
        try FileManager.default.createDirectory(atPath: folder.path + "/other", withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path + "/other/notes"))
        try FileManager.default.createDirectory(atPath: folder.path + "/wrong", withIntermediateDirectories: false)
        try Data("this is not LMDB".utf8).write(to: URL(fileURLWithPath: folder.path + "/wrong/data.mdb"))
        let server = try LocalServer(itemPages)
        let places = [
            (plain, "a file, but a store is a directory"), (plain + "/below", ""), ("/proc/tarn-store", ""),
            (folder.path + "/other", "the directory contains other files, but no data.mdb"),
            (folder.path + "/wrong", "not an LMDB data file"),
        ]
        for (place, reason) in places {
            for arguments in [
                ["sync", "--file", file, "--base", server.base], ["list", "Item"], ["get", "Item", "1"],
            ] {
                let result = try await tarn(arguments + ["--store", place])
                #expect(result.status == 6, "\(arguments[0]) \(place): \(result.error)")
                #expect(result.errorLines.count == 1 && result.error.hasPrefix("tarn: \(place)"), "\(result.error)")
                #expect(reason.isEmpty || result.error.contains(reason), "\(result.error)")
            }
        }
        #expect(server.requests == [])
        #expect(try String(contentsOfFile: plain, encoding: .utf8) == "a file")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/other") == ["notes"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/wrong") == ["data.mdb"])
    }

    @Test("a store whose data file was cut off is refused in one line and left as it is", arguments: [0.02, 0.3, 0.7])
    func truncatedStore(part: Double) async throws {
        let folder = try TemporaryFolder()
        let copy = folder.path + "/cut.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        let data = try Data(contentsOf: URL(fileURLWithPath: copy + "/data.mdb"))
        let cut = data.prefix(Int(Double(data.count) * part))
        try cut.write(to: URL(fileURLWithPath: copy + "/data.mdb"))
        for arguments in [
            ["list", "Issue", "--store", copy], Forge.arguments(copy, "http://127.0.0.1:1", []),
        ] {
            let result = try await tarn(arguments)
            #expect(result.status == 6, "\(arguments[0]): \(result.status) \(result.error)")
            #expect(result.errorLines.count == 1 && result.error.contains("\(copy)"), "\(result.error)")
            #expect(result.output == "")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + "/data.mdb")) == cut)
    }

    @Test("records without a key are counted for the exit code however much else is wrong with the answer")
    func skippedBehindManyDiagnostics() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let wrong = (1...150).map { #"{"id":\#($0),"name":{}}"# } + [#"{"name":"no key"}"#]
        let server = try LocalServer([recording("/items", "[" + wrong.joined(separator: ",") + "]")])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(result.status == 3, "\(result.error)")
        #expect(
            result.errorLines.last?.hasPrefix("tarn: skipped 1 record: without a usable key; left out 150 values")
                == true,
            "\(result.error)")
    }

    @Test("skipped records are counted by their reasons: no key, no kind")
    func skippedForSeveralReasons() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              Event:
                key: id
                attributes: { id: int }
                kinds: { Push: { type: push } }
                otherwise: skip
              Push: { parent: Event }
            endpoints: { events: { path: /events, entity: Event, paginate: single_page } }
            """)
        let server = try LocalServer([
            recording("/events", #"[{"id":1,"type":"push"},{"id":2,"type":"x"},{"id":3,"type":"y"},{"type":"push"}]"#)
        ])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(result.status == 3)
        let expected = "tarn: skipped 3 records: 1 without a usable key, 2 of none of the kinds (otherwise: skip)"
        #expect(result.errorLines.last == expected, "\(result.error)")
        let check = try await tarn("check", "--file", file, "--online", "--base", server.base)
        #expect(check.output.contains("error: endpoints.events: skipped 3 records: 1 without"), "\(check.output)")
    }

    @Test("what cannot be written to standard output is an error, not silence")
    func fullOutput() async throws {
        let store = try await Forge.store
        let result = try await shell("\"$TARN\" list Issue --store '\(store)' > /dev/full")
        #expect(result.status == 1)
        #expect(
            result.error.hasPrefix("tarn: cannot write the output: No space left on device"), "\(result.error)")
    }

    @Test(
        "with too few descriptors, a command names the limit instead of ending by a signal", arguments: [4, 5, 8, 16])
    func fewDescriptors(_ limit: Int) async throws {
        let store = try await Forge.store, file = Repository.forgeFile
        for command in [
            "update Issue --where 'number = 1' --set state=open --store '\(store)' --file '\(file)'",
            "changes --follow --store '\(store)'", "inspect web '\(store)' --port 0",
        ] {
            let result = try await shell("ulimit -n \(limit); exec \"$TARN\" \(command)")
            #expect(result.status == 1, "\(command): \(result)")
            #expect(
                result.error.hasPrefix("tarn: too few files can be opened: ")
                    && result.error.contains("(`ulimit -n`, now \(limit))"), "\(command): \(result)")
        }
        // A soft limit is raised.
        let raised = try await shell("ulimit -S -n \(limit); exec \"$TARN\" count Issue --store '\(store)'")
        #expect(raised.status == 0, "\(raised)")
        #expect(try await shell("ulimit -n \(limit); exec \"$TARN\" --help").status == 0)
    }
}
