// Every rule of the description file, broken once: message and position.

import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Description file: problems")
struct DescriptionProblemsTests {
    @Test("the sound description is sound")
    func soundDescriptionIsSound() {
        #expect(problems(soundDescription) == [])
    }

    @Test(
        "an unknown key is an error at every level, with the key that was meant",
        arguments: [
            .init("store: forge", "stor: forge", "1:1: stor: unknown key \"stor\": did you mean \"store\"?"),
            .init("  aliases:", "  alias:", "4:3: api.alias: unknown key \"alias\": did you mean \"aliases\"?"),
            .init(
                "bearer: { env: FORGE_TOKEN }", "bearer: { envi: X }", "6:11: api.auth.bearer.env: missing",
                "6:21: api.auth.bearer.envi: unknown key \"envi\": did you mean \"env\"?"),
            .init(
                "ignore: [node", "ignored: [node",
                "32:5: entities.Issue.ignored: unknown key \"ignored\": did you mean \"ignore\"?"),
            .init(
                "{ type: date?, epoch", "{ type: date?, epok",
                "25:30: entities.Issue.attributes.seenAt.epok: unknown key \"epok\": did you mean \"epoch\"?"),
            .init(
                "inverse: issues }\n      labels", "invers: issues }\n      labels",
                "29:39: entities.Issue.relationships.author.invers: unknown key \"invers\": did you mean \"inverse\"?"),
            .init(
                "records: $", "record: $",
                "37:5: endpoints.issues.record: unknown key \"record\": did you mean \"records\"?"),
            .init(
                "parent: milestone }", "parents: milestone }",
                "43:36: endpoints.ofMilestone.for_each.parents: unknown key \"parents\": did you mean \"parent\"?"),
            .init(
                "start: 1", "begin: 1",
                "44:45: endpoints.ofMilestone.paginate.page_number.begin: unknown key \"begin\": expected one of param, body, start, per_page"
            ),
        ] as [BrokenDescription])
    func unknownKeys(row: BrokenDescription) { row.check() }

    @Test(
        "what is required and missing is an error at the section that lacks it",
        arguments: [
            .init("  base: https://api.example.org\n", "", "2:1: api.base: missing: write base: https://"),
            .init(
                "entities:\n  User:", "x: 1\ny:\n  User:", "1:1: entities: missing", "8:1: x: unknown key",
                "9:1: y: unknown key"),
            .init("Label: { key: id, ", "Label: { ", "15:3: entities.Label.key: missing: write key: id"),
            .init(
                "Label: { key: id, attributes: { id: int, name: string } }", "Label: { key: id }",
                "15:3: entities.Label.attributes: missing"),
            .init(
                "{ type: int?, from", "{ from",
                "26:7: entities.Issue.attributes.thumbsUp.type: missing: write type: string"),
            .init(
                "{ to: User, from", "{ from", "29:7: entities.Issue.relationships.author.to: missing: write to: User"),
            .init(
                "    path: /repos/{owner}/{repo}/issues\n", "",
                "34:3: endpoints.issues.path: missing: write path: /issues"),
            .init(
                "    entity: Issue\n    paginate: header", "    paginate: header",
                "34:3: endpoints.issues.entity: missing"),
            .init("{ entity: Milestone, parent", "{ parent", "43:5: endpoints.ofMilestone.for_each.entity: missing"),
            .init("param: page, ", "", "44:17: endpoints.ofMilestone.paginate.page_number.param: missing"),
            .init(
                "auth: { bearer: { env: FORGE_TOKEN } }", "auth: {}",
                "6:3: api.auth: expected one of bearer, basic, api_key, oauth2, session, jwt: write auth: { bearer: { env: NAME_OF_THE_VARIABLE } }"
            ),
        ] as [BrokenDescription])
    func missingKeys(row: BrokenDescription) { row.check() }

