// `tarn status`: complete, interrupted, failed and never scanned endpoints, offline.

import Foundation
import TestSupport
import Testing

@Suite("Command line: status", .timeLimit(.minutes(5)))
struct StatusCommandTests {
    private func status(_ store: String, _ more: String...) async throws -> TarnProcess.Result {
        try await tarn(["status", "--file", Repository.forgeFile, "--store", store] + more)
    }

    private func endpoints(_ result: TarnProcess.Result) throws -> [[String: Any]] {
        try #require(try json(result.output)["endpoints"] as? [[String: Any]])
    }

    @Test("after a complete sync every endpoint is complete, with its counts and age, and the exit code is 0")
    func complete() async throws {
        let store = try await Forge.store
        let result = try await status(store)
        #expect(result.status == 0, "\(result.error)")
        #expect(
            try result.line(0).split(separator: " ") == [
                "endpoint", "state", "last", "complete", "scan", "age", "fresh", "due", "pages", "records",
            ])
        let issues = try #require(result.lines.first { $0.hasPrefix("issues ") }).split(separator: " ")
        #expect(issues[1] == "complete" && issues.suffix(2) == ["7", "330"], "\(issues)")
        #expect(result.lines.contains { $0.hasPrefix("checklist (12/12 lists) ") })
        #expect(result.lines.last?.hasPrefix("store: \(store), ") == true)
        #expect(
            result.lines.last?.hasSuffix(
                ": 965 records: 42 User, 25 Label, 12 Milestone, 330 Issue, 500 Comment, 56 ChecklistItem") == true)
        let object = try json(try await status(store, "--json").output)
        #expect(object["version"] as? Int == 1 && object["complete"] as? Bool == true)
        #expect(((object["store"] as? [String: Any])?["records"] as? [String: Int])?["Issue"] == 330)
        let chosen = try await status(store, "issues", "--json")
        #expect(try endpoints(chosen).map { $0["name"] as? String } == ["issues"])
        let wrong = try await status(store, "isues")
        #expect(wrong.status == 2 && wrong.error.contains("did you mean \"issues\"?"), "\(wrong.error)")
    }

    @Test("an interrupted scan has its position, a failed one its failure, another is never scanned: exit 3")
    func incomplete() async throws {
        let folder = try TemporaryFolder(), store = folder.path + "/s"
        #expect(try await status(store).status == 6)
        let server = try LocalServer(
            directory: Repository.forge, "--fault", "&page=3:stall:600", "--fault", "/labels:status:404")
        _ = try await Forge.sync(store, server, "labels")
        let process = try TarnProcess(Forge.arguments(store, server.base, ["issues"]))
        try await eventually { server.requests.contains { $0.contains("&page=3 ") } }
        try await eventually { Forge.count("Issue", store) > 0 }
        let running = try await status(store, "--json")
        #expect(running.status == 3)
        let issues = try #require(try endpoints(running).first { $0["name"] as? String == "issues" })
        #expect(issues["state"] as? String == "syncing" && issues["process"] as? Int == Int(process.processID))
        process.send(SIGKILL)
        _ = await process.end()
        let after = try endpoints(try await status(store, "--json"))
        func endpoint(_ name: String) -> [String: Any] { after.first { $0["name"] as? String == name } ?? [:] }
        #expect(endpoint("issues")["state"] as? String == "interrupted")
        let unfinished = try #require(endpoint("issues")["unfinished"] as? [String: Any])
        #expect((unfinished["next"] as? String)?.contains("page=") == true && (unfinished["listed"] as? Int ?? 0) >= 50)
        #expect(endpoint("labels")["state"] as? String == "failed")
        #expect(((endpoint("labels")["failure"] as? [String: Any])?["message"] as? String)?.contains("404") == true)
        #expect(endpoint("comments")["state"] as? String == "never" && endpoint("comments")["completed_at"] == nil)
        let text = try await status(store)
        #expect(
            text.lines.contains { $0.hasPrefix("issues: stopped after ") && $0.contains("; next: ") }, "\(text.output)")
        #expect(text.lines.contains { $0.hasPrefix("labels: failed ") && $0.contains("404") })
    }

    @Test("pages and records of a complete scan are shown until a further one takes their place, and then none")
    func rescanned() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("tarn.yaml", itemsYAML()), server = try LocalServer(itemPages)
        func row() async throws -> [Substring] {
            let lines = try await tarn("status", "--file", file).lines
            return try #require(lines.first { $0.hasPrefix("items ") }).split(separator: " ")
        }
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        #expect(try await row().suffix(2) == ["3", "3"])
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base, "--refetch", "--limit", "1"))
        let row = try await row()
        #expect(row[1] == "interrupted" && row.last == "now", "\(row)")
        // Neither does the scan go on, nor was none complete.
        let stat = try await tarn("inspect", "stat", folder.path + "/tarn.tarn")
        #expect(
            stat.lines.contains {
                $0.wholeMatch(of: /endpoint items: last complete at [0-9T:.-]+Z, 1 unfinished/) != nil
            },
            "\(stat.output)")
    }

    @Test("an endpoint without a parent record is complete as soon as the endpoints that may list one are")
    func withoutParents() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "tarn.yaml",
            itemsYAML("paginate: single_page\n    children: { item: { path: '/items/{id}', paginate: single_page } }"))
        let server = try LocalServer([recording("/items", "[]")])
        try await expectSuccess(tarn("sync", "item", "--file", file, "--base", server.base))
        let before = try await tarn("status", "--file", file)
        #expect(
            before.status == 3 && before.output.firstMatch(of: #/\nitem +never +no parents /#) != nil,
            "\(before.output)")
        // The endpoint that may list a parent counts, too, if it is not shown.
        let alone = try await tarn("status", "item", "--file", file)
        #expect(
            alone.status == 3 && alone.output.firstMatch(of: #/\nitem +never +no parents /#) != nil,
            "\(alone.output)")
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base))
        let after = try await tarn("status", "--file", file)
        #expect(
            after.status == 0 && after.output.firstMatch(of: #/\nitem +complete +no parents /#) != nil,
            "\(after.output)")
        #expect(try await tarn("status", "item", "--file", file).status == 0)
        #expect(try json(try await tarn("status", "--file", file, "--json").output)["complete"] as? Bool == true)
    }

    @Test("local changes that are not sent are counted; missing credentials hide only the freshness")
    func localChangesAndCredentials() async throws {
        let folder = try TemporaryFolder()
        let open = try folder.write("tarn.yaml", itemsYAML("paginate: single_page"))
        let server = try LocalServer([recording("/items", #"[{"id":1,"name":"a"}]"#, "Cache-Control: max-age=600")])
        try await expectSuccess(tarn("sync", "--file", open, "--base", server.base))
        let fresh = try await tarn("status", "--file", open)
        #expect(fresh.output.firstMatch(of: #/\nitems .* for \d+ (s|min) /#) != nil, "\(fresh.output)")
        try await expectSuccess(tarn("update", "Item", "--all", "--set", "name=b", "--file", open))
        let changed = try await tarn("status", "--file", open)
        #expect(changed.status == 0 && changed.lines.last == "1 local change not sent: 1 Item")
        #expect(
            try json(try await tarn("status", "--file", open, "--json").output)["local_changes"] as? [String: Int] == [
                "Item": 1
            ])
        let closed = try folder.write(
            "closed.yaml",
            "store: tarn.tarn\n" + itemsYAML("paginate: single_page", api: "  auth: { bearer: { env: TARN_NO_SUCH } }"))
        let hidden = try await tarn("status", "--file", closed)
        #expect(hidden.status == 0 && hidden.output.contains("\nitems     complete"), "\(hidden.output)\(hidden.error)")
    }
}
