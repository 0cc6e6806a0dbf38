// The progress of syncs in the inspector's page, without a browser, and at the terminal.

import Foundation
import Tarn
import TarnInspect
import TarnInspectWeb
import TestSupport
import Testing

@Suite("Inspector: page, progress of syncs")
struct WebProgressTests {
    private func endpoints(_ answer: [String: Any]) -> [[String: Any]] {
        answer["endpoints"] as? [[String: Any]] ?? []
    }

    @Test("the endpoints and lists are those of the store's checkpoints, with the numbers of tarn status")
    func forge() async throws {
        let path = try await Forge.store, page = InspectPage(store: path), answer = try page.object("progress")
        let checkpoints = try StoreInspector(at: path).statistics().checkpoints.filter {
            !["*", "!", "?"].contains($0.name.prefix(1))
        }
        let names = Set(checkpoints.map { String($0.name.prefix { $0 != " " }) })
        #expect(endpoints(answer).compactMap { $0["name"] as? String } == names.sorted() && answer["next"] == nil)
        for endpoint in endpoints(answer) {
            let name = try #require(endpoint["name"] as? String)
            let own = checkpoints.filter { $0.name == name || $0.name.hasPrefix(name + " ") }
            #expect(endpoint["lists"] as? Int == own.count && endpoint["completeLists"] as? Int == own.count)
            #expect(endpoint["isWhole"] as? Bool == true && endpoint["unfinished"] == nil)
            #expect(endpoint["records"] as? Int == own.reduce(0) { $0 + $1.checkpoint.records })
            #expect(endpoint["pages"] as? Int == own.reduce(0) { $0 + $1.checkpoint.pages })
            #expect(endpoint["completedAt"] as? String == own.compactMap(\.checkpoint.completedAt).min()?.description)
            #expect(endpoint["age"] as? Int ?? -1 >= 0)
            let id = try #require(endpoint["id"] as? String)
            let lists = try #require(try page.object("lists?endpoint=\(id)")["lists"] as? [[String: Any]])
            #expect(lists.compactMap { $0["name"] as? String } == own.map(\.name))
        }
    }

    /// A store with checkpoints that no sync has left: of an interrupted scan, of very many lists, of
    /// failures, and with limits of a server.
    private func makeStore(_ folder: TemporaryFolder) throws -> (path: String, store: Store) {
        let path = folder("progress.tarn"), time = Timestamp(clampingSeconds: 1_700_000_000)
        let schema = Schema([EntityDefinition("Thing", key: ["id"], attributes: [.init("id", .int)])])
        let store = try Store.open(at: path, schema: schema, options: .init(durability: .relaxed))
        try store.write { writer in
            var issues = Checkpoint(
                state: .underWay, plan: "p", nextURL: "https://api.example.org/issues?page=4&access_token=geheim",
                scan: 2, startedAt: time, completedAt: time)
            (issues.pages, issues.records, issues.since, issues.isCutOff) = (3, 300, "<b>2025-01-31</b>", true)
            issues.members = "issues members"
            try writer.setCheckpoint("issues", issues)
            var list = Checkpoint(state: .complete, plan: "p", scan: 1, startedAt: time, completedAt: time)
            (list.pages, list.records) = (1, 2)
            for number in 1...1500 { try writer.setCheckpoint("parts \(number)", list) }
            // Without a text it is none: a rule for responses has passed over the list.
            list.failure = Checkpoint.Failure(kind: "ignored 404", text: "")
            try writer.setCheckpoint("rules", list)
            list.failure = Checkpoint.Failure(kind: "403", text: "GET /users/7: forbidden")
            try writer.setCheckpoint("users [state=open] 7", list)
            list.failure = nil
            try writer.setCheckpoint("users-of-old", list)
            var outcome = Checkpoint(state: .underWay, plan: "", scan: 0, startedAt: time)
            outcome.lastFailure = Checkpoint.LastFailure(at: time, text: "503: <script>later")
            try writer.setCheckpoint("! issues", outcome)
            try writer.setCheckpoint("? whoami", outcome)
            try writer.setCheckpoint("*", outcome)
            let limits = """
                [{"name":"hour","remaining":3,"resetsAt":1e9},{"name":"","remaining":0,"resetsAt":1e300}]
                """
            try writer.access.settings.setRequestBudgets(
                "{\"https://api.example.org abcdef\":{\"limits\":\(limits),\"tokens\":0}}")
        }
        return (path, store)
    }

