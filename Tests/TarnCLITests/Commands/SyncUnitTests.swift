// `tarn sync`: commits of several pages, orphans, and the counts of each entity.

import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Command line: sync, units and orphans")
struct SyncUnitTests {
    private func items(_ ids: [Int], tag: String) -> [String] {
        [
            recording(
                "/items", "[" + ids.map { #"{"id":\#($0),"name":"n\#($0)"}"# }.joined(separator: ",") + "]",
                "ETag: \"\(tag)\"")
        ]
    }

    @Test(
        "a dry run names what the server no longer lists and deletes nothing; the next run does, and both are in the JSON"
    )
    func orphans() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML("orphans: after_one_scan"))
        let full = try LocalServer(items([1, 2, 3], tag: "a")), less = try LocalServer(items([1], tag: "b"))
        try await expectSuccess(tarn("sync", "--file", file, "--base", full.base))
        let dry = try await tarn("sync", "--file", file, "--base", less.base, "--dry-run-orphans")
        #expect(dry.status == 0, "\(dry.error)")
        #expect(
            dry.lines.contains(
                "2 records would be deleted or unlinked (no longer listed by the server): Item 2, Item 3"),
            "\(dry.output)")
        #expect(dry.lines.last == "store: 3 records: 3 Item")
        let asJSON = try await tarn("sync", "--file", file, "--base", less.base, "--json")
        let summary = try json(try #require(asJSON.lines.last))
        let orphans = try #require((summary["endpoints"] as? [[String: Any]])?.first?["orphans"] as? [String: Any])
        #expect(orphans["deleted"] as? Int == 2 && orphans["due"] as? Int == 0 && orphans["dry_run"] as? Bool == false)
        #expect(orphans["records"] as? [String] == ["Item 2", "Item 3"] && orphans["refusals"] as? [String] == [])
        #expect((summary["entities"] as? [String: [String: Int]])?["Item"]?["deleted"] == 2)
        #expect((summary["records"] as? [String: Int])?["Item"] == 1)
    }

    @Test("a record that is missing for the first time, and a walk that lists nothing, are said")
    func waiting() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML("orphans: after_two_scans"))
        let full = try LocalServer(items([1, 2], tag: "a")), less = try LocalServer(items([1], tag: "b"))
        let none = try LocalServer(items([], tag: "c"))
        _ = try await tarn("sync", "--file", file, "--base", full.base)
        #expect(
            try await tarn("sync", "--file", file, "--base", less.base).lines.contains(
                "1 record not listed: a later complete sync decides"))
        #expect(
            try await tarn("sync", "--file", file, "--base", none.base).lines.contains(
                "items: no orphans looked for: the scan lists no records; set allow_empty: true if that is possible"))
        let last = try await tarn("sync", "--file", file, "--base", less.base)
        #expect(last.lines.contains("1 record deleted (no longer listed by the server): Item 2"), "\(last.output)")
    }

    @Test("a record that several endpoints have missed counts once, for what became of it")
    func missedByTwo() async throws {
        let folder = try TemporaryFolder()
        let endpoint = "entity: Item, paginate: single_page, orphans: after_two_scans }"
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              Item: { key: id, attributes: { id: int } }
            endpoints:
              first: { path: /first, \(endpoint)
              second: { path: /second, \(endpoint)
            """)
        func server(_ ids: [Int]) throws -> LocalServer {
            let list = "[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
            return try LocalServer([recording("/first", list), recording("/second", list)])
        }
        let full = try server([1, 2]), less = try server([1])
        try await expectSuccess(tarn("sync", "--file", file, "--base", full.base))
        let copy = folder.path + "/copy.tarn", shown = ["--concurrent", "1", "--file", file, "--base", less.base]
        try await expectSuccess(tarn("sync", "--file", file, "--base", full.base, "--store", copy))
        var dry: [String] = []
        for _ in 1...4 { dry = try await tarn(["sync", "--dry-run-orphans", "--store", copy] + shown).lines }
        #expect(
            dry.dropFirst(3) == [
                "1 record would be deleted or unlinked (no longer listed by the server): Item 2",
                "store: 2 records: 2 Item",
            ], "\(dry)")
        // The order in which the two end decides how many syncs it takes.
        var told: [[String]] = []
        while told.count < 5, told.last?.contains(where: { $0.contains("deleted") }) != true {
            let result = try await tarn(["sync"] + shown)
            told.append(result.lines.filter { $0.hasPrefix("1 record ") || $0.hasPrefix("2 records ") })
        }
        #expect(told.count > 1 && told.allSatisfy { $0.count == 1 }, "\(told)")
        #expect(told.last == ["1 record deleted (no longer listed by the server): Item 2"])
        let last = try await tarn("sync", "--file", file, "--base", less.base)
        #expect(last.lines.count == 4 && last.lines.last == "store: 1 record: 1 Item", "\(last.output)")
    }

    @Test("deleted records and those that only left a list are named apart")
    func deletedAndUnlinked() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              User: { key: id, attributes: { id: int } }
              Item: { key: id, attributes: { id: int } }
              Note: { key: id, attributes: { id: int }, relationships: { user: User } }
            endpoints:
              users: { path: /users, entity: User }
              items: { path: /items, entity: Item, orphans: after_one_scan }
              notes:
                path: '/users/{user.id}/notes'
                for_each: { entity: User, parent: user }
                entity: Note
                orphans: { after: one_scan, then: unlink }
            """)
        func server(_ ids: [Int]) throws -> LocalServer {
            let list = "[" + ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") + "]"
            return try LocalServer([
                recording("/users", #"[{"id":1}]"#), recording("/items", list), recording("/users/1/notes", list),
            ])
        }
        let full = try server([1, 2, 3]), less = try server([1])
        try await expectSuccess(tarn("sync", "--file", file, "--base", full.base))
        let result = try await tarn("sync", "--file", file, "--base", less.base)
        #expect(result.lines.contains("2 records deleted (no longer listed by the server): Item 2, Item 3"))
        #expect(
            result.lines.contains("2 records unlinked (no longer listed there by the server): Note 2, Note 3"),
            "\(result.output)\(result.error)")
        #expect(result.lines.last == "store: 5 records: 1 User, 1 Item, 3 Note")
    }

    @Test("--verbose says what happened to the records of each entity")
    func verbose() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            """
            api: { base: https://api.test.example }
            entities:
              User: { key: id, attributes: { id: int, name: string } }
              Item:
                key: id
                attributes: { id: int, name: string, revision: int? }
                relationships: { owner: User }
                version: revision
                deleted: gone
            endpoints:
              items: { path: /items, entity: Item, orphans: after_one_scan }
            """)
        let first = try LocalServer([
            recording(
                "/items",
                """
                [{"id":1,"name":"a","revision":5,"owner":{"id":7}},{"id":2,"name":"b"},{"id":3,"name":"c"},{"id":4,"name":"d"}]
                """)
        ])
        let second = try LocalServer([
            recording(
                "/items",
                """
                [{"id":1,"name":"older","revision":4},{"id":2,"name":"b"},{"id":3,"name":"C"},{"id":4,"gone":true},{"id":5,"name":"e"},{"name":"no key"}]
                """)
        ])
        let third = try LocalServer([
            recording("/items", #"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"C"}]"#)
        ])
        func counts(_ server: LocalServer) async throws -> [String: [Substring]] {
            let result = try await tarn("sync", "--file", file, "--base", server.base, "--verbose")
            var counts: [String: [Substring]] = [:]
            for line in result.lines where line.hasPrefix("Item ") || line.hasPrefix("User ") {
                let words = line.split(separator: " ")
                counts[String(words[0])] = Array(words.dropFirst())
            }
            return counts
        }
        // created, updated, unchanged, deleted, older, partial, skipped
        #expect(
            try await counts(first) == [
                "Item": ["4", "0", "0", "0", "0", "0", "0"], "User": ["1", "0", "0", "0", "0", "1", "0"],
            ])
        #expect(try await counts(second) == ["Item": ["1", "1", "1", "1", "1", "0", "1"]])
        // The fifth is listed no more; in the scan before one record could not be read, so nothing
        // was looked for then.
        #expect(try await counts(third) == ["Item": ["0", "0", "3", "1", "0", "0", "0"]])
    }

    @Test("of a page that is answered with 304, each stored record counts once as unchanged, also for its entity")
    func notModified() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML("paginate: single_page"))
        let list = #"[{"id":1,"name":"a"},{"id":2,"name":"b"},{"name":"no key"},{"id":2,"name":"b"}]"#
        let server = try LocalServer([recording("/items", list, "ETag: \"a\"")])
        let first = try await tarn("sync", "--file", file, "--base", server.base)
        #expect(first.status == 3 && first.lines.last == "store: 2 records: 2 Item", "\(first.output)\(first.error)")
        let second = try await tarn("sync", "--file", file, "--base", server.base, "--json")
        let summary = try json(try #require(second.lines.last))
        let endpoint = try #require((summary["endpoints"] as? [[String: Any]])?.first)
        #expect(endpoint["not_modified"] as? Int == 1 && endpoint["listed"] as? Int == 4)
        #expect(endpoint["unchanged"] as? Int == 2 && endpoint["confirmed"] as? Int == 2, "\(second.output)")
        #expect((summary["entities"] as? [String: [String: Int]])?["Item"]?["unchanged"] == 2)
        let verbose = try await tarn("sync", "--file", file, "--base", server.base, "--verbose")
        let row = try #require(verbose.lines.first { $0.hasPrefix("Item ") }).split(separator: " ")
        #expect(row == ["Item", "0", "0", "2", "0", "0", "0", "0"], "\(verbose.output)")
    }

    @Test("a sync that is killed goes on behind the last batch that was committed", arguments: [2, 3])
    func killed(pages: Int) async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        let stalling = try LocalServer(directory: Repository.forge, "--fault", "&page=6:stall:600")
        let process = try TarnProcess(Forge.arguments(store, stalling.base, ["issues", "--commit-every", "\(pages)"]))
        let kept = 5 / pages * pages
        try await eventually {
            stalling.requests.contains { $0.contains("&page=6 ") } && Forge.count("Issue", store) == kept * 50
        }
        process.send(SIGKILL)
        _ = await process.end()
        #expect(try await tarn("list", "Issue", "--store", store).lines.count == kept * 50)
        let sound = try LocalServer(directory: Repository.forge)
        let next = try await Forge.sync(store, sound, "issues", "--commit-every", "\(pages)")
        #expect(next.status == 0 && next.output.contains("(resumed) issues"), "\(next.error)")
        #expect(sound.requests.count == 7 - kept)
        #expect(try await tarn("list", "Issue", "--store", store).lines.count == 330)
    }

    @Test("killed while records that the server no longer lists are deleted, the next sync goes on, and no others go")
    func killedWhileDeleting() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        let file = try folder.write("tarn.yaml", itemsYAML("orphans: after_one_scan"))
        let full = try LocalServer(items(Array(1...20_000), tag: "a")),
            less = try LocalServer(items(Array(1...100), tag: "b"))
        try await expectSuccess(tarn("sync", "--file", file, "--store", store, "--base", full.base))
        var counts: [Int] = [], status: Int32 = -1, patience = 50_000.0
        // From before the first request until after the end: a later attempt resumes an earlier one
        // before it sends requests. An attempt without progress was too short for this machine.
        for _ in 1...200 where status != 0 {
            let process = try TarnProcess(["sync", "--file", file, "--store", store, "--base", less.base])
            usleep(UInt32(patience))
            process.send(SIGKILL)
            status = await process.end().status
            let count = try await tarn("list", "Item", "--store", store, "--fields", "id").lines.count
            if count == counts.last ?? 20_000 { patience *= 1.1 }
            counts.append(count)
        }
        #expect(status == 0 && counts == counts.sorted(by: >) && counts.last == 100, "\(counts)")
        #expect(
            counts.contains { $0 > 100 && $0 < 20_000 }
                && counts.allSatisfy { $0 % 1000 == 0 || $0 == 100 || $0 % 1000 == 100 }, "\(counts)")
        #expect(
            try await tarn("sync", "--file", file, "--store", store, "--base", less.base).lines.last
                == "store: 100 records: 100 Item")
    }

    @Test("a batch of no pages is a mistake of usage")
    func noPages() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML())
        let result = try await tarn("sync", "--file", file, "--commit-every", "0")
        #expect(result.status == 2 && result.error.contains("--commit-every 0: must be at least 1 page"))
    }
}
