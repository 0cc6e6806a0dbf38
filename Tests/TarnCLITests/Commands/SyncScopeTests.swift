// The options of `tarn sync` that decide what is requested, and how often.

import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Command line: parts of a sync", .timeLimit(.minutes(5)))
struct SyncScopeTests {
    private static let yaml = """
        store: store.tarn
        api: { base: https://api.test.example }
        entities:
          User: { key: id, attributes: { id: int, name: string? } }
          Item:
            key: id
            attributes: { id: int, changedAt: date }
            relationships: { owner: User }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link, since: { param: since, field: changed_at } }
          user: { path: '/users/{user.id}', for_each: User, entity: User, paginate: single_page }
        """

    private struct Bed {
        let folder: TemporaryFolder
        let server: ScriptedServer
        let file: String

        init() throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", SyncScopeTests.yaml)
            server = try ScriptedServer { request in
                if request.target.hasPrefix("/users/") {
                    return .init(body: #"{"id":\#(request.target.dropFirst(7)),"name":"u"}"#)
                }
                if request.target.contains("since=") {
                    return .init(body: #"[{"id":4,"changed_at":"2026-01-04T00:00:00Z","owner":9}]"#)
                }
                let page = request.target.hasSuffix("page=2") ? 2 : 1
                let items = (2 * page - 1...2 * page).map {
                    #"{"id":\#($0),"changed_at":"2026-01-0\#($0)T00:00:00Z","owner":\#($0 + 5)}"#
                }
                let link = "Link: <https://api.test.example/items?page=2>; rel=\"next\""
                return .init(fields: page == 1 ? [link] : [], body: "[" + items.joined(separator: ",") + "]")
            }
        }

        func sync(_ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(["sync", "--file", file, "--base", server.base] + arguments)
        }

        func asked(since count: Int) -> [String] { Array(server.targets.dropFirst(count)) }
        var hasStore: Bool { FileManager.default.fileExists(atPath: folder.path + "/store.tarn") }
    }

    @Test("--dry-run requests the first pages, makes no store, and says so")
    func dryRun() async throws {
        let bed = try Bed()
        let result = try await bed.sync("--dry-run")
        #expect(result.status == 0 && bed.server.targets == ["/items"], "\(result.error)")
        #expect(result.error.contains("dry run: the counts are what the first pages would change; nothing was stored"))
        #expect(result.error.contains("more to fetch: items"))
        let none = "not requested, because the store has no record that they are requested for: user"
        #expect(result.errorLines.contains(none), "\(result.error)")
        #expect(!bed.hasStore)
    }

    @Test(
        "--limit stops with a whole page, and the next sync continues; then only changes are requested, unless --full or --since"
    )
    func limitAndChanges() async throws {
        let bed = try Bed()
        let limited = try await bed.sync("--limit", "1", "items")
        #expect(limited.status == 0 && limited.error.contains("stopped at --limit; the next sync continues: items"))
        #expect(bed.server.targets == ["/items"])
        var asked = bed.server.targets.count
        try await expectSuccess(bed.sync("items"))
        #expect(bed.asked(since: asked) == ["/items?page=2"])
        asked = bed.server.targets.count
        // From the largest value of the first page on: records may have moved since.
        try await expectSuccess(bed.sync("items"))
        #expect(bed.asked(since: asked).first?.hasPrefix("/items?since=2026-01-0") == true)
        asked = bed.server.targets.count
        let changes = try await bed.sync("items")
        #expect(bed.asked(since: asked) == ["/items?since=2026-01-04T00%3A00%3A00Z"])
        #expect(changes.error.contains("items: only changes since 2026-01-04T00:00:00Z"), "\(changes.error)")
        asked = bed.server.targets.count
        try await expectSuccess(bed.sync("items", "--full"))
        try await expectSuccess(bed.sync("items", "--since", "2020"))
        #expect(bed.asked(since: asked) == ["/items", "/items?page=2", "/items?since=2020"])
    }

