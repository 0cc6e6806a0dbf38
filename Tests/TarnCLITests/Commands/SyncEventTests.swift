// The events of `tarn sync --json`: a versioned contract with a JSON Schema.

import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Command line: events of sync")
struct SyncEventTests {
    private func schema() throws -> SchemaCheck {
        try SchemaCheck(String(contentsOfFile: Repository.root + "/tools/schemas/sync-events.json", encoding: .utf8))
    }

    /// Checks each line, and returns the events.
    private func events(_ result: TarnProcess.Result) throws -> [[String: Any]] {
        let schema = try schema()
        return try result.lines.map { line in
            let event = try json(line)
            #expect(schema.problems(event).isEmpty, "\(schema.problems(event)): \(line)")
            return event
        }
    }

    private func of(_ kind: String, _ events: [[String: Any]]) -> [[String: Any]] {
        events.filter { $0["event"] as? String == kind }
    }

    @Test("the schema that the command prints is the file of the repository")
    func printed() async throws {
        let result = try await tarn("sync", "--events-schema")
        #expect(result.status == 0)
        #expect(
            try result.output
                == String(contentsOfFile: Repository.root + "/tools/schemas/sync-events.json", encoding: .utf8))
    }

    @Test("a wrong option or value of sync --json is an event as well, the only one")
    func usageErrors() async throws {
        for (option, message) in [
            (["--limt", "3"], #"unknown option "--limt": did you mean "--limit"?"#),
            (["--limit", "0"], "--limit must be at least 1"),
        ] {
            let result = try await tarn(["sync", "--json"] + option)
            let found = try events(result)
            #expect(result.status == 2 && found.count == 1, "\(result)")
            #expect(found.first?["exit_code"] as? Int == 2 && found.first?["message"] as? String == message, "\(found)")
            #expect(result.errorLines.first == "tarn: " + message, "\(result.error)")
            #expect(try await tarn(["sync"] + option).output == "")
        }
    }

    @Test("an interrupt of several endpoints is told once, and marks them as interrupted, not as failed")
    func interruptedOnce() async throws {
        for isJSON in [true, false] {
            let folder = try TemporaryFolder()
            let server = try LocalServer(
                directory: Repository.forge, "--fault", "/labels:stall:600", "--fault", "/milestones?:stall:600")
            let process = try TarnProcess(
                Forge.arguments(folder.path + "/s", server.base, ["users", "labels", "milestones"])
                    + (isJSON ? ["--json"] : []))
            try await eventually {
                server.requests.contains { $0.contains("/labels") }
                    && server.requests.contains { $0.contains("/milestones") }
                    && Forge.count("User", folder.path + "/s") > 0
            }
            process.send(SIGINT)
            let result = await process.end()
            #expect(result.status == 130, "\(result.error)")
            #expect(result.errorLines.count { $0.contains("interrupted; committed") } == 1, "\(result.error)")
            if isJSON {
                let errors = try of("error", events(result))
                #expect(errors.count == 1 && errors[0]["endpoint"] == nil, "\(errors)")
            } else {
                #expect(result.output.contains("\n(interrupted) "), "\(result.output)")
                #expect(!result.output.contains("FAILED"), "\(result.output)")
            }
        }
    }

    @Test("a run with faults: a page event for each page, the end of each endpoint, errors, the summary last")
    func run() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(
            directory: Repository.forge, "--fault", "/labels:status:404", "--fault", "page=2:status:503:times=1")
        let result = try await Forge.sync(folder.path + "/s", server, "--json")
        #expect(result.status == 3)
        let events = try events(result)
        let pages = of("page", events)
        #expect(pages.count { $0["endpoint"] as? String == "issues" } == 7)
        #expect(pages.allSatisfy { ($0["url"] as? String)?.hasPrefix("http://127.0.0.1:") == true })
        let ends = of("progress", events).filter { $0["ended"] as? Bool == true }
        // Endpoints are scanned side by side: their order is not determined.
        let byName = Dictionary(ends.compactMap { end in (end["endpoint"] as? String).map { ($0, end) } }) { $1 }
        #expect(ends.count == 6 && byName.count == 6)
        #expect(byName.filter { $0.value["failures"] as? Int != 0 }.keys.sorted() == ["labels"])
        #expect(byName["issues"]?["listed"] as? Int == 330 && byName["issues"]?["expected_pages"] as? Int == 7)
        #expect(byName["users"]?["expected_records"] as? Int == 38 && byName["checklist"]?["lists"] as? Int == 12)
        let errors = of("error", events)
        #expect(errors.count == 1 && errors[0]["endpoint"] as? String == "labels", "\(errors)")
        #expect((errors[0]["message"] as? String)?.contains("404") == true)
        #expect(events.last?["event"] as? String == "summary" && of("summary", events).count == 1)
    }

    @Test("a total of the first one of several lists in a response is none of the listed records")
    func severalLists() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            .init(
                body: request.target.hasSuffix("page=2")
                    ? #"{"data":[],"tags":[],"total":1}"# : #"{"data":[{"id":1}],"tags":[{"id":2},{"id":3}],"total":1}"#
            )
        }
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: '\(server.base)' }
            entities:
              Item: { key: id, attributes: { id: int } }
              Tag: { key: id, attributes: { id: int } }
            endpoints:
              items: { path: /items, records: { data: Item, tags: Tag }, paginate: { page_number: { param: page } } }
            """)
        let result = try await tarn("sync", "--file", file, "--json"), events = try events(result)
        let end = try #require(of("progress", events).last)
        #expect(result.status == 0 && end["listed"] as? Int == 3 && end["expected_records"] == nil, "\(result.output)")
    }

    @Test("an expired value for since, lists that go on and fields with other sources are told, also as events")
    func told() async throws {
        let folder = try TemporaryFolder()
        func yaml(_ source: String) -> String {
            """
            api: { base: 'https://api.test.example' }
            entities:
              Item:
                key: id
                attributes: { id: int, label: { type: string?, from: \(source) } }
                relationships: { tags: { to: [Tag], from: tags.data } }
              Tag: { key: id, attributes: { id: int } }
            endpoints:
              items:
                path: /items
                records: items
                entity: Item
                paginate: single_page
                since: { cursor: sync, param: token }
            """
        }
        let item = #"{"id":1,"name":"a","note":"b","tags":{"data":[{"id":1}],"has_more":true}}"#
        let server = try ScriptedServer { request in
            request.target.contains("token=")
                ? .init(status: "410 Gone", body: "{}") : .init(body: #"{"items":[\#(item)],"sync":"t1"}"#)
        }
        let file = try folder.write("tarn.yaml", yaml("name"))
        func sync(_ options: String...) async throws -> TarnProcess.Result {
            try await tarn(["sync", "--file", file, "--base", server.base] + options)
        }
        func endpoint(_ result: TarnProcess.Result) throws -> [String: Any] {
            try #require((of("summary", events(result)).first?["endpoints"] as? [[String: Any]])?.first)
        }
        let first = try await sync()
        #expect(first.error.contains("items: 1 record had only a part of a list (tags.has_more is true)"), "\(first)")
        let second = try await sync("--json")
        #expect(second.error.contains("items: the server no longer accepts the value for since"), "\(second)")
        #expect(try endpoint(second)["expired"] as? Int == 1, "\(second)")
        _ = try folder.write("tarn.yaml", yaml("note"))
        let third = try await sync("--json")
        #expect(try endpoint(third)["cut_lists"] as? [String: Int] == ["tags.has_more": 1], "\(third)")
        let changed = try of("diagnostic", events(third)).filter { $0["code"] as? String == "source.changed" }
        #expect(changed.map { $0["field"] as? String } == ["label"], "\(third)")
    }

    @Test("pages answered with 304 count their records as unchanged; metadata of responses is part of the page")
    func notModified() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML(
                "records: items\n    paginate: single_page\n    more: ignore\n"
                    + "    metadata: { more: meta.more, note: meta.note }"))
        let server = try LocalServer([
            recording(
                "/items", #"{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"meta":{"more":true,"note":{"x":[1]}}}"#,
                "ETag: \"1\"", "X-Total-Count: 2")
        ])
        let arguments = ["sync", "--file", file, "--base", server.base, "--json"]
        for isSecond in [false, true] {
            let result = try await tarn(arguments)
            #expect(result.status == 0, "\(result.error)")
            let events = try events(result)
            let page = try #require(of("page", events).first)
            let metadata = try #require(page["metadata"] as? [String: Any])
            #expect(metadata["more"] as? Bool == true && (metadata["note"] as? [String: [Int]]) == ["x": [1]])
            #expect(page["not_modified"] as? Bool == isSecond)
            let endpoint = try #require((events.last?["endpoints"] as? [[String: Any]])?.first)
            #expect(endpoint["unchanged"] as? Int == (isSecond ? 2 : 0))
            #expect(
                endpoint["confirmed"] as? Int == (isSecond ? 2 : 0) && endpoint["created"] as? Int == (isSecond ? 0 : 2)
            )
        }
        let list = try await tarn("cache", "list", folder.path + "/tarn.tarn")
        #expect((try json(list.line(0))["metadata"] as? [String: Any])?["more"] as? Bool == true, "\(list.output)")
        let fetch = try await tarn("fetch", "items", "--file", file, "--base", server.base)
        #expect(fetch.errorLines.contains(#"metadata: {"more":true,"note":{"x":[1]}}"#), "\(fetch.error)")
        #expect(fetch.lines.count == 2)
    }

    @Test("diagnostics are events; a failure before the sync is an error event, and there is no summary")
    func diagnosticsAndErrors() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([recording("/items", #"[{"id":1,"nam":"a"}]"#)])
        let events = try events(try await tarn("sync", "--file", file, "--base", server.base, "--json"))
        #expect(
            Set(of("diagnostic", events).compactMap { $0["code"] as? String }) == [
                "value.absent", "unmapped", "absent",
            ])
        let wrong = try await tarn("sync", "nothing", "--file", file, "--json")
        let error = try #require(try self.events(wrong).first)
        #expect(error["event"] as? String == "error" && error["exit_code"] as? Int == 2 && wrong.lines.count == 1)
        #expect(wrong.status == 2)
    }

    @Test(
        "with --offline the last line is a status event; an endpoint that was never complete is an error event before it"
    )
    func offline() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let never = try await tarn("sync", "--file", file, "--offline", "--json")
        #expect(never.status == 5 && never.errorLines == ["tarn: offline: never completely synced: items"])
        // No store is made.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["tarn.yaml"])
        let first = try events(never)
        #expect((first[1]["store"] as? [String: Any])?["path"] as? String == folder.path + "/tarn.tarn")
        #expect(first.map { $0["event"] as? String } == ["error", "status"], "\(never.output)")
        #expect(first[0]["exit_code"] as? Int == 5 && first[1]["complete"] as? Bool == false)
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":"a"}]"#)])
        expectSuccess(try await tarn("sync", "--file", file, "--base", server.base))
        let whole = try await tarn("sync", "--file", file, "--offline", "--json")
        #expect(whole.status == 0, "\(whole.error)")
        let second = try events(whole)
        #expect(
            second.count == 1 && second[0]["event"] as? String == "status" && second[0]["complete"] as? Bool == true)
        #expect(server.requests.count == 1)
    }

    @Test("skipped records are an error event with their reason, before the summary")
    func skipped() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([recording("/items", #"[{"name":"no key"},{"id":1,"name":"a"}]"#)])
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        #expect(result.status == 3)
        let events = try events(result), errors = of("error", events)
        #expect(errors.count == 1 && errors[0]["exit_code"] as? Int == 3)
        #expect(errors[0]["message"] as? String == "skipped 1 record: without a usable key")
        #expect(events.last?["event"] as? String == "summary")
    }

    @Test("a date in the future for since is at its endpoint in the summary, and in the schema")
    func futureSince() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML("paginate: single_page\n    since: { param: since, field: changed_at }\n    more: ignore"))
        let server = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a","changed_at":"2999-01-01T00:00:00Z"}]"#)
        ])
        let events = try events(try await tarn("sync", "--file", file, "--base", server.base, "--json"))
        let endpoint = try #require((events.last?["endpoints"] as? [[String: Any]])?.first)
        #expect(endpoint["future_since"] as? String == "2999-01-01T00:00:00Z", "\(endpoint)")
    }

    @Test("records of lists that are no longer requested are counted in the summary, in one sync")
    func ofFormerLists() async throws {
        let folder = try TemporaryFolder(), hasBoth = Mutex(true)
        let server = try ScriptedServer { request in
            switch request.target {
            case "/boxes": .init(body: hasBoth.withLock { $0 } ? #"[{"id":1},{"id":2}]"# : #"[{"id":1}]"#)
            case "/boxes/1/items": .init(body: #"[{"id":10}]"#)
            default: .init(body: #"[{"id":20},{"id":21}]"#)
            }
        }
        let file = try folder.write("tarn.yaml", formerListsYAML(server.base))
        var counts: [Int] = []
        for _ in 0..<4 {
            let result = try await tarn("sync", "--file", file, "--json")
            #expect(result.status == 0, "\(result.error)")
            let endpoints = try events(result).last?["endpoints"] as? [[String: Any]]
            let items = try #require(endpoints?.first { $0["name"] as? String == "items" })
            counts.append(items["of_former_lists"] as? Int ?? 0)
            hasBoth.withLock { $0 = false }
        }
        #expect(counts == [0, 0, 2, 0])
    }

    @Test("a wait is a progress event with its reason and the number of the next try")
    func wait() async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let count = Mutex(0)
        let server = try ScriptedServer { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return isFirst
                ? .init(status: "429 Too Many Requests", fields: ["Retry-After: 2"])
                : .init(body: #"[{"id":1,"name":"a"}]"#)
        }
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        #expect(result.status == 0, "\(result.error)")
        let waits = of("progress", try events(result)).compactMap { $0["wait"] as? [String: Any] }
        #expect(
            waits.contains {
                $0["cause"] as? String == "429" && $0["attempt"] as? Int == 2 && $0["reason"] as? String == "limit"
            },
            "\(result.output)")
    }
}