    @Test(
        "a value of the wrong kind is an error that says what was expected and what was found",
        arguments: [
            .init("store: forge.tarn", "store: [a]", "1:8: store: expected a single value, found a list"),
            .init("store: forge.tarn", "store: ", "1:7: store: missing value"),
            .init("store: forge.tarn", "store: ''", "1:8: store: must not be empty"),
            .init("store: forge.tarn", "store: ~/x.tarn", "1:8: store: ~ is not expanded"),
            .init(
                "headers: { Accept: application/json }", "headers: [a]",
                "5:12: api.headers: expected a mapping from field names to values, found a list"),
            .init(
                "naming: { id: identifier }", "naming: id",
                "7:11: api.naming: unknown naming style \"id\": expected one of snake_case, camelCase"),
            .init(
                "Label: { key: id, attributes: { id: int, name: string } }", "Label: [id]",
                "15:10: entities.Label: expected a mapping (parent, key, attributes, relationships, indexes, compression, was, open, api, like, each, write, ignore, rest, version, deleted, naming, kinds, otherwise, url, coercion, dates, nulls, absent, to_many, duplicates, keyless, local), found a list"
            ),
            .init(
                "Label: { key: id, attributes: { id: int, name: string } }", "Label:",
                "15:9: entities.Label: expected a mapping (parent, key, attributes, relationships, indexes, compression, was, open, api, like, each, write, ignore, rest, version, deleted, naming, kinds, otherwise, url, coercion, dates, nulls, absent, to_many, duplicates, keyless, local), found nothing"
            ),
            .init(
                "attributes: { id: int, number: int, title: string }", "attributes: [id]",
                "18:17: entities.Milestone.attributes: expected a mapping from names to types, found a list"),
            .init(
                "index: true }", "index: yes }",
                "24:72: entities.Issue.attributes.createdAt.index: expected true or false, found \"yes\""),
            .init(
                "index: true }", "index: 'true' }",
                "24:72: entities.Issue.attributes.createdAt.index: expected true or false"),
            .init(
                "ordered: true", "ordered: 1",
                "30:39: entities.Issue.relationships.labels.ordered: expected true or false, found \"1\""),
            .init(
                "[created_at, inserted_at]", "{ a: b }",
                "24:38: entities.Issue.attributes.createdAt.from: expected a single value, found a mapping"),
            .init(
                "[node_id, '*_url', 'reactions.*']", "[[a]]",
                "32:14: entities.Issue.ignore: expected a single value, found a list"),
            .init(
                "with: { owner: acme, repo: anvil, per_page: 100, state: all }",
                "with: { owner: acme, repo: anvil, per_page: [[1]] }",
                "36:50: endpoints.issues.with.per_page: expected a single value, found a list"),
            .init(
                "state: all }", "state: { a: b } }",
                "36:61: endpoints.issues.with.state: expected a single value, found a mapping"),
            .init("state: all }", "'': all }", "36:54: endpoints.issues.with.: a parameter needs a name"),
            .init("state: all }", "state: }", "36:61: endpoints.issues.with.state: missing value"),
            .init(
                "with: { owner: acme, repo: anvil, per_page: 100, state: all }", "with: all",
                "36:11: endpoints.issues.with: expected a mapping from names to values, found \"all\""),
            .init(
                "start: 1", "start: one",
                "44:52: endpoints.ofMilestone.paginate.page_number.start: expected a whole number of at least 0, found \"one\""
            ),
            .init(
                "start: 1", "start: -1",
                "44:52: endpoints.ofMilestone.paginate.page_number.start: expected a whole number of at least 0, found \"-1\""
            ),
            .init(
                "{ size: 10 }", "{ size: 0 }",
                "44:73: endpoints.ofMilestone.paginate.page_number.per_page.size: expected a whole number of at least 1"
            ),
            .init(
                "{ size: 10 }", "10",
                "44:65: endpoints.ofMilestone.paginate.page_number.per_page: expected one parameter and its value"),
        ] as [BrokenDescription])
    func wrongKinds(row: BrokenDescription) { row.check() }