    @Test("the summary of --json tells what --limit has cut off, and what --missing has left")
    func cutOffAsJSON() async throws {
        let bed = try Bed()
        func summary(_ arguments: String...) async throws -> [String: Any] {
            let result = try await tarn(["sync", "--json", "--file", bed.file, "--base", bed.server.base] + arguments)
            #expect(result.status == 0, "\(result.error)")
            return try json(try #require(result.lines.last))
        }
        func endpoint(_ name: String, _ summary: [String: Any]) throws -> [String: Any] {
            let endpoints = try #require(summary["endpoints"] as? [[String: Any]])
            return try #require(endpoints.first { $0["name"] as? String == name })
        }
        let limited = try await summary("--limit", "1")
        #expect(try endpoint("items", limited)["limited"] as? Bool == true)
        #expect(limited["missing"] == nil)
        // Two users are missing, and the limit is one list.
        let missing = try await summary("--missing", "--limit", "1")
        #expect(try endpoint("user", missing)["lists_left_out"] as? Int == 1)
        let left = try #require(missing["missing"] as? [[String: Any]])
        #expect(left.count == 1 && left[0]["entity"] as? String == "User" && left[0]["count"] as? Int == 1)
        #expect(left.first?["has_endpoint"] as? Bool == true && left.first?["too_long"] as? Int == 0)
        let whole = try await summary("items")
        #expect(try endpoint("items", whole)["limited"] == nil)
    }

    @Test("a list whose records replace each other, because they share their keys, is told")
    func repeated() async throws {
        let folder = try TemporaryFolder()
        let items = (0..<40).map { number in #"{"type":"\#(number < 25 ? "node" : "way")","id":\#(number % 25)}"# }
        let server = try ScriptedServer { _ in .init(body: "[\(items.joined(separator: ","))]") }
        let file = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: '\(server.base)' }
            entities: { Item: { key: id, attributes: { id: int, type: string } } }
            endpoints: { items: { path: /items, entity: Item, paginate: single_page } }
            """)
        let result = try await tarn("sync", "--file", file, "--json")
        #expect(
            result.status == 0 && result.error.contains("40 records, and only 25 different ones"), "\(result.error)")
        let summary = try json(try #require(result.lines.last))
        let endpoints = summary["endpoints"] as? [[String: Any]]
        #expect(endpoints?.first?["repeated"] as? [String: Int] == ["listed": 40, "different": 25])
    }

    @Test("records that are in no list since the description has changed are told, with the way out")
    func unlisted() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { request in
            .init(body: request.target.contains("per_page=7") ? #"[{"id":1},{"id":2},{"id":3}]"# : #"[{"id":1}]"#)
        }
        func sync(_ size: Int) async throws -> (error: String, endpoint: [String: Any]?) {
            let file = try folder.write(
                "tarn.yaml",
                """
                store: s.tarn
                api: { base: '\(server.base)' }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  items: { path: /items, with: { per_page: \(size) }, entity: Item, paginate: single_page, orphans: after_two_scans }
                """)
            let result = try await tarn("sync", "--file", file, "--json")
            #expect(result.status == 0, "\(result.error)")
            let summary = try json(try #require(result.lines.last))
            return (result.error, (summary["endpoints"] as? [[String: Any]])?.first)
        }
        #expect(try await sync(7).endpoint?["unlisted"] == nil)
        let (error, endpoint) = try await sync(3)
        #expect(endpoint?["unlisted"] as? Int == 2)
        #expect(error.contains("2 records of its lists before are in no list now, and stay"), "\(error)")
        #expect(error.contains("tarn cache collect STORE --roots"), "\(error)")
        #expect(try await sync(3).endpoint?["unlisted"] == nil)
    }

    @Test("records of the lists of deleted records are told once, with the ways out")
    func ofFormerLists() async throws {
        let folder = try TemporaryFolder(), boxes = Mutex([1, 2])
        let server = try ScriptedServer { request in
            let ids =
                switch request.target {
                case "/boxes": boxes.withLock(\.self)
                case "/boxes/1/items": [10]
                default: [20, 21]
                }
            return .init(body: "[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]")
        }
        let file = try folder.write("tarn.yaml", formerListsYAML(server.base))
        var errors = ""
        for _ in 0..<4 {
            let result = try await tarn("sync", "--file", file)
            #expect(result.status == 0, "\(result.error)")
            errors += result.error
            boxes.withLock { $0 = [1] }
        }
        let told = errors.components(separatedBy: "2 records of lists that are no longer requested").count - 1
        #expect(told == 1 && errors.contains("are in no other list, and stay"), "\(errors)")
        #expect(errors.contains("set on_delete: cascade") && errors.contains("tarn cache collect STORE"), "\(errors)")
    }

    @Test("records that replace each other are told once, if the end of their list is in doubt for the same reason")
    func repeatedOfTotal() async throws {
        let folder = try TemporaryFolder()
        let items = (0..<40).map { #"{"id":\#($0 % 25)}"# }.joined(separator: ",")
        let server = try ScriptedServer { request in
            let isFirst = ["/items", "/items?page=1"].contains(request.target)
            return .init(body: #"{"total":40,"items":[\#(isFirst ? items : "")]}"#)
        }
        let file = try folder.write(
            "tarn.yaml",
            """
            store: s.tarn
            api: { base: '\(server.base)' }
            entities: { Item: { key: id, attributes: { id: int } } }
            endpoints:
              items: { path: /items, entity: Item, records: items, paginate: { page_number: { param: page, total: total } } }
            """)
        let result = try await tarn("sync", "--file", file)
        #expect(result.error.contains("`total` is 40, and the pages have 25 different records"), "\(result.error)")
        #expect(!result.error.contains("only 25 different ones"), "\(result.error)")
    }

    @Test("a list that another description with an endpoint of the same name resets in turn is told")
    func otherDescription() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"one","note":"x"}]"#) }
        func file(_ label: String) throws -> String {
            try folder.write(
                "\(label).yaml",
                """
                store: s.tarn
                api: { base: '\(server.base)' }
                entities:
                  Item:
                    key: id
                    attributes: { id: { type: int, from: [\(label)_id, id] }, label: { type: string?, from: \(label) } }
                    ignore: ['*']
                endpoints:
                  items: { path: /items, entity: Item, paginate: single_page, orphans: after_two_scans }
                """)
        }
        let first = try file("name"), second = try file("note")
        for (file, isReset) in [(first, false), (second, false), (first, false), (second, true)] {
            let result = try await tarn("sync", "--file", file, "--json")
            let isTold = result.error.contains("another description with an endpoint of this name")
            #expect(isTold == isReset, "\(file): \(result.error)")
            let endpoints = try json(try #require(result.lines.last))["endpoints"] as? [[String: Any]]
            #expect(endpoints?.first?["other_description"] as? Bool == (isReset ? true : nil))
        }
    }

    @Test("--missing fetches the targets of references, and says what it cannot fetch")
    func missing() async throws {
        let bed = try Bed()
        try await expectSuccess(bed.sync("items"))
        let asked = bed.server.targets.count
        let result = try await bed.sync("--missing")
        #expect(result.status == 0, "\(result.error)")
        #expect(Set(bed.asked(since: asked)) == Set((6...9).map { "/users/\($0)" }))
        #expect(Forge.count("User", bed.folder.path + "/store.tarn") == 4)
        let none = try await bed.sync("--missing", "items")
        #expect(none.status == 0 && !none.error.contains("still missing"))
    }

    @Test("--offline requests nothing: the status of the endpoints, and 5 while one was never complete")
    func offline() async throws {
        let bed = try Bed()
        try await expectSuccess(bed.sync("items"))
        let asked = bed.server.targets.count
        let result = try await bed.sync("--offline", "items")
        #expect(result.status == 0 && result.output.contains("items"), "\(result.error)")
        let all = try await bed.sync("--offline")
        #expect(all.status == 0 || all.status == 5)
        #expect(bed.server.targets.count == asked)
        let fresh = try Bed()
        let never = try await fresh.sync("--offline", "items")
        #expect(never.status == 5 && never.error.contains("never completely synced: items"), "\(never.error)")
        // Without a list, as long as records that it is requested for may be unknown.
        let unknown = try await fresh.sync("--offline", "user")
        #expect(unknown.status == 5 && unknown.error.contains("never completely synced: user"), "\(unknown.error)")
    }

    @Test("--watch syncs again until it is interrupted, also after failures")
    func watch() async throws {
        let folder = try TemporaryFolder(), fails = Mutex(1)
        let server = try ScriptedServer { _ in
            let isFirst = fails.withLock { count in
                count += 1
                return count == 3
            }
            return isFirst ? .init(status: "404 Gone", body: "") : .init(body: "[]")
        }
        let file = try folder.write("tarn.yaml", Self.yaml)
        let process = try TarnProcess(
            ["sync", "items", "--file", file, "--base", server.base, "--watch", "1s", "--quiet"])
        try await eventually { server.requests.count >= 4 }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
        #expect(result.error.contains("404"))
        for wrong in [
            ["--watch", "soon"], ["--watch", "1s", "--dry-run"], ["--full", "--since", "1"], ["--limit", "0"],
        ] {
            #expect(try await tarn(["sync", "--file", file] + wrong).status == 2)
        }
    }

    @Test("a wrong time of --watch is exit 2, and names the forms of a time")
    func wrongTimes() async throws {
        let bed = try Bed()
        for wrong in [
            ["--watch=15x"], ["--watch", "15x"], ["--watch", "1h30m"], ["--watch=0"], ["--watch=3"], ["--watch=abc"],
            ["--watch=-5m"], ["--watch", "-5m"],
        ] {
            let result = try await tarn(["sync", "--file", bed.file, "--base", bed.server.base] + wrong)
            #expect(result.status == 2 && result.error.contains("30s, 15m, 2h or 1d"), "\(wrong): \(result.error)")
        }
        let text = try await tarn(["sync", "--file", bed.file, "--base", bed.server.base, "--watch=15x"]).error
        #expect(text.contains("--watch 15x: expected a time such as 30s, 15m, 2h or 1d, or no value"), "\(text)")
        #expect(bed.server.targets.isEmpty)
    }

    @Test("--since tells if no endpoint declares it")
    func uselessSince() async throws {
        let folder = try TemporaryFolder(), server = try ScriptedServer { _ in .init(body: "[]") }
        let file = try folder.write("tarn.yaml", itemsYAML())
        let result = try await tarn("sync", "--file", file, "--base", server.base, "--since", "yesterday")
        #expect(result.status == 0 && result.error.contains("--since has no effect"), "\(result.error)")
        let useful = try await Bed().sync("items", "--since", "2026-01-03")
        #expect(!useful.error.contains("no effect"), "\(useful.error)")
    }

    @Test("--watch without a time follows the schedules: what is not due waits, also after a restart")
    func schedules() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"a"}]"#) }
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: 'https://api.test.example' }
            entities: { Item: { key: id, attributes: { id: int, name: string } } }
            endpoints:
              often: { path: /often, entity: Item, paginate: single_page, every: 1s }
              rarely: { path: /rarely, entity: Item, paginate: single_page, every: 2h }
            """)
        let watch = ["sync", "--file", file, "--base", server.base, "--watch"]
        for _ in 0..<2 {
            let had = server.requests.count
            let process = try TarnProcess(watch)
            try await eventually { server.requests.count >= had + 3 }
            process.send(SIGINT)
            let result = await process.end()
            #expect(result.status == 130, "\(result.error)")
            #expect(result.error.contains("next: often at "), "\(result.error)")
        }
        #expect(server.targets.count { $0 == "/rarely" } == 1)
        let status = try await tarn("status", "--file", file)
        let line = try #require(status.lines.first { $0.hasPrefix("rarely ") })
        #expect(line.contains(" in 1") && line.contains("min") || line.contains("in 2 h"), "\(line)")
        let object = try json(try await tarn("status", "--file", file, "--json").output)
        let endpoints = try #require(object["endpoints"] as? [[String: Any]])
        #expect(endpoints.allSatisfy { $0["due"] is String })
        let wrong = try await tarn(["sync", "--file", file, "--watch", "--missing"])
        #expect(wrong.status == 2 && wrong.error.contains("--watch 15m"), "\(wrong.error)")
        // The name behind --watch is no time: it is an endpoint.
        let named = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch", "often", "--full"])
        let had = server.requests.count
        try await eventually { server.requests.count >= had + 2 }
        named.send(SIGINT)
        #expect(await named.end().status == 130)
        #expect(server.targets.suffix(2) == ["/often", "/often"])
    }

