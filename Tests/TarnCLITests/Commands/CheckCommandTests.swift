// `tarn check`: the description by itself, against the store, and against a server.

import Foundation
import TestSupport
import Testing

@Suite("Command line: check")
struct CheckCommandTests {
    @Test("every problem of a description has its line, column and suggestion; the exit code is 2")
    func problems() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml", itemsYAML("paginat: header_link").replacing("name: string", with: "name: strng"))
        let result = try await tarn("check", "--file", file)
        #expect(result.status == 2 && result.error == "", "\(result.error)")
        #expect(
            result.lines == [
                "\(file):9:13: error: entities.Item.attributes.name.type: unknown type \"strng\": did you mean \"string\"?",
                "\(file):14:5: error: endpoints.items.paginat: unknown key \"paginat\": did you mean \"paginate\"?",
                "\(file): 2 errors, 0 warnings, 0 notes",
            ])
        let lines = try await tarn("check", "--file", file, "--json").lines
        let first = try json(try #require(lines.first))
        #expect(lines.count == 2 && first["line"] as? Int == 9 && first["column"] as? Int == 13)
        #expect(first["code"] as? String == "description" && first["severity"] as? String == "error")
        let missing = try await tarn("check", "--file", folder.path + "/none.yaml")
        #expect(missing.status == 2 && missing.output.contains("no such file"))
    }

    @Test("a field that has lost a source is named at its line before the sync, and by the sync; then no longer")
    func otherSource() async throws {
        let folder = try TemporaryFolder()
        func yaml(_ label: String) -> String {
            itemsYAML().replacing("name: string", with: "name: string\n      label: \(label)")
        }
        let file = try folder.write("tarn.yaml", yaml("{ type: string?, from: name }"))
        let server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        _ = try folder.write("tarn.yaml", yaml("string?"))
        let check = try await tarn("check", "--file", file)
        let line = "\(file):10:7: note: entities.Item.attributes.label: values come from elsewhere"
        #expect(check.status == 0 && check.output.contains(line), "\(check.output)")
        let sync = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(sync.status == 0 && sync.error.contains("  Item.label  (3 values)"), "\(sync.error)")
        let next = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(next.status == 0 && !next.error.contains("Item.label"), "\(next.error)")
        #expect(try await tarn("check", "--file", file).output.contains("0 notes"))
    }

    @Test("a new attribute with a default is not promised to the stored records, which a sync leaves without it")
    func defaultOfNewRecords() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        _ = try folder.write(
            "tarn.yaml",
            itemsYAML().replacing("name: string", with: "name: string\n      votes: { type: int, default: 1 }"))
        let check = try await tarn("check", "--file", file).output
        #expect(
            check.contains("3 stored records lack it until a response has it; its default is for new records"),
            "\(check)")
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        #expect(!(try await tarn("list", "Item", "--file", file, "--format", "ndjson").output.contains("\"votes\":1")))
    }

    @Test("what a sync would change in the store's schema is shown, and what it refuses, each at its line")
    func evolution() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer(itemPages)
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let same = try await tarn("check", "--file", file)
        #expect(same.status == 0 && same.output.contains("0 errors, 0 warnings, 0 notes"), "\(same.output)")

        _ = try folder.write(
            "tarn.yaml",
            itemsYAML().replacing("name: string", with: "name: { type: string?, index: true }\n      votes: int?"))
        let safe = try await tarn("check", "--file", file)
        #expect(safe.status == 0, "\(safe.output)")
        for part in [
            "\(file):9:7: note: entities.Item.attributes.name: becomes optional",
            "\(file):9:7: note: entities.Item.attributes.name: new index: is built from 3 records",
            "\(file):10:7: note: entities.Item.attributes.votes: new attribute (int): 3 stored records lack it",
        ] {
            #expect(safe.output.contains(part), "\(part)\n\(safe.output)")
        }

        _ = try folder.write(
            "tarn.yaml", itemsYAML(key: "name").replacing("name: string", with: "name: string\n      votes: int?"))
        let key = try await tarn("check", "--file", file)
        #expect(key.status == 2)
        #expect(
            key.output.contains("\(file):5:3: error: entities.Item: records are stored under the key (id)"),
            "\(key.output)")
        _ = try folder.write("tarn.yaml", itemsYAML().replacing("name: string", with: "name: int"))
        let type = try await tarn("check", "--file", file)
        #expect(type.status == 2)
        #expect(
            type.output.contains("\(file):9:7: error: entities.Item.attributes.name: the type changed from string"),
            "\(type.output)")
        // Nothing was changed by the checks.
        #expect(try await tarn("list", "Item", "--store", folder.path + "/tarn.tarn").lines.count == 3)
        let refused = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(refused.status != 0, "what the check refuses, a sync refuses")
    }

    @Test("records that violate a unique index are an error of the check, and exit code 6 of the sync")
    func notUnique() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"a"}]"#)])
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let unique = itemsYAML().replacing("name: string", with: "name: { type: string, unique: true }")
        _ = try folder.write("tarn.yaml", unique)
        let check = try await tarn("check", "--file", file)
        #expect(check.status == 2)
        let text = "error: entities.Item.attributes.name: records 1 and 2 have the same values, which must be unique"
        #expect(check.output.contains(text), "\(check.output)")
        let sync = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(sync.status == 6 && sync.error.contains("Item 1 and 2 have the same name"), "\(sync.error)")
    }

    @Test("a unique index that was removed from the description is named, with the way out, and lifted by it")
    func removedUniqueIndex() async throws {
        let folder = try TemporaryFolder()
        func describe(_ index: String) throws -> String {
            try folder.write("tarn.yaml", itemsYAML().replacing("    attributes:", with: index + "    attributes:"))
        }
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#)])
        let unique = try describe("    indexes: { byName: { on: name, unique: true } }\n")
        expectSuccess(try await tarn("sync", "--file", unique, "--base", server.base))
        let check = try await tarn("check", "--file", try describe(""))
        let kept = "the store keeps the unique index byName"
        #expect(check.status == 0 && check.output.contains(kept), "\(check.output)")
        let equal = try LocalServer([recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"a"}]"#)])
        let sync = try await tarn("sync", "--file", unique, "--base", equal.base)
        #expect(sync.status == 3 && sync.error.contains("declare it without unique"), "\(sync.error)")
        let lifted = try describe("    indexes: { byName: name }\n")
        expectSuccess(try await tarn("sync", "--file", lifted, "--base", equal.base))
        #expect(try await !tarn("check", "--file", lifted).output.contains("keeps the unique index"))
    }

    @Test("records that no list has after an edit are counted by the sync once, and by the status and the check")
    func unlistedRecords() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#),
            recording("/some", #"[{"id":1,"name":"a"}]"#),
        ])
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        _ = try folder.write("tarn.yaml", itemsYAML().replacing("path: /items", with: "path: /some"))
        let text = "1 record (1 Item) of former lists"
        let sync = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(sync.status == 0 && sync.error.contains(text), "\(sync.error)")
        let json = try await tarn("sync", "--json", "--file", file, "--base", server.base)
        #expect(json.status == 0 && !json.output.contains("\"unlisted\""), "\(json.output)")
        #expect(try await tarn("status", "--file", file).output.contains(text))
        #expect(try await tarn("status", "--json", "--file", file).output.contains(#""unlisted":{"Item":1}"#))
        let check = try await tarn("check", "--file", file)
        #expect(check.status == 0 && check.output.contains("note: entities.Item: 1 record of former lists"))
        expectSuccess(try await tarn("cache", "collect", folder.path + "/tarn.tarn", "--roots", ""))
        #expect(try await !tarn("status", "--file", file).output.contains("former lists"))
    }

    @Test("an edit is known, too, by a command that names the same file by another path")
    func otherPathOfFile() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#),
            recording("/some", #"[{"id":1,"name":"a"}]"#),
        ])
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        _ = try folder.write("tarn.yaml", itemsYAML().replacing("path: /items", with: "path: /some"))
        let sync = try await tarn("sync", "--file", folder.path + "/./tarn.yaml", "--base", server.base)
        #expect(sync.status == 0 && sync.error.contains("1 record (1 Item) of former lists"), "\(sync.error)")
    }

    @Test("records of former lists that an endpoint may have which fails are given by each sync, until it is complete")
    func unlistedSoFar() async throws {
        let folder = try TemporaryFolder()
        func describe(_ items: String, _ others: String) throws -> String {
            try folder.write(
                "tarn.yaml",
                """
                store: store.tarn
                api: { base: https://api.test.example, retry: { attempts: 1 } }
                entities:
                  Item: { key: id, attributes: { id: int } }
                  Other: { key: id, attributes: { id: int } }
                endpoints:
                  items: { path: \(items), entity: Item, paginate: single_page }
                  others: { path: \(others), entity: Other, paginate: single_page }
                """)
        }
        let server = try LocalServer([
            recording("/items", #"[{"id":1},{"id":2}]"#), recording("/others", #"[{"id":1}]"#),
            recording("/some", #"[{"id":1}]"#),
        ])
        expectSuccess(try await tarn("sync", "--file", try describe("/items", "/others"), "--base", server.base))
        let failing = try describe("/missing", "/others")
        for _ in 0..<2 {
            let sync = try await tarn("sync", "--file", failing, "--base", server.base)
            let text = "2 records (2 Item) of former lists, and in no list so far"
            #expect(sync.status != 0 && sync.error.contains(text), "\(sync.error)")
        }
        let json = try await tarn("sync", "--json", "--file", failing, "--base", server.base)
        #expect(json.output.contains(#""unlisted_so_far":{"Item":2}"#), "\(json.output)")
        let whole = try await tarn("sync", "--file", try describe("/some", "/others"), "--base", server.base)
        let text = "1 record (1 Item) of former lists, and in no list of this description"
        #expect(whole.status == 0 && whole.error.contains(text) && !whole.error.contains("so far"), "\(whole.error)")
    }

    @Test(
        "more tables than a store can have are an error of the check, with and without a store; the sync exits with 6")
    func tableLimit() async throws {
        let folder = try TemporaryFolder(), yaml = itemsYAML("paginate: single_page")
        let entities = (0..<1_012).map { "  E\($0): { key: id, attributes: { id: int } }\n" }.joined()
        let file = try folder.write("tarn.yaml", yaml.replacing("entities:\n", with: "entities:\n" + entities))
        let text = "the schema needs 1025 tables"
        let check = try await tarn("check", "--file", file)
        #expect(check.status == 2 && check.output.contains("error: entities: \(text)"), "\(check.output.suffix(600))")
        let server = try LocalServer([recording("/items", "[]")])
        let few = try folder.write("few.yaml", "store: tarn.tarn\n" + yaml)
        expectSuccess(try await tarn("sync", "--file", few, "--base", server.base))
        #expect(try await tarn("check", "--file", file).output.contains("error: entities: \(text)"))
        let sync = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(sync.status == 6 && sync.error.contains(text), "\(sync.error)")
    }

    @Test("every problem is shown and counted; a sync shows 20 of them")
    func allProblems() async throws {
        let folder = try TemporaryFolder()
        let more = (1...50).map { "  e\($0): { path: /x, entity: Nope }\n" }.joined()
        let file = try folder.write("tarn.yaml", itemsYAML() + "\n" + more)
        let check = try await tarn("check", "--file", file)
        #expect(check.lines.count == 51 && check.lines.last == "\(file): 50 errors, 0 warnings, 0 notes")
        let sync = try await tarn("sync", "--file", file)
        #expect(
            sync.status == 2 && sync.errorLines.count == 21 && sync.error.contains("… and 30 more"), "\(sync.error)")
    }

    @Test("an entity that nothing leads to is a warning, one that is only nested a note, and the exit code is 0")
    func reach() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML().replacing(
                "endpoints:",
                with: """
                          relationships: { owner: Owner }
                      Owner: { key: id, attributes: { id: int, name: string } }
                      Lost: { key: id, attributes: { id: int } }
                    endpoints:
                    """.replacing("      relationships", with: "    relationships")))
        let result = try await tarn("check", "--file", file)
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.contains("warning: entities.Lost: unused: no endpoint lists it"), "\(result.output)")
        #expect(result.output.contains("note: entities.Owner: no endpoint lists it"), "\(result.output)")
        #expect(!result.output.contains("entities.Item:"))
    }

    @Test("--online requests one page of each endpoint, shows what it means, and leaves no store behind")
    func online() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml", itemsYAML("paginate: auto").replacing("name: string", with: "name: string\n      votes: int"))
        let server = try LocalServer([
            recording(
                "/items", #"[{"id":1,"name":"a","extra":{"deep":1}}]"#,
                "Link: <https://api.test.example/items?page=2>; rel=\"next\""),
            recording("/items?page=2", #"[{"id":2,"name":"b"}]"#),
        ])
        let result = try await tarn("check", "--file", file, "--online", "--base", server.base)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        for part in [
            "endpoints.items: the first page lists 1 record", "paginate: header_link",
            "warning: endpoints.items: Item: extra",
            ":10:7: warning: entities.Item.attributes.votes: no record of the first pages has votes",
        ] {
            #expect(result.output.contains(part), "\(part)\n\(result.output)")
        }
        #expect(server.requests.count == 1, "\(server.requests)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tarn.yaml"])
        let dead = DeadPort()
        let offline = try await tarn("check", "--file", file, "--online", "--base", "http://127.0.0.1:\(dead.port)")
        #expect(offline.status == 2 && offline.output.contains("error: endpoints.items: "), "\(offline.output)")
        let alone = try await tarn("check", "--file", file, "items")
        #expect(alone.status == 2 && alone.error.contains("require --online"))
    }

    @Test(
        "an endpoint with orphans whose records stay when their owner is deleted has a note",
        arguments: ["", ", on_delete: cascade"])
    func ownerWithoutRule(rule: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example' }
            entities:
              Item:
                key: id
                attributes: { id: int }
                relationships: { notes: { to: [Note], inverse: item\(rule) } }
              Note:
                key: id
                attributes: { id: int }
                relationships: { item: { to: Item, inverse: notes } }
            endpoints:
              items: { path: /items, entity: Item }
              notes: { path: '/items/{item.id}/notes', for_each: { entity: Item, parent: item }, entity: Note, orphans: after_two_scans }
              others: { path: '/others/{item.id}/notes', for_each: { entity: Item, parent: item }, entity: Note }
            """)
        let result = try await tarn("check", "--file", file)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        let isNoted = result.output.contains("13:3: note: endpoints.notes: if a record of Item is deleted")
        #expect(isNoted == rule.isEmpty, "\(result.output)")
        #expect(result.output.contains("set on_delete: cascade at Item.notes") == rule.isEmpty, "\(result.output)")
        #expect(!result.output.contains("endpoints.others"), "\(result.output)")
    }

    @Test(
        "an endpoint that requests changes only has a note, if nothing tells which records were deleted",
        arguments: [
            ("", "", "", true), ("", "", "orphans: after_one_scan, ", true), (", full_every: 7d", "", "", true),
            (", full_every: 7d", "", "orphans: after_one_scan, ", false), ("", "deleted: gone, ", "", false),
        ])
    func deletionsUntold(every: String, mark: String, orphans: String, isNoted: Bool) async throws {
        let folder = try TemporaryFolder()
        let since = "since: { param: since, field: at\(every) }"
        let endpoints = [
            "items: { path: /items, entity: Item, \(orphans)\(since) }",
            "items: { path: /items, entity: Item, \(orphans)\(since) }\n"
                + "  gone: { path: /gone, records: { ids: { entity: Item, deleted: true } } }",
        ]
        for (index, text) in endpoints.enumerated() {
            let file = try folder.write(
                "\(index).yaml",
                """
                api: { base: 'https://api.test.example' }
                entities:
                  Item: { key: id, \(mark)attributes: { id: int, at: date } }
                endpoints:
                  \(text)
                """)
            let result = try await tarn("check", "--file", file)
            #expect(result.status == 0, "\(result.output)\(result.error)")
            let found = result.output.contains("5:3: note: endpoints.items: only changes are requested")
            #expect(found == (isNoted && index == 0), "\(result.output)")
        }
    }

    @Test(
        "the whole list of a feed tells deletions only if full_every of the feed requests it again",
        arguments: ["", ", full_every: 7d"])
    func deletionsOfFeed(every: String) async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example' }
            entities:
              Item: { key: id, attributes: { id: int } }
            endpoints:
              items: { path: /items, entity: Item, orphans: after_one_scan }
              feed: { path: /feed, records: items, entity: Item, since: { cursor: next, param: token, start: { path: /token, list: items }\(every) } }
            """)
        let result = try await tarn("check", "--file", file)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        let found = result.output.contains("6:3: note: endpoints.feed: only changes are requested")
        #expect(found == every.isEmpty, "\(result.output)")
    }

    @Test("--online requests one list of for_each, partitions, children and templates, and says what it left out")
    func onlineLists() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example' }
            templates: { Plain: { paginate: single_page } }
            entities:
              Item: { key: id, attributes: { id: int, name: string } }
              Note: { key: id, attributes: { id: int, text: string, ghost: string? }, relationships: { item: Item } }
              Lone: { key: id, attributes: { id: int } }
            endpoints:
              items: { like: Plain, path: /items, entity: Item }
              notes: { like: Plain, path: '/items/{item.id}/notes', for_each: { entity: Item, parent: item }, entity: Note }
              by-state: { like: Plain, path: '/state/{state}', partitions: { state: [open, closed, gone] }, entity: Item }
              lonely: { like: Plain, path: '/lone/{lone.id}', for_each: Lone, entity: Lone }
            """)
        let server = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}]"#),
            recording("/items/1/notes", #"[{"id":9,"text":"t","odd":1}]"#),
            recording("/state/open", "[]"),
        ])
        let result = try await tarn("check", "--file", file, "--online", "--base", server.base)
        #expect(result.status == 0, "\(result.output)\(result.error)")
        for part in [
            "note: endpoints.items: the first page lists 3 records",
            "note: endpoints.notes: the first page of Item 1 lists 1 record",
            "note: endpoints.notes: not requested: 2 more lists: a check requests one list of each endpoint",
            "warning: endpoints.notes: Note: odd is not mapped",
            "warning: entities.Note.attributes.ghost: no record of the first pages has ghost",
            "note: endpoints.by-state: the first page of [state=open] lists 0 records",
            "note: endpoints.by-state: not requested: 2 more lists",
            "note: endpoints.lonely: not requested: the first pages have no record of Lone, which it is requested for",
        ] {
            #expect(result.output.contains(part), "\(part)\n\(result.output)")
        }
        #expect(server.requests.count == 3, "\(server.requests)")
        // The parents of a single endpoint are requested first, and only its findings are shown.
        let one = try await tarn("check", "notes", "--file", file, "--online", "--base", server.base)
        #expect(one.output.contains("the first page of Item 1 lists 1 record"), "\(one.output)")
        #expect(!one.output.contains("endpoints.items"))
        #expect(server.requests.count == 6, "both endpoints that list items, and one list of notes")
    }

    @Test("--online says that a rule ignores the page, and how many unmapped paths it does not name")
    func onlineRest() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML("responses: [{ status: 404, then: ignore }]"))
        let ignored = try ScriptedServer { _ in .init(status: "404 Not Found") }
        let result = try await tarn("check", "--file", file, "--online", "--base", ignored.base)
        let expected =
            "warning: endpoints.items: a rule under `responses` ignores the first page: nothing of it is stored"
        #expect(result.output.contains(expected) && !result.output.contains("not requested"), "\(result.output)")

        let fields = (10...61).map { "\"x\($0)\":1" }.joined(separator: ",")
        let wide = try ScriptedServer { _ in .init(body: "[{\"id\":1,\"name\":\"a\",\(fields)}]") }
        let named = try await tarn("check", "--file", file, "--online", "--base", wide.base)
        #expect(named.output.contains("Item: x59 is not mapped") && !named.output.contains("x60"), "\(named.output)")
        #expect(named.output.contains("warning: endpoints.items: not mapped, either: 2 more paths"), "\(named.output)")
    }

    @Test("--online that is interrupted ends with the code of the signal, and leaves no temporary store")
    func interruptedOnline() async throws {
        let folder = try TemporaryFolder(), temporary = folder("temporary")
        let file = try folder.write("tarn.yaml", itemsYAML())
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
        let server = try LocalServer(itemPages, "--fault", ":stall:600")
        let check = try TarnProcess(
            ["check", "--file", file, "--online", "--base", server.base], environment: ["TMPDIR": temporary])
        try await eventually("a request") { !server.requests.isEmpty }
        check.send(SIGTERM)
        let ended = await check.end()
        #expect(ended.status == 143, "\(ended)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
    }
}
