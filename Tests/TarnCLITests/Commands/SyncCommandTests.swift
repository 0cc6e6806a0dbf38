// `tarn sync` as a process: its summary, its end by signals, and others that read meanwhile.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: sync")
struct SyncCommandTests {
    @Test("the summary is a table of endpoints and a line of records; a second sync shows every page as 304")
    func summary() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge)
        let first = try await Forge.sync(folder.path + "/s", server)
        #expect(first.status == 0 && first.error == "", "\(first.error)")
        #expect(
            first.lines.first?.split(separator: " ") == [
                "endpoint", "pages", "304", "listed", "created", "updated", "unchanged", "seconds",
            ])
        #expect(
            first.lines.last
                == "store: 965 records: 42 User, 25 Label, 12 Milestone, 330 Issue, 500 Comment, 56 ChecklistItem")
        let second = try await Forge.sync(folder.path + "/s", server)
        let issues = try #require(second.lines.first { $0.hasPrefix("issues ") }).split(separator: " ")
        #expect(issues.prefix(7) == ["issues", "7", "7", "330", "0", "0", "330"])
        let quiet = try await Forge.sync(folder.path + "/s", server, "--quiet")
        #expect(quiet.status == 0 && quiet.output == "" && quiet.error == "")
        let restart = try await Forge.sync(folder.path + "/s", server, "--refetch", "labels")
        #expect(
            try restart.lines.count == 3
                && restart.line(1).split(separator: " ").prefix(7) == ["labels", "1", "0", "25", "0", "0", "25"])
    }

    @Test("the last line of --json is the summary: endpoints in order, counts, failures as text, records by entity")
    func summaryAsJSON() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--fault", "&page=3:status:500")
        let result = try await Forge.sync(folder.path + "/s", server, "--json")
        #expect(result.status == 3)
        let summary = try json(try #require(result.lines.last))
        let endpoints = try #require(summary["endpoints"] as? [[String: Any]])
        #expect(
            endpoints.map { $0["name"] as? String } == [
                "labels", "milestones", "checklist", "users", "issues", "comments",
            ])
        #expect(endpoints.map { $0["pages"] as? Int } == [1, 1, 12, 2, 2, 2])
        #expect(endpoints.map { ($0["failures"] as? [String])?.count } == [0, 0, 0, 0, 1, 1])
        #expect((summary["records"] as? [String: Int])?["Issue"] == 100)
        #expect(summary["diagnostics"] is [String] && (summary["unmapped"] as? [String]) == [])
        #expect(result.errorLines.count == 2)
    }

    @Test("a path of since without a value, and a detail that is another record, are told; each may be found later")
    func warnings() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.example.org }
            entities:
              Item: { key: id, attributes: { id: int, name: string? } }
            endpoints:
              items:
                path: /items
                entity: Item
                records: items
                more: ignore
                paginate: single_page
                since: { cursor: sync, param: token }
                children:
                  item: { path: '/items/{id}', records: $, paginate: single_page }
                  next: { path: '/items/{id}/next', records: $, paginate: single_page }
            """)
        func serve(_ list: String, _ second: String) throws -> LocalServer {
            try LocalServer([
                recording("/items", list), recording("/items?token=t1", list),
                recording("/items/1", #"{"id":1,"name":"a"}"#), recording("/items/2", second),
                recording("/items/1/next", #"{"id":2,"name":"b"}"#),
                recording("/items/2/next", #"{"id":1,"name":"a"}"#),
                recording("/items/3", #"{"id":3}"#), recording("/items/3/next", #"{"id":3}"#),
            ])
        }
        var server = try serve(#"{"items":[{"id":1},{"id":2}],"Sync":"t1"}"#, #"{"id":3,"name":"c"}"#)
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        let since = "items: no value for since was found, so that the next sync requests the same again: "
        #expect(
            result.status == 0
                && result.errorLines.filter { !$0.contains("nmapped") && !$0.contains("Sync") } == [
                    since + "check field and format under since",
                    "item: 1 response to a request for one record contained another one; the first: "
                        + "\(server.base)/items/2, for the key 2",
                ], "\(result.error)")
        let events = try await tarn("sync", "--file", file, "--base", server.base, "--json", "--refetch")
        let summary = try json(try #require(events.lines.last))
        let endpoints = try #require(summary["endpoints"] as? [[String: Any]])
        #expect(endpoints[0]["without_since"] as? Int == 1 && endpoints[2]["other_records"] == nil)
        let others = try #require(endpoints[1]["other_records"] as? [String: Any])
        #expect(others["count"] as? Int == 1 && others["asked"] as? String == "2")
        server = try serve(#"{"items":[{"id":1},{"id":2}],"sync":"t1"}"#, #"{"id":2,"name":"b"}"#)
        let second = try await tarn("sync", "--file", file, "--base", server.base, "--refetch")
        #expect(second.status == 0 && second.error == "", "\(second.error)")
    }

    @Test("a list whose server refuses what is behind a full page is named, with the ways out, also as JSON")
    func refusedBehindFullPage() async throws {
        let folder = try TemporaryFolder()
        let endpoint = "paginate: { page_number: { param: page } }\n    responses: [{ status: 400, then: stop }]"
        let file = try folder.write("tarn.yaml", itemsYAML(endpoint))
        let items = (1...20).map { #"{"id":\#($0),"name":"n"}"# }.joined(separator: ",")
        let server = try LocalServer([
            recording("/items?page=1", "[\(items)]"), recording("/items?page=2", "{}", status: "400 Bad Request"),
        ])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        let lines = [
            "items: the server refuses what is behind a full page (400), and `then: stop` takes that for the end of the "
                + "list: other pages may be missing; if the list ends there, write more: ignore; if the server refuses "
                + "deep pages, write restart, or request smaller lists (partitions)"
        ]
        #expect(result.status == 0 && result.errorLines == lines, "\(result.error)")
        let events = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        let summary = try json(try #require(events.lines.last))
        #expect((summary["endpoints"] as? [[String: Any]])?.first?["doubtful_ends"] as? Int == 1)
        // The status knows it as well.
        let status = try await tarn("status", "--file", file)
        #expect(status.lines.contains("items: ended where the server may have more; tarn sync names the reason"))
        let endpoints = try json(try await tarn("status", "--file", file, "--json").output)["endpoints"]
        #expect((endpoints as? [[String: Any]])?.first?["doubtful_ends"] as? Int == 1)
    }

    @Test("a list that ends at the limit of the description is named: the server has more")
    func listsWithALimit() async throws {
        let folder = try TemporaryFolder()
        let endpoint = "paginate: { page_number: { param: page } }\n    limit: { pages: 1, then: stop }"
        let file = try folder.write("tarn.yaml", itemsYAML(endpoint))
        let server = try LocalServer([recording("/items?page=1", #"[{"id":1,"name":"a"}]"#)])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(
            result.status == 0
                && result.errorLines == ["items: ended at the limit of the description; the server has more"])
        let events = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        let summary = try json(try #require(events.lines.last))
        let endpoints = try #require(summary["endpoints"] as? [[String: Any]])
        #expect(endpoints.first?["cut_off"] as? Int == 1)
        // The status knows it as well, until a scan reaches the end.
        func status() async throws -> (cutOff: Int?, lines: [String]) {
            let status = try await tarn("status", "--file", file)
            let endpoints = try json(try await tarn("status", "--file", file, "--json").output)["endpoints"]
            let first = try #require((endpoints as? [[String: Any]])?.first)
            #expect(status.status == 0 && first["state"] as? String == "complete")
            return (first["cut_off"] as? Int, status.lines)
        }
        let limited = try await status()
        #expect(limited.cutOff == 1)
        #expect(
            limited.lines.contains("items: ended at the limit of the description; the server has more"))
        _ = try folder.write("tarn.yaml", itemsYAML(endpoint.replacing("pages: 1", with: "pages: 5")))
        let whole = try LocalServer([
            recording("/items?page=1", #"[{"id":1,"name":"a"}]"#), recording("/items?page=2", "[]"),
        ])
        try await expectSuccess(tarn("sync", "--file", file, "--base", whole.base))
        let complete = try await status()
        #expect(complete.cutOff == nil && !complete.lines.contains { $0.contains("limit of the description") })
    }

    @Test("what is neither mapped nor ignored is named by entity and path")
    func unmappedIsNamed() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a","extra":{"deep":1}},{"id":2,"name":"b","extra":{"deep":2}}]"#)
        ])
        let result = try await tarn("sync", "--file", file, "--base", server.base)
        expectSuccess(result)
        #expect(result.errorLines.first == "Unmapped JSON fields (map or ignore them):")
        #expect(result.errorLines.dropFirst().first?.hasPrefix("  Item: extra") == true, "\(result.error)")
        #expect(result.error.contains("(2 times)"))
    }

    @Test(
        "--overlay takes values from where an overlay says; one that is wrong is named with its line, and nothing is fetched"
    )
    func overlays() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let server = try LocalServer([recording("/items", #"[{"id":1,"label":"a"}]"#)])
        let overlay = try folder.write("moved.yaml", "entities: { Item: { attributes: { name: { from: label } } } }")
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--overlay", overlay)
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        let got = try await tarn("get", "--file", file, "Item", "1")
        #expect(try json(got.output)["name"] as? String == "a", "\(got.output)")
        let wrong = try folder.write("wrong.yaml", "entities:\n  Itme: {}")
        let failed = try await tarn(
            "sync", "--file", file, "--base", server.base, "--overlay", overlay, "--overlay", wrong)
        #expect(failed.status == 2 && failed.error.contains("wrong.yaml:2:3: entities.Itme"), "\(failed.error)")
        #expect(server.requests.count == 1)
    }

    @Test("what was recorded with --record is replayed with --replay, without the server and without the token")
    func recordAndReplay() async throws {
        let folder = try TemporaryFolder(), recordings = folder.path + "/recordings"
        let server = try LocalServer(directory: Repository.forge)
        let first = try await tarn(
            Forge.arguments(folder.path + "/a", server.base, ["labels", "issues"]) + ["--record", recordings])
        #expect(first.status == 0, "\(first.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: recordings).count == 8)
        let second = try await tarn(
            Forge.arguments(folder.path + "/b", server.base, ["labels", "issues"]) + ["--replay", recordings])
        #expect(second.status == 0, "\(second.error)")
        #expect(server.requests.count == 8)
        let recorded = try await tarn("list", "Issue", "--store", folder.path + "/a").lines
        let replayed = try await tarn("list", "Issue", "--store", folder.path + "/b").lines
        #expect(recorded == replayed && recorded.count == 330)
        let missing = try await tarn(
            Forge.arguments(folder.path + "/c", server.base, ["users"]) + ["--replay", recordings])
        #expect(
            missing.status == 1 && missing.error.contains("no recording of this request"), "\(missing.error)")
        let both = try await tarn(
            "sync", "--record", "a", "--replay", "b", "--file", Repository.root + "/fixtures/forge/tarn.yaml",
            "--store", folder.path + "/d")
        #expect(both.status == 2)
    }

    @Test(
        "--record into a directory that cannot be listed is an error: its recordings would be replaced",
        .enabled(if: Mounts.hasOtherUser, "needs root and setpriv, to become another user"))
    func unlistedRecordings() async throws {
        let folder = try TemporaryFolder(), recordings = folder.path + "/recordings"
        let server = try LocalServer([recording("/items", #"[{"id":1,"label":"a"}]"#)])
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.example.org' }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints: { items: { path: /items, entity: Item, paginate: single_page } }
            """)
        try FileManager.default.createDirectory(atPath: recordings, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: folder.path + "/own", withIntermediateDirectories: true)
        for (path, mode) in [("", 0o755), ("/recordings", 0o733), ("/own", 0o777)] as [(String, mode_t)] {
            #expect(chmod(folder.path + path, mode) == 0)
        }
        func asNobody(_ command: String) async throws -> TarnProcess.Result {
            try await TarnProcess(
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/bash", "-c", command],
                environment: ["TARN": TarnProcess.executable, "HOME": "/"], program: "/usr/bin/setpriv"
            ).end()
        }
        // If the build is in a private directory, another user cannot run it.
        guard try await asNobody("$TARN --version").status == 0 else { return }
        let result = try await asNobody(
            "$TARN sync --file \(file) --store \(folder.path)/own/s --base \(server.base) --record \(recordings)")
        #expect(result.status != 0 && result.error.contains("cannot list the directory"), "\(result)")
        #expect(server.requests.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: recordings) == [])
    }

    @Test("--attempts goes before the description, and tells how many were in vain")
    func attempts() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(directory: Repository.forge, "--fault", "/labels:status:503")
        let once = try await tarn(Forge.arguments(folder.path + "/s", server.base, ["labels"]) + ["--attempts", "1"])
        #expect(once.status == 1 && server.requests.count == 1)
        _ = try await tarn(Forge.arguments(folder.path + "/s", server.base, ["labels"]) + ["--attempts", "2"])
        #expect(server.requests.count == 3)
        #expect(try await tarn(Forge.arguments(folder.path + "/s", server.base, []) + ["--attempts", "0"]).status == 2)
    }

    @Test(
        "an interrupt during a stalled page ends with 128 and the signal, the store is usable, and the next sync goes on",
        arguments: [SIGINT, SIGTERM, SIGHUP])
    func interruptIsClean(signal: Int32) async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        let stalling = try LocalServer(directory: Repository.forge, "--fault", "&page=3:stall:600")
        let process = try TarnProcess(Forge.arguments(store, stalling.base, ["issues"]))
        // The previous page is being stored when the next one is requested.
        try await eventually {
            stalling.requests.contains { $0.contains("&page=3 ") } && Forge.count("Issue", store) == 100
        }
        process.send(signal)
        let result = await process.end()
        #expect(result.status == 128 + signal)
        #expect(result.error == "tarn: interrupted; committed pages are kept, and the next sync resumes there\n")
        #expect(try await tarn("list", "Issue", "--store", store).lines.count == 100)
        let sound = try LocalServer(directory: Repository.forge)
        let next = try await Forge.sync(store, sound, "issues")
        #expect(next.status == 0, "\(next.error)")
        #expect(next.output.contains("(resumed) issues"))
        #expect(sound.requests.count == 5)
        #expect(try await tarn("list", "Issue", "--store", store).lines.count == 330)
    }

    @Test("an interrupt is 130 also if an endpoint failed before")
    func interruptAfterAFailure() async throws {
        let folder = try TemporaryFolder()
        let server = try LocalServer(
            directory: Repository.forge, "--fault", "/labels:status:404", "--fault", "&page=2:stall:600")
        let process = try TarnProcess(
            Forge.arguments(folder.path + "/s", server.base, ["labels", "issues", "--concurrent", "1"]))
        try await eventually { server.requests.contains { $0.contains("&page=2 ") } }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(
            result.errorLines.filter { $0.hasPrefix("tarn: ") }.count == 2 && result.error.contains("/labels")
                && result.error.contains("interrupted"), "\(result.error)")
    }

    @Test("an interrupt is 130 also if a later endpoint of the description has failed")
    func interruptBeforeAFailure() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml", itemsYAML() + "\n  others: { path: /others, entity: Item, paginate: single_page }\n")
        let server = try LocalServer(
            itemPages, "--fault", "/others:status:404", "--fault", "page=2:stall:600")
        let process = try TarnProcess(["sync", "--file", file, "--base", server.base])
        try await eventually {
            ["page=2", "/others"].allSatisfy { part in server.requests.contains { $0.contains(part) } }
        }
        // Until the refusal is noted.
        try await Task.sleep(for: .milliseconds(500))
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(result.error.contains("/others") && result.error.contains("interrupted"), "\(result.error)")
    }

    @Test("killed at any moment, ten times over, the store ends up as if nothing had happened")
    func killedAtRandomMoments() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        var random = SystemRandomNumberGenerator()
        let server = try LocalServer(directory: Repository.forge, "--latency", "8")
        var moments: [String] = []
        for _ in 0..<10 {
            let start = server.requests.count
            let pages = Int.random(in: 0...4, using: &random), delay = Int.random(in: 0...12_000, using: &random)
            moments.append("\(pages) requests and \(delay) µs")
            let process = try TarnProcess(Forge.arguments(store, server.base, []))
            // A sync that continues may have fewer requests left.
            try await eventually { server.requests.count >= start + pages || process.hasEnded }
            usleep(UInt32(delay))
            process.send(SIGKILL)
            let result = await process.end()
            #expect(result.status == -SIGKILL || result.status == 0)
            if FileManager.default.fileExists(atPath: store + "/data.mdb") {
                let list = try await tarn("list", "Issue", "--store", store)
                #expect([0, 2, 6].contains(list.status), "\(moments): \(list.error)")
                if list.status == 6 { #expect(list.error.contains("no such store"), "\(moments): \(list.error)") }
            }
        }
        let last = try await Forge.sync(store, server)
        #expect(last.status == 0, "\(moments): \(last.error)")
        #expect(try await Forge.dump(store) == (try await Forge.dump(Forge.store)), "\(moments)")
        let stat = try await tarn("inspect", "stat", store)
        #expect(
            stat.output.contains("12 of 12 scans complete") && !stat.output.contains("unfinished"), "\(stat.output)")
        #expect(
            try await Forge.sync(store, server, "--json").output.contains(
                "\"name\":\"issues\",\"pages\":7,\"not_modified\":7"))
    }

    @Test("whoever reads while a sync is under way sees whole pages only")
    func readingMeanwhile() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        let server = try LocalServer(directory: Repository.forge, "--latency", "60")
        let process = try TarnProcess(Forge.arguments(store, server.base, ["issues"]))
        try await eventually { server.requests.count >= 2 }
        var counts: [Int] = []
        while counts.count < 5 {
            let list = try await tarn("list", "Issue", "--store", store, "--fields", "id")
            #expect(list.status == 0, "\(list.error)")
            counts.append(list.lines.count)
        }
        let result = await process.end()
        #expect(result.status == 0, "\(result.error)")
        #expect(counts.allSatisfy { $0 % 50 == 0 || $0 == 330 }, "\(counts)")
        #expect(counts == counts.sorted())
    }

    @Test("two syncs of one store at the same time, of which one waits for the other, both end, and nothing is lost")
    func twoSyncsAtOnce() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        let server = try LocalServer(directory: Repository.forge, "--latency", "5")
        let one = try TarnProcess(Forge.arguments(store, server.base, ["--wait"]))
        let two = try TarnProcess(Forge.arguments(store, server.base, ["--wait"]))
        let results = [await one.end(), await two.end()]
        #expect(results.map(\.status) == [0, 0], "\(results.map(\.error))")
        #expect(try await Forge.dump(store) == (try await Forge.dump(Forge.store)))
    }
}