    @Test("--watch syncs every endpoint into a store that takes the place of another one")
    func replacedStore() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"a"}]"#) }
        let file = try folder.write(
            "tarn.yaml", Self.watched("often") + "  rarely: { path: /rarely, entity: Item, every: 2h }\n")
        let process = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch"])
        try await eventually { server.targets.contains("/rarely") && server.targets.count { $0 == "/often" } >= 2 }
        // A sync is under way for a moment of each second only.
        try await Task.sleep(for: .milliseconds(500))
        let path = folder.path + "/tarn.tarn"
        #expect(rename(path, path + ".old") == 0)
        try await eventually { server.targets.count { $0 == "/rarely" } == 2 }
        // Behind the sync that has requested it.
        let often = server.targets.count { $0 == "/often" }
        try await eventually { server.targets.count { $0 == "/often" } >= often + 2 }
        process.send(SIGINT)
        #expect(await process.end().status == 130)
        #expect(try await tarn("count", "Item", "--file", file).lines == ["1"])
    }

    @Test("--watch ends when the only API refuses the credentials")
    func refusedCredentials() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(status: "401 Unauthorized", body: "{}") }
        let file = try folder.write("tarn.yaml", Self.watched("items"))
        let result = try await tarn(["sync", "--file", file, "--base", server.base, "--watch"])
        #expect(result.status == 4 && server.targets == ["/items"], "\(result.error)")
    }

    @Test("--watch goes on if the API refuses one endpoint only")
    func forbiddenEndpoint() async throws {
        let folder = try TemporaryFolder()
        let closed = Mutex(0)
        let server = try ScriptedServer { request in
            // The first sync is allowed.
            if request.target == "/closed",
                closed.withLock({
                    $0 += 1
                    return $0
                }) > 1
            {
                return .init(status: "403 Forbidden", body: "{}")
            }
            return .init(body: #"[{"id":1,"name":"a"}]"#)
        }
        let file = try folder.write("tarn.yaml", Self.watched("items", "closed"))
        let process = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch"])
        try await eventually { closed.withLock { $0 } >= 4 }
        process.send(SIGINT)
        let result = await process.end()
        #expect(result.status == 130, "\(result.error)")
    }

    @Test("--watch syncs the endpoints of a description that is changed meanwhile")
    func changedDescription() async throws {
        let folder = try TemporaryFolder()
        let server = try ScriptedServer { _ in .init(body: #"[{"id":1,"name":"a"}]"#) }
        let file = try folder.write("tarn.yaml", Self.watched("first"))
        let process = try TarnProcess(["sync", "--file", file, "--base", server.base, "--watch"])
        try await eventually { server.targets.contains("/first") }
        let next = try folder.write("next.yaml", Self.watched("second"))
        #expect(rename(next, file) == 0)
        try await eventually { server.targets.contains("/second") }
        let count = server.targets.count
        try await eventually { server.targets.count >= count + 2 }
        #expect(server.targets.suffix(2) == ["/second", "/second"])
        process.send(SIGINT)
        #expect(await process.end().status == 130)
    }

    /// A description whose endpoints are due every second.
    private static func watched(_ names: String...) -> String {
        """
        api: { base: 'https://api.test.example' }
        entities: { Item: { key: id, attributes: { id: int, name: string } } }
        endpoints:

        """ + names.map { "  \($0): { path: /\($0), entity: Item, paginate: single_page, every: 1s }\n" }.joined()
    }
}