    @Test("an interrupted scan, failures, limits and thousands of lists are summed up, without secrets")
    func made() throws {
        let folder = try TemporaryFolder(), (path, store) = try makeStore(folder)
        let page = InspectPage(store: path), answer = try page.object("progress"), found = endpoints(answer)
        #expect(found.compactMap { $0["name"] as? String } == ["issues", "parts", "rules", "users", "users-of-old"])
        let issues = try #require(found.first), unfinished = try #require(issues["unfinished"] as? [String: Any])
        #expect(unfinished["pages"] as? Int == 3 && unfinished["records"] as? Int == 300)
        #expect(issues["pages"] == nil && issues["cutOffLists"] as? Int == 1 && issues["completedAt"] is String)
        let list = try #require(issues["list"] as? [String: Any])
        #expect(list["since"] as? String == "<b>2025-01-31</b>" && list["state"] as? String == "underWay")
        let position = try #require(list["position"] as? String)
        #expect(position.contains("page=4") && !position.contains("geheim"))
        // An endpoint has a limited number of lists in the sum, and says so; the next one follows.
        #expect(found[1]["lists"] as? Int == 1000 && found[1]["isWhole"] as? Bool == false)
        #expect(found[1]["completeLists"] as? Int == 1000 && found[1]["completedAt"] == nil)
        #expect(found[2]["passedLists"] as? Int == 0 && found[2]["isWhole"] as? Bool == true)
        #expect(found[3]["passedLists"] as? Int == 1 && found[4]["lists"] as? Int == 1)
        let failures = try #require(answer["failures"] as? [[String: Any]])
        #expect(failures.map { $0["name"] as? String } == ["issues", "whoami"])
        #expect(failures.map { $0["isOfScan"] as? Bool } == [true, false])
        #expect((failures[0]["failure"] as? [String: Any])?["message"] as? String == "503: <script>later")
        #expect((answer["syncs"] as? [[String: Any]])?.compactMap { $0["name"] as? String } == ["*"])
        let servers = try #require(answer["servers"] as? [[String: Any]])
        #expect(servers.map { $0["origin"] as? String } == ["https://api.example.org"])
        let limits = servers[0]["limits"] as? [[String: Any]] ?? []
        #expect(limits.map { $0["remaining"] as? Int } == [3, 0] && limits[0]["resetsAt"] is String)
        #expect(!page.ask("progress").text.contains("abcdef"))
        withExtendedLifetime(store) {}
    }

    @Test("the pages of an endpoint's lists have each list once, and count noted records to a limit")
    func lists() throws {
        let folder = try TemporaryFolder(), (path, store) = try makeStore(folder)
        try store.write { writer in
            let noted = (1...1200).map { ListedRecord(entity: 1, storageKey: RecordKey(Int64($0)).storageKey) }
            try writer.noteListed(noted, of: "issues members", scan: 2)
        }
        let page = InspectPage(store: path), found = endpoints(try page.object("progress"))
        func lists(_ name: String) throws -> [[String: Any]] {
            let id = try #require(found.first { $0["name"] as? String == name }?["id"] as? String)
            var lists: [[String: Any]] = [], after = ""
            while true {
                let answer = try page.object("lists?endpoint=\(id)\(after)")
                lists += answer["lists"] as? [[String: Any]] ?? []
                guard let next = answer["next"] as? String else { return lists }
                after = "&after=\(next)"
            }
        }
        #expect(try Set(lists("parts").compactMap { $0["name"] as? String }) == Set((1...1500).map { "parts \($0)" }))
        #expect(try lists("parts").count == 1500)
        #expect(try lists("users").map { $0["name"] as? String } == ["users [state=open] 7"])
        let issues = try #require(try lists("issues").first)
        #expect(issues["members"] as? Int == 1000 && issues["areMembersWhole"] as? Bool == false)
        #expect(try page.object("progress")["members"] as? Int == 1200)
        #expect(page.ask("lists").status == 400 && page.ask("lists?endpoint=zz").status == 400)
        withExtendedLifetime(store) {}
    }

    @Test("a damaged checkpoint and limits that are no JSON are named, and the rest is shown")
    func damaged() throws {
        let folder = try TemporaryFolder()
        var made: (path: String, store: Store)? = try makeStore(folder)
        try made?.store.write { try $0.access.settings.setRequestBudgets("no limits") }
        let path = try #require(made?.path)
        made = nil
        let url = URL(fileURLWithPath: path + "/data.mdb")
        var data = try Data(contentsOf: url), start = data.startIndex
        while let range = data.range(of: Data("/users/7: forbidden".utf8), in: start..<data.endIndex) {
            data[range.lowerBound] ^= 1
            start = range.upperBound
        }
        try data.write(to: url)
        let answer = try InspectPage(store: path).object("progress"), damages = answer["damages"] as? [String] ?? []
        #expect(damages.contains { $0.contains("checkpoint users [state=open] 7") }, "\(damages)")
        #expect(damages.contains { $0.contains("limits of servers") }, "\(damages)")
        #expect(endpoints(answer).count == 5 && endpoints(answer)[0]["unfinished"] != nil)
        // An endpoint with an unreadable list is not known as a whole: it would pass for complete.
        let users = endpoints(answer)[3]
        #expect(users["lists"] as? Int == 0 && users["isWhole"] as? Bool == false && users["list"] == nil)
        #expect(endpoints(answer)[2]["isWhole"] as? Bool == true && endpoints(answer)[4]["isWhole"] as? Bool == true)
    }

    @Test("inspect stat shows the position of an interrupted scan, the last failures and the outbox")
    func terminal() async throws {
        let folder = try TemporaryFolder(), (path, store) = try makeStore(folder)
        let result = try await tarn("inspect", "stat", path), lines = result.lines
        #expect(
            lines.contains {
                $0.contains("  under way, or stopped after 3 pages, 300 records") && $0.contains("page=4")
            }, "\(lines)")
        #expect(!result.output.contains("geheim"))
        #expect(lines.contains { $0.hasSuffix("issues: 503: <script>later") }, "\(lines)")
        #expect(lines.contains("  the next sync requests what changed since <b>2025-01-31</b>"))
        let unsent = try UnsentStore(), other = try await tarn("inspect", "stat", unsent.path)
        #expect(other.lines.contains("outbox: 8 to send, 1 failed, 1 dead"), "\(other.lines)")
        withExtendedLifetime((store, unsent.store)) {}
    }
}
