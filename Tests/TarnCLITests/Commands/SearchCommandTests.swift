// `tarn search`, and `tarn open`.

import Foundation
import TestSupport
import Testing

@Suite("Command line: search and open")
struct SearchCommandTests {
    private func run(_ arguments: String...) async throws -> TarnProcess.Result {
        try await tarn(arguments + ["--store", try await Forge.store])
    }

    @Test("search finds a text in any field of any entity, with the field and the text around it")
    func finds() async throws {
        let result = try await run("search", "remote execution fails")
        #expect(result.status == 1 && result.output == "" && result.error == "")
        let found = try await run("search", "-i", "REMOTE execution FAILS")
        let first = try json(found.line(0))
        #expect(first["entity"] as? String == "Issue" && first["field"] as? String == "title")
        #expect(first["match"] as? String == "Remote execution fails")
        // Every match of `any contains` is found, and nothing else.
        for (flag, condition) in [("--ignore-case", "nocase(any) contains scheduler"), ("", "any contains scheduler")] {
            let search = try await tarn(
                ["search", "scheduler", "--store", try await Forge.store] + (flag.isEmpty ? [] : [flag]))
            let issues = try search.lines.map(json).filter { $0["entity"] as? String == "Issue" }
            let listed = try await run("list", "Issue", "--where", condition, "--fields", "id")
            #expect(Set(issues.compactMap { $0["key"] as? Int }).count == listed.lines.count && !listed.lines.isEmpty)
        }
    }

    @Test("--entity selects, --limit counts records, a table is for people, unknown entities are exit 2")
    func options() async throws {
        let labels = try await run("search", "e", "--entity", "Label", "--limit", "3", "--format", "table")
        #expect(labels.lines.allSatisfy { $0.hasPrefix("Label ") || $0.hasPrefix("entity ") })
        #expect(labels.errorLines == ["3 records, and there are more: repeat with `--all`, or with a larger `--limit`"])
        #expect(try await run("search", "x", "--entity", "Nope").status == 2)
        #expect(try await run("search", "").status == 2)
        let user = try await run("search", "nb", "--entity", "User", "--limit", "1")
        #expect(try json(user.line(0))["field"] as? String == "spokenLanguages", "\(user.output)")
    }

    @Test("--entity finds the records of kinds as well, and shows a match once if an entity is named twice")
    func kinds() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              Event:
                key: id
                attributes: { id: int, type: string, note: string }
                kinds: { Push: { type: push }, Event: {} }
              Push: { parent: Event }
            endpoints:
              events: { path: /events, entity: Event, paginate: single_page }
            """)
        let server = try LocalServer([
            recording(
                "/events",
                """
                [{"id":1,"type":"push","note":"a timeout"},{"id":2,"type":"note","note":"timeouts"},
                 {"id":3,"type":"push","note":"done"}]
                """)
        ])
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        func found(_ entities: String...) async throws -> [String] {
            let named = entities.flatMap { ["--entity", $0] }
            return try await tarn(["search", "timeout", "--file", file] + named).lines.map { line in
                let match = try json(line)
                return "\(match["entity"] ?? "") \(match["key"] ?? "")"
            }
        }
        #expect(try await found("Event") == ["Event 2", "Push 1"])
        #expect(try await found("Push", "Event", "Push") == ["Push 1", "Event 2"])
    }

    @Test("open prints the URL of an attribute or of the description's template; only http and https URLs are opened")
    func open() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example/v1 }
            entities:
              Item:
                key: id
                open: 'https://www.test.example/{owner.name}/items/{id}{?tag}'
                attributes: { id: int, tag: string? }
                relationships: { owner: { to: User, inverse: items } }
              User: { key: id, attributes: { id: int, name: string, url: string?, html_url: string? } }
            endpoints:
              items: { path: /items, entity: Item, paginate: single_page }
            """)
        let server = try LocalServer([
            recording(
                "/items",
                """
                [{"id":1,"tag":"a b","owner":{"id":1,"name":"x/y","html_url":"https://web.example/1","url":"https://api"}},
                 {"id":2,"tag":"c","owner":{"id":2,"name":"b","url":"javascript:alert(1)"}},
                 {"id":3,"tag":"d","owner":{"id":3,"name":"c"}}, {"id":4,"tag":"d"},
                 {"id":5,"tag":"e","owner":{"id":5,"name":"d","url":"https://bücher.example/Straße?q=é%20a"}}]
                """)
        ])
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        func open(_ entity: String, _ key: String) async throws -> TarnProcess.Result {
            try await tarn("open", entity, key, "--print", "--file", file)
        }
        #expect(try await open("Item", "1").output == "https://www.test.example/x%2Fy/items/1?tag=a%20b\n")
        #expect(try await open("User", "1").output == "https://web.example/1\n")
        #expect(
            try await open("User", "5").output == "https://xn--bcher-kva.example/Stra%C3%9Fe?q=%C3%A9%20a\n")
        for (entity, key, text) in [
            ("User", "2", "url: not an http or https URL: javascript:alert(1)"),
            ("User", "3", "no attribute has the URL"),
            ("Item", "4", "the record has no owner.name"), ("Item", "9", "Item 9 is not in the store"),
        ] {
            let result = try await open(entity, key)
            #expect(result.status == 1 && result.output == "" && result.error.contains(text), "\(result.error)")
        }
        // The browser gets the URL as its only argument.
        let browser = try folder.write("xdg-open", "#!/bin/sh\nprintf '%s|' \"$#\" \"$@\" > '\(folder.path)/opened'\n")
        _ = chmod(browser, 0o755)
        let path = "\(folder.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let opened = try await tarn(["open", "User", "1", "--file", file], environment: ["PATH": path])
        #expect(opened.status == 0 && opened.error == "opened https://web.example/1\n", "\(opened.error)")
        #expect(try String(contentsOfFile: folder.path + "/opened", encoding: .utf8) == "1|https://web.example/1|")
        let store = folder.path + "/tarn.tarn", missing = folder.path + "/missing.yaml"
        #expect(
            try await tarn("open", "User", "1", "--print", "--store", store, "--file", missing).error.hasPrefix(
                "tarn: \(missing): no such file"))
        let wrong = try folder.write(
            "wrong.yaml", String(contentsOfFile: file, encoding: .utf8).replacing("{id}{?", with: "{id{"))
        #expect(
            try await tarn("open", "User", "1", "--file", wrong).error.hasPrefix(
                "tarn: \(wrong):5:11: entities.Item.open: "))
    }
}
