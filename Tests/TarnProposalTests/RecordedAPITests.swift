// The proposals of six recorded APIs, each synced as it is.

import Foundation
import Tarn
import TestSupport
import Testing

@testable import TarnProposal

@Suite("Proposals of recorded APIs")
struct RecordedAPITests {
    @Test("the forge: six endpoints, a list for each milestone, bare keys, two base URLs")
    func forge() async throws {
        let base = "https://api.forge.example", repository = base + "/repos/acme/anvil"
        let transport = try FixtureTransport(directory: Checkout.root + "/fixtures/forge/responses", base: base)
        let mirror = try await ProposedMirror(
            transport,
            [
                repository + "/labels?per_page=100", repository + "/milestones?state=all&per_page=100",
                repository + "/milestones/2/checklist", base + "/users/search?page=1&limit=20",
                repository + "/issues?per_page=50&state=all", repository + "/comments?per_page=100",
            ])
        mirror.expectClean()
        let counts = ["User": 42, "Label": 25, "Milestone": 12, "Issue": 330, "Comment": 500, "Checklist": 56]
        for (entity, count) in counts { #expect(try mirror.count(entity) == count, "\(entity)") }
        #expect(mirror.description.api.aliases == ["https://forge.example/api/v1"])
        // The facts are those of the generator of the fixtures.
        #expect(try mirror.related("Checklist", "milestone") == (56, 0))
        let issues = try mirror.related("Comment", "issue")
        #expect(issues.stored + issues.missing == 500 && issues.missing < 20, "\(issues)")
        let authors = try mirror.related("Comment", "user")
        #expect(authors.stored > 400 && authors.missing > 0, "\(authors)")
        #expect(try mirror.related("Issue", "user").stored == 330)
        #expect(mirror.proposal.text.contains("/repos/acme/anvil/milestones/{milestone.number}/checklist"))
        #expect(mirror.proposal.text.contains("epoch: milliseconds"))
    }

    @Test(
        "JSONPlaceholder: pages by parameters that only the URL reveals, foreign keys",
        .enabled(if: Captured.folder != nil))
    func jsonPlaceholder() async throws {
        let folder = try TemporaryFolder()
        let sizes = ["posts": 10, "comments": 100, "albums": 10, "photos": 500, "todos": 20, "users": 10]
        var responses: [(String, [String], String)] = []
        for collection in try Captured.json("jsonplaceholder.json").members {
            let records = collection.value.elements, size = try #require(sizes[collection.key])
            for page in 1...(records.count / size + 1) {
                let slice = records.dropFirst((page - 1) * size).prefix(size)
                responses.append(
                    ("/\(collection.key)?_page=\(page)&_limit=\(size)", [], JSONValue.array(Array(slice)).text))
            }
        }
        try recordings(folder, responses)
        let base = "https://jsonplaceholder.typicode.com"
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path, base: base),
            sizes.keys.sorted().map { "\(base)/\($0)?_page=1&_limit=\(sizes[$0] ?? 10)" })
        mirror.expectClean()
        let counts = ["Post": 100, "Comment": 500, "Album": 100, "Photo": 5000, "Todo": 200, "User": 10]
        for (entity, count) in counts { #expect(try mirror.count(entity) == count, "\(entity)") }
        for (entity, relationship) in [
            ("Post", "user"), ("Comment", "post"), ("Album", "user"), ("Photo", "album"), ("Todo", "user"),
        ] {
            #expect(try mirror.related(entity, relationship) == (counts[entity] ?? 0, 0), "\(entity)")
        }
        #expect(try mirror.related("User", "posts").stored == 100)
    }