    @Test(
        "a base URL or alias that is not an absolute http or https URL without user, query and fragment is an error",
        arguments: [
            ("api.example.org", "not an http or https URL"), ("ftp://a.example", "not an http or https URL"),
            ("/x", "not an http or https URL"),
            ("https://", "missing host"), ("https:///x", "missing host"),
            ("http://:80", "missing host"),
            ("https://ada:secret@a.example", "cannot have a user or password"),
            ("https://a.example?x=1", "cannot have a query"),
            ("https://a.example/x?", "cannot have a query"),
            ("'https://a.example/#x'", "cannot have a fragment"), ("https://a b", "must be ASCII without spaces"),
            ("https://é.example", "must be ASCII"),
            ("https://a.example:http", "the port is not a number"), ("https://a.example:0", "the port is not a number"),
            ("https://a.example:70000", "the port"),
            ("https://a.example:+1", "the port"), ("'http://[::1'", "invalid host"),
            ("'http://[::1]x'", "invalid host"), ("http://a_b!", "invalid host"),
        ])
    func baseURLs(url: String, message: String) throws {
        for (old, place) in [
            ("https://api.example.org", "3:9: api.base"), ("https://www.example.org/api/", "4:13: api.aliases"),
        ] {
            let quoted = url.hasPrefix("'") || old.contains("www") == false ? url : "'\(url)'"
            let lines = problems(soundDescription.replacing(old, with: quoted))
            #expect(
                lines.count == 1 && lines[0].hasPrefix("forge.yaml:\(place): ") && lines[0].contains(message),
                "\(lines)")
            #expect(!lines.contains { $0.contains("secret") })
        }
    }

    @Test(
        "header fields, authentication and naming have their rules",
        arguments: [
            .init(
                "{ Accept: application/json }", "{ 'Ac cept': a }",
                "5:14: api.headers.Ac cept: invalid name of a header field"),
            .init(
                "{ Accept: application/json }", "{ Accept: \"a\\r\\nX: b\" }",
                "5:22: api.headers.Accept: the value of a header field cannot contain line breaks"),
            .init(
                "{ Accept: application/json }", "{ Accept: a, accept: b }",
                "5:25: api.headers.accept: duplicate header field"),
            .init(
                "{ Accept: application/json }", "{ Content-Length: 5 }",
                "5:14: api.headers.Content-Length: the transport sets this header field from the body: remove the line"
            ),
            .init(
                "{ Accept: application/json }", "{ Accept: a, transfer-encoding: chunked }",
                "5:25: api.headers.transfer-encoding: the transport sets this header field"),
            .init(
                "{ Accept: application/json }", "{ Connection: close, TE: trailers }",
                "5:14: api.headers.Connection: this header field belongs to the connection",
                "5:33: api.headers.TE: this header field belongs to the"),
            .init(
                "{ Accept: application/json }", "{ Upgrade: h2c }",
                "5:14: api.headers.Upgrade: this header field belongs to the connection"),
            .init(
                "{ Accept: application/json }", "{ Host: other.example }",
                "5:14: api.headers.Host: the host of a request comes from its URL"),
            .init(
                "{ Accept: application/json }", "{ Authorization: Bearer x }",
                "5:14: api.headers.Authorization: auth already sets this header field"),
            .init(
                "auth: { bearer: { env: FORGE_TOKEN } }", "auth: ghp_0123",
                "6:9: api.auth: expected a mapping: write auth:"),
            .init(
                "bearer: { env: FORGE_TOKEN }", "bearer: ghp_0123",
                "6:19: api.auth.bearer: a secret must not be in this file"),
            .init(
                "env: FORGE_TOKEN", "env: ghp-0123",
                "6:26: api.auth.bearer.env: invalid name of an environment variable"),
            .init("env: FORGE_TOKEN", "env: 1A", "6:26: api.auth.bearer.env: invalid name of an environment variable"),
            .init("{ id: identifier }", "{ Id: identifier }", "7:13: api.naming.Id: \"Id\" is not a single word"),
            .init("{ id: identifier }", "{ id: myId }", "7:17: api.naming.id: \"myId\" is not a single word"),
            .init("{ id: identifier }", "{ id: key, uid: key }", "7:27: api.naming.uid: id already becomes \"key\""),
        ] as [BrokenDescription])
    func headersAndNaming(row: BrokenDescription) {
        row.check()
        #expect(!problems(soundDescription.replacing(row.old, with: row.new)).contains { $0.contains("0123") })
    }

    @Test("the position in a list of changes is an error, also that of a kind: the whole list has other ones")
    func positionsOfChanges() {
        func text(_ since: String) -> String {
            """
            api: { base: https://api.example.org }
            entities:
              Entry: { key: position, attributes: { position: { type: int, from: '@position' }, at: int } }
              Line: { parent: Entry, attributes: { text: string? } }
            endpoints:
              entries: { path: /entries, entity: Entry\(since) }
              lines: { path: /lines, entity: Line\(since) }
            """
        }
        #expect(problems(text("")) == [])
        let found = problems(text(", since: { param: since, field: at }"))
        #expect(found.count == 2, "\(found)")
        for (name, problem) in zip(["entries", "lines"], found) {
            #expect(problem.contains("endpoints.\(name).since: a list of changes has other positions"), "\(problem)")
            #expect(problem.contains("Entry.position takes @position"), "\(problem)")
        }
    }

    @Test(
        "a rule for changes and partitions that contradict themselves, the parameters or the pagination are errors",
        arguments: [
            .init(
                "    records: $", "    since: { param: since }\n    records: $",
                "37:5: endpoints.issues.since: missing value: write field: updated_at"),
            .init(
                "    records: $", "    since: { field: updated_at }\n    records: $",
                "37:5: endpoints.issues.since: missing parameter: write param: since"),
            .init(
                "    records: $", "    since: { param: since, field: x, cursor: y }\n    records: $",
                "37:46: endpoints.issues.since.cursor: there is one value: write field or cursor"),
            .init(
                "    records: $", "    since: { param: t, cursor: y, lag: 1h }\n    records: $",
                "37:40: endpoints.issues.since.lag: only for the value of a field"),
            .init(
                "    records: $", "    since: { param: t, link: y }\n    records: $",
                "37:21: endpoints.issues.since.param: the link is the whole request"),
            .init(
                "    records: $", "    since: { link: '@odata.deltaLink' }\n    records: $",
                "37:20: endpoints.issues.since.link: `@odata.deltaLink` would be found in an object `@odata`: write '@odata\\.deltaLink'"
            ),
            .init(
                "    records: $", "    since: { param: since, field: x, lag: soon }\n    records: $",
                "37:43: endpoints.issues.since.lag: expected a number, or a duration such as 90s"),
            .init(
                "    records: $", "    since: { body: filter.since, field: x }\n    records: $",
                "37:20: endpoints.issues.since.body: a GET has no body"),
            .init(
                "    records: $", "    since: { param: since, field: x, range: half }\n    records: $",
                "37:45: endpoints.issues.since.range: unknown range \"half\""),
            .init(
                "    records: $", "    partitions: { a: [] }\n    records: $",
                "37:22: endpoints.issues.partitions.a: missing values"),
            .init(
                "    records: $", "    partitions: { a: [x, x] }\n    records: $",
                "37:22: endpoints.issues.partitions.a: a value occurs twice"),
            .init(
                "    records: $", "    partitions: { a: [..] }\n    records: $",
                "37:22: endpoints.issues.partitions.a: a value cannot be empty"
            ),
            .init(
                "    records: $",
                "    partitions: { since: [a, b] }\n    since: { param: since, field: x }\n    records: $",
                "37:19: endpoints.issues.partitions.since: since sends this parameter: choose another name"),
            .init(
                "    records: $",
                "    partitions: { from: [a, b] }\n    restart: { param: from, field: x, pages: 9 }\n    records: $",
                "37:19: endpoints.issues.partitions.from: restart sends this parameter: choose another name"),
            .init(
                "auth: { bearer: { env: FORGE_TOKEN } }", "auth: { api_key: { key: { env: KEY }, query: state } }",
                "36:61: endpoints.issues.with.state: auth already sets this parameter: remove one of the two"),
        ] as [BrokenDescription])
    func changesAndPartitions(row: BrokenDescription) { row.check() }

    @Test("no more than 20 problems are shown, and the rest is counted")
    func problemsAreLimited() throws {
        let attributes = (1...30).map { "      a\($0): strng\n" }.joined()
        let text = soundDescription.replacing("      login: string\n", with: attributes)
        let error = try #require(throws: DescriptionError.self) { try Description.parse(text, file: "f.yaml") }
        #expect(error.problems.count == 30 && error.description.split(separator: "\n").count == 21)
        #expect(error.problems[0].line == 13 && error.problems[0].column == 11)
        #expect(error.problems[0].field == "entities.User.attributes.a1.type")
        #expect(error.description.hasSuffix("\n… and 10 more"))
    }

    @Test("problems of different sections are reported together, in the order of their lines")
    func problemsAreReportedTogether() {
        let text = soundDescription.replacing("header_link", with: "heder_link").replacing(
            "login: string", with: "login: strng"
        )
        .replacing("https://api.", with: "api.").replacing("to: [Label]", with: "to: [Lable]")
        #expect(
            problems(text).map { $0.prefix { $0 != " " } }
                == ["forge.yaml:3:9:", "forge.yaml:13:14:", "forge.yaml:30:21:", "forge.yaml:39:15:"])
    }

    @Test("thousands of endpoints, and of problems, are read in linear time")
    func many() {
        let head = """
            api: { base: "https://api.example.org" }
            entities:
              T: { key: id, attributes: { id: int } }
            endpoints:

            """
        func endpoints(_ entity: (Int) -> String) -> String {
            (0..<12_000).map { "  e\($0): { path: /x, entity: \(entity($0)) }\n" }.joined()
        }
        let clock = ContinuousClock()
        let sound = clock.measure { #expect(problems(head + endpoints { _ in "T" }).isEmpty) }
        let broken = clock.measure { #expect(problems(head + endpoints { "Q\($0)" }).count == 21) }
        // It was more than fifteen seconds for each.
        let limit = Duration.seconds(isSanitized ? 60 : 8)
        #expect(sound < limit && broken < limit, "\(sound) \(broken)")
    }
}