    @Test("GitHub's issues: five pages by Link to another path of the server", .enabled(if: Captured.folder != nil))
    func gitHubIssues() async throws {
        let folder = try TemporaryFolder(), base = "https://api.github.com"
        try recordings(folder, try session("github-paginate-issues.json"))
        let repository = base + "/repos/octokit-fixture-org/tmp-scenario-paginate-issues-20220719043836917-izyoe"
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path, base: base), [repository + "/issues?per_page=3"])
        mirror.expectClean()
        #expect(mirror.report.pages == 5 && mirror.report.listed == 13)
        #expect(try mirror.count("Issue") == 13)
        #expect(try mirror.count("User") == 1)
        #expect(try mirror.related("Issue", "user") == (13, 0))
    }

    @Test("GitHub's labels: one page", .enabled(if: Captured.folder != nil))
    func gitHubLabels() async throws {
        let folder = try TemporaryFolder(), base = "https://api.github.com"
        try recordings(folder, try session("github-labels.json"))
        let repository = base + "/repos/octokit-fixture-org/tmp-scenario-labels-20220719043808548-dbtiq"
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path, base: base), [repository + "/labels"])
        mirror.expectClean()
        #expect(try mirror.count("Label") == 9)
        #expect(mirror.proposal.entities == ["Label"])
    }

    @Test("GitHub's events: kinds by type, with their own fields and references", .enabled(if: Captured.folder != nil))
    func gitHubEvents() async throws {
        let folder = try TemporaryFolder(), base = "https://api.github.com"
        try recordings(folder, [("/events", [], try Captured.json("github-events.json").text)])
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path, base: base), [base + "/events"])
        mirror.expectClean()
        let counts = [
            "Event": 30, "CreateEvent": 3, "ForkEvent": 3, "GollumEvent": 2, "IssueCommentEvent": 2, "IssuesEvent": 1,
            "PushEvent": 13, "WatchEvent": 6, "Issue": 3, "Comment": 2, "Forkee": 3, "Page": 2,
        ]
        for (entity, count) in counts { #expect(try mirror.count(entity) == count, "\(entity)") }
        #expect(try mirror.related("Event", "actor") == (30, 0))
        #expect(try mirror.related("Event", "repo") == (30, 0))
        #expect(try mirror.related("PushEvent", "commits").stored == 16)
        #expect(try mirror.related("IssueCommentEvent", "comment") == (2, 0))
    }

    @Test(
        "Twitter's search: statuses refer to statuses, users are mentioned, ids repeat as text",
        .enabled(if: Captured.folder != nil))
    func twitter() async throws {
        let folder = try TemporaryFolder(), base = "https://api.twitter.com/1.1"
        try recordings(
            folder,
            [
                ("/1.1/search/tweets.json?q=%E4%B8%80&count=100", [], try Captured.json("twitter-search.json").text),
                ("/1.1/search/tweets.json?max_id={id}{&more*}", [], #"{"statuses":[],"search_metadata":{}}"#),
            ])
        let mirror = try await ProposedMirror(
            try FixtureTransport(directory: folder.path, base: "https://api.twitter.com"),
            [base + "/search/tweets.json?q=%E4%B8%80&count=100"])
        mirror.expectClean()
        #expect(mirror.description.api.base == base)
        #expect(try mirror.count("Status") == 115)
        #expect(try mirror.count("User") == 127)
        let statuses = try Captured.json("twitter-search.json")["statuses"]?.elements ?? []
        let retweets = statuses.count { $0["retweeted_status"] != nil }
        #expect(try mirror.related("Status", "retweetedStatus") == (retweets, 0))
        #expect(try mirror.related("Status", "user") == (115, 0))
        #expect(mirror.proposal.text.contains("format: EEE MMM dd HH:mm:ss Z yyyy"))
    }

    /// The GET responses of a recorded session, with their Link fields.
    private func session(_ name: String) throws -> [(target: String, fields: [String], body: String)] {
        try Captured.json(name).elements.filter { $0["method"] == .string("get") }.map { exchange in
            let raw = exchange["rawHeaders"]?.elements.compactMap(\.scalarText) ?? []
            let fields = stride(from: 0, to: raw.count - 1, by: 2).filter { raw[$0].lowercased() == "link" }
                .map { "\(raw[$0]): \(raw[$0 + 1])" }
            return (try #require(exchange["path"]?.scalarText), fields, try #require(exchange["response"]).text)
        }
    }
}
