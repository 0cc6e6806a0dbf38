// Several APIs in one description: one store, and a client for each, which shares no credentials.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: several APIs")
struct SeveralAPIsTests {
    private static func yaml(_ forge: String, _ people: String, _ more: String = "") -> String {
        """
        apis:
          forge:
            base: \(forge)/v1
            headers: { X-Forge: 'yes' }
            auth: { bearer: { env: FORGE_TOKEN } }
            parameters: { per_page: 50 }
          people:
            base: \(people)/api
            headers: { X-People: 'yes' }
            auth: { api_key: { key: { env: PEOPLE_KEY }, header: X-Api-Key } }
            pace: { concurrent: 1 }
            naming: camelCase
            dates: seconds
        entities:
          Issue:
            key: id
            attributes: { id: int, title: string, updatedAt: date, authorId: int? }
            relationships: { author: { to: Person, from: author_url } }
          Person:
            api: people
            url: /people/{id}
            key: id
            attributes: { id: int, fullName: string?, hiredAt: date? }
        endpoints:
          issues: { path: /issues, entity: Issue, paginate: single_page }
          authors:
            api: people
            path: '/people/{issue.authorId}'
            for_each: Issue
            entity: Person
            paginate: single_page
        \(more)
        """
    }

    private static let environment = ["FORGE_TOKEN": "f0rge", "PEOPLE_KEY": "pe0ple"]

    private static func forge(_ people: String) throws -> ScriptedServer {
        try ScriptedServer { request in
            .tagged(
                "i", request,
                """
                [{"id":1,"title":"a","updated_at":"2025-01-31T09:00:00Z","author_id":7,"author_url":"\(people)/api/people/7"},
                 {"id":2,"title":"b","updated_at":"2025-02-01T09:00:00Z","author_id":8,"author_url":"\(people)/api/people/8"}]
                """)
        }
    }

    private static func people() throws -> ScriptedServer {
        try ScriptedServer { request in
            let id = request.target.split(separator: "/").last.map(String.init) ?? ""
            return .tagged(id, request, #"{"id":\#(id),"fullName":"P\#(id)","hiredAt":1700000000}"#)
        }
    }

    @Test("each request goes to its API with the credentials, header fields and parameters of that API only")
    func separate() async throws {
        let people = try Self.people(), forge = try Self.forge(people.base)
        let store = try MirrorStore(yaml: Self.yaml(forge.base, people.base))
        let report = try await store.sync(nil, environment: Self.environment)
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(forge.targets == ["/v1/issues?per_page=50"])
        #expect(Set(people.targets) == ["/api/people/7", "/api/people/8"] && people.requests.count == 2)
        for request in forge.requests {
            #expect(request.field("Authorization") == "Bearer f0rge" && request.field("X-Forge") == "yes")
            #expect(request.field("X-Api-Key") == nil && request.field("X-People") == nil)
            #expect(!request.head.contains("pe0ple"))
        }
        for request in people.requests {
            #expect(request.field("X-Api-Key") == "pe0ple" && request.field("X-People") == "yes")
            #expect(request.field("Authorization") == nil && request.field("X-Forge") == nil)
            #expect(!request.head.contains("f0rge"))
        }
        #expect(report.endpoints.map(\.api) == ["forge", "people"])

        // A second sync: only 304s, each API with its own scope.
        let again = try await store.sync(nil, environment: Self.environment)
        #expect(again.endpoints.map(\.notModified) == [1, 2])
    }

    @Test("entities are shared: a URL of one API names a record of the other, and each API has its names and dates")
    func shared() async throws {
        let people = try Self.people(), forge = try Self.forge(people.base)
        let store = try MirrorStore(yaml: Self.yaml(forge.base, people.base))
        try await store.sync(nil, environment: Self.environment)
        #expect(try store.keys("Issue", 2, "author") == [8])
        let person = try store.record("Person", 8), issue = try store.record("Issue", 2)
        #expect(person["fullName"] == .string("P8"))
        #expect(person["hiredAt"] == .date(Timestamp(clampingSeconds: 1_700_000_000)))
        #expect(issue["updatedAt"] == .date(Timestamp(clampingSeconds: 1_738_400_400)))
    }

    @Test("a failure for all endpoints of an API does not stop those of another one")
    func failure() async throws {
        let people = try Self.people()
        let forge = try ScriptedServer { _ in .init(status: "401 Unauthorized", body: "{}") }
        let more = """
              labels: { path: /labels, entity: Issue, paginate: single_page }
              staff: { api: people, path: /people/9, entity: Person, paginate: single_page }
            """
        let store = try MirrorStore(yaml: Self.yaml(forge.base, people.base, more))
        let report = try await store.sync(nil, environment: Self.environment) { $0.mirror.concurrency = 1 }
        #expect(report.endpoint("issues")?.failures.isEmpty == false)
        #expect(report.endpoint("labels") == nil, "it would fail for the same reason")
        #expect(report.endpoint("staff")?.failures.isEmpty == true)
        #expect(forge.requests.count == 1 && people.targets == ["/api/people/9"])
        #expect(try store.count("Person") == 1)
    }

    @Test("a link of one API to the server of the other is not followed: its credentials stay where they belong")
    func links() async throws {
        let people = try Self.people()
        let forge = try ScriptedServer { _ in
            .init(
                fields: ["Link: <\(people.base)/api/people/1>; rel=\"next\""],
                body: #"[{"id":1,"title":"a","updated_at":"2025-01-31T09:00:00Z"}]"#)
        }
        let store = try MirrorStore(
            yaml: Self.yaml(forge.base, people.base).replacing(
                "/issues, entity: Issue, paginate: single_page",
                with: "/issues, entity: Issue, paginate: header_link"))
        let report = try await store.sync(nil, names: ["issues"], environment: Self.environment)
        #expect(report.failures.description.contains("another server"), "\(report.failures)")
        #expect(people.requests.isEmpty)
    }

    @Test("the state of a file with one API stays valid when the API gets a name and another one beside it")
    func migration() async throws {
        let people = try Self.people(), forge = try Self.forge(people.base)
        let single = """
            api: { base: '\(forge.base)/v1', auth: { bearer: { env: FORGE_TOKEN } }, parameters: { per_page: 50 } }
            entities:
              Issue: { key: id, attributes: { id: int, title: string } }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: single_page }
            """
        var store = try MirrorStore(yaml: single)
        try await store.sync(nil, environment: Self.environment)
        let path = store.path
        store.description = try Description.parse(
            """
            apis:
              forge: { base: '\(forge.base)/v1', auth: { bearer: { env: FORGE_TOKEN } }, parameters: { per_page: 50 } }
              people: { base: '\(people.base)/api', auth: { api_key: { key: { env: PEOPLE_KEY }, header: X-Api-Key } } }
            entities:
              Issue: { key: id, attributes: { id: int, title: string } }
            endpoints:
              issues: { path: /issues, entity: Issue, paginate: single_page }
            """, file: "tarn.yaml")
        store.description.storePath = path
        let report = try await store.sync(nil, environment: Self.environment)
        #expect(report.notModified == 1 && report.endpoints.map(\.api) == ["forge"])
    }

    @Test("the limits of the servers of all APIs are kept: a client does not overwrite those of another")
    func limits() async throws {
        func server(_ limit: String) throws -> ScriptedServer {
            try ScriptedServer { _ in
                .init(
                    fields: [
                        "X-RateLimit-Limit: 100", "X-RateLimit-Remaining: \(limit)", "X-RateLimit-Reset: 4102444800",
                    ],
                    body: #"[{"id":1}]"#)
            }
        }
        let one = try server("0"), two = try server("0")
        let store = try MirrorStore(
            yaml: """
                apis: { one: { base: '\(one.base)' }, two: { base: '\(two.base)' } }
                entities: { Item: { key: id, attributes: { id: int } } }
                endpoints:
                  a: { path: /a, entity: Item, paginate: single_page }
                  b: { api: two, path: /b, entity: Item, paginate: single_page }
                """)
        try await store.sync(nil)
        let text = try #require(try store.read { try $0.access.settings.requestBudgets })
        #expect(text.contains("\(one.port)") && text.contains("\(two.port)"), "\(text)")
        let again = try await store.sync(nil)
        #expect(again.failures.count == 2 && one.requests.count == 1 && two.requests.count == 1)
    }

    @Test(
        "what is wrong with several APIs is reported at its place",
        arguments: [
            ("api: { base: 'https://c.example' }\n", "", "api: api and apis exclude each other"),
            (
                "", "  x: { api: poeple, path: /x, entity: Person }",
                "endpoints.x.api: unknown API \"poeple\": did you mean \"people\"?"
            ),
            ("", "  x: { path: '/{per_pag}', entity: Person }", "no value for {per_pag}: did you mean {per_page}?"),
            ("", "  x: { api: people, path: '/{per_page}', entity: Person }", "no value for {per_page}"),
        ])
    func problems(before: String, after: String, expected: String) throws {
        let text = before + Self.yaml("https://a.example", "https://b.example", after)
        let error = #expect(throws: DescriptionError.self) { try Description.parse(text, file: "tarn.yaml") }
        #expect("\(try #require(error))".contains(expected), "\(String(describing: error))")
        #expect(error?.problems.allSatisfy { $0.line != nil } == true)
    }

    @Test("an empty list of APIs, a cache of a later one, and api in a file with a single API are reported")
    func otherProblems() throws {
        func message(_ text: String) -> String {
            do {
                _ = try Description.parse(text, file: "tarn.yaml")
                return ""
            } catch { return "\(error)" }
        }
        let rest = "entities: { Item: { key: id, attributes: { id: int } } }\n"
        #expect(message("apis: {}\n" + rest).contains("apis: no APIs"))
        let two = "apis: { a: { base: 'https://a.example' }, b: { base: 'https://b.example', cache: { bytes: 9 } } }\n"
        #expect(
            message(two + rest).contains("apis.b.cache: all APIs share one cache: write it in the first one, apis.a"))
        let single = "api: { base: 'https://a.example' }\n" + rest
        #expect(message(single + "endpoints: { i: { api: a, path: /i, entity: Item } }").contains("a single API"))
        #expect(message(rest).contains("api: missing"))
        #expect(message("apis: { 'a b': { base: 'https://a.example' } }\n" + rest).contains("invalid API name"))
        let inner =
            "apis: { a: { base: 'https://a.example', auth: { bearer: { env: 7, x: 1 } }, pace: { burst: 2 } } }\n"
        #expect(message(inner + rest).contains("apis.a.pace.burst"), "\(message(inner + rest))")
    }

    @Test("children, templates and included endpoints take the API that their parent or template names")
    func inheritance() throws {
        let description = try Description.parse(
            """
            apis: { a: { base: 'https://a.example' }, b: { base: 'https://b.example' } }
            templates:
              OfB: { api: b, paginate: single_page }
            entities:
              Item: { key: id, attributes: { id: int, url: url? } }
            endpoints:
              first: { path: /1, entity: Item }
              second: { like: OfB, path: /2, entity: Item }
              third:
                api: b
                path: /3
                entity: Item
                children:
                  detail: { url: '{item.url}' }
                  other: { api: a, path: '/4/{item.id}' }
            """, file: "tarn.yaml")
        let names = description.endpoints.map { description.apiName(of: $0) }
        #expect(description.endpoints.map(\.name) == ["first", "second", "third", "detail", "other"])
        #expect(names == ["a", "b", "b", "b", "a"])
    }

    @Test("a base URL is replaced by the name of its API")
    func replacements() throws {
        let several = try Description.parse(Self.yaml("https://a.example", "https://b.example"), file: "tarn.yaml")
        var options = APIClient.Options()
        try BaseReplacements(["people=http://127.0.0.1:1/x?a=b"], of: several).apply(to: &options)
        #expect(options.bases == ["people": "http://127.0.0.1:1/x?a=b"] && options.base == nil)
        for (texts, expected) in [
            (["http://127.0.0.1:1"], "write forge=URL"), (["poeple=http://a"], "did you mean \"people\"?"),
            (["people=ftp://a"], "people=ftp://a: expected an absolute URL with http:// or https://"),
            (["people=http://u:p@a"], "with user or password: a URL must not contain a user or password"),
            (["people=http://a", "people=http://b"], "replaced twice"),
        ] {
            let error = #expect(throws: BaseReplacements.Problem.self) { try BaseReplacements(texts, of: several) }
            #expect(error?.description.contains(expected) == true, "\(String(describing: error))")
        }
        let error = #expect(throws: BaseReplacements.Problem.self) {
            try BaseReplacements(["http://a.example/?access_token=s3cret"], of: several)
        }
        #expect(error?.description.contains("s3cret") == false, "\(String(describing: error))")
    }

    @Test("a cache answers requests to each API, and finds the endpoint of a URL at its own API")
    func cache() async throws {
        let people = try Self.people(), forge = try Self.forge(people.base)
        let more =
            "  person: { api: people, path: '/staff/{id}', entity: Person, with: { id: '7' }, paginate: single_page }"
        let store = try MirrorStore(yaml: Self.yaml(forge.base, people.base, more))
        let cache = try RecordCache(
            store.description, store: try store.open(), transport: MirrorStore.impatient(),
            environment: Self.environment)
        let request = try #require(cache.request(for: "\(people.base)/api/staff/8"))
        #expect(request.endpoint == "person")
        #expect(try await cache.fetch(request).records.count == 1)
        #expect(people.requests.first?.field("X-Api-Key") == "pe0ple" && forge.requests.isEmpty)
        #expect(cache.request(for: "\(forge.base)/v1/issues")?.endpoint == "issues")
        #expect(cache.request(for: "\(forge.base)/api/staff/8") == nil)
    }

    @Test("local changes go to the API of their record, with the credentials of that API only")
    func writes() async throws {
        let people = try ScriptedServer { request in
            .tagged("7", request, #"{"id":7,"fullName":"P7"}"#)
        }
        let forge = try Self.forge(people.base), folder = try TemporaryFolder()
        var yaml = Self.yaml(forge.base, people.base)
        yaml = yaml.replacingOccurrences(
            of: "    url: /people/{id}\n",
            with: "    url: /people/{id}\n    write: { update: 'PATCH /people/{id}' }\n")
        yaml = yaml.replacingOccurrences(
            of: "  Issue:\n    key: id\n", with: "  Issue:\n    key: id\n    write: { update: 'PATCH /issues/{id}' }\n")
        let description = try Description.parse(yaml, file: folder.path + "/tarn.yaml")
        let store = try Store.open(at: folder.path + "/apis.tarn", schema: description.schema)
        let client = try APIClient(
            description, store: store, transport: CurlTransport(), environment: Self.environment)
        try await store.write { writer in
            try writer.put("Issue", RecordKey(1), [.init("title", .string("a"))])
            try writer.put("Person", RecordKey(7), [.init("fullName", .string("P"))])
        }
        let outbox = client.outbox()
        try await outbox.update("Issue", RecordKey(1), [.init("title", .string("b"))])
        try await outbox.update("Person", RecordKey(7), [.init("fullName", .string("P7"))])
        let report = try await outbox.drain()
        #expect(report.sent == 2, "\(report)")
        #expect(forge.requests.map(\.method) == ["PATCH"])
        #expect(forge.targets.map { $0.hasPrefix("/v1/issues/1") } == [true])
        #expect(people.requests.map(\.method) == ["PATCH"] && people.targets == ["/api/people/7"])
        for request in forge.requests {
            #expect(request.field("Authorization") == "Bearer f0rge" && request.field("X-Api-Key") == nil)
        }
        for request in people.requests {
            #expect(request.field("X-Api-Key") == "pe0ple" && request.field("Authorization") == nil)
        }
    }

    @Test("APIs with the same credentials share the newest token, if the server accepts no other")
    func sharedToken() async throws {
        let tokens = Mutex(0)
        let transport = ClosureTransport { request in
            tokens.withLock { tokens in
                if request.url.hasSuffix("/token") {
                    tokens += 1
                    let body = #"{"access_token":"t\#(tokens)","token_type":"bearer","expires_in":3600}"#
                    return TransportResponse(status: 200, body: Array(body.utf8))
                }
                let isValid = request.headers["Authorization"] == "Bearer t\(tokens)"
                return TransportResponse(status: isValid ? 200 : 401, body: Array(#"[{"id":1}]"#.utf8))
            }
        }
        let auth =
            "auth: { oauth2: { token_url: 'https://auth.example/token', client_id: tarn, client_secret: { env: S } } }"
        let store = try MirrorStore(
            yaml: """
                apis:
                  one: { base: 'https://one.example', \(auth) }
                  two: { base: 'https://two.example', \(auth) }
                entities:
                  Item: { key: id, attributes: { id: int } }
                  Detail: { key: id, attributes: { id: int } }
                endpoints:
                  items: { path: /items, entity: Item, paginate: single_page }
                  details:
                    api: two
                    path: '/items/{item.id}/details'
                    for_each: Item
                    entity: Detail
                    paginate: single_page
                """)
        let mirror = try APIMirror(
            store.description, store: try store.open(), transport: transport, environment: ["S": "s3cret"])
        for _ in 0..<3 {
            let report = await mirror.sync()
            #expect(report.failures.isEmpty, "\(report.texts)")
        }
        #expect(try store.count("Detail") == 1)
        // One of each API: after that, a refused one takes the token of the other.
        #expect(tokens.withLock(\.self) <= 2)
    }

    @Test("a slow API with many local changes keeps none of the other API waiting")
    func slowWrites() async throws {
        let asked = Mutex(false), missed = Mutex(0)
        let people = try ScriptedServer { request in
            asked.withLock { $0 = true }
            return .tagged("7", request, #"{"id":7,"fullName":"P7"}"#)
        }
        let forge = try ScriptedServer { _ in
            for _ in 0..<500 where !asked.withLock(\.self) { Thread.sleep(forTimeInterval: 0.01) }
            if !asked.withLock(\.self) { missed.withLock { $0 += 1 } }
            return .init(status: "204 No Content")
        }
        let folder = try TemporaryFolder()
        let yaml = Self.yaml(forge.base, people.base).replacing(
            "per_page: 50 }", with: "per_page: 50 }\n    pace: { concurrent: 2 }"
        )
        .replacing(
            "    url: /people/{id}\n", with: "    url: /people/{id}\n    write: { update: 'PATCH /people/{id}' }\n"
        )
        .replacing(
            "  Issue:\n    key: id\n", with: "  Issue:\n    key: id\n    write: { update: 'PATCH /issues/{id}' }\n")
        let description = try Description.parse(yaml, file: folder.path + "/tarn.yaml")
        let store = try Store.open(at: folder.path + "/apis.tarn", schema: description.schema)
        let client = try APIClient(
            description, store: store, transport: CurlTransport(), environment: Self.environment)
        try await store.write { writer in
            for id in 1...4 as ClosedRange<Int64> {
                try writer.put("Issue", RecordKey(id), [.init("title", .string("a"))])
            }
            try writer.put("Person", RecordKey(7), [.init("fullName", .string("P"))])
        }
        let outbox = client.outbox()
        for id in 1...4 as ClosedRange<Int64> {
            try await outbox.update("Issue", RecordKey(id), [.init("title", .string("b"))])
        }
        try await outbox.update("Person", RecordKey(7), [.init("fullName", .string("P7"))])
        #expect(try await outbox.drain().sent == 5)
        #expect(missed.withLock(\.self) == 0 && forge.requests.count == 4 && people.requests.count == 1)
    }

    @Test("a sync that one API cuts short is continued for that API only")
    func cutShort() async throws {
        let dead = DeadPort(), isDown = Mutex(true)
        let good = try ScriptedServer { _ in .init(body: #"[{"id":1}]"#) }
        let big = try ScriptedServer { request in
            request.target == "/k"
                ? .init(fields: ["Link: </k?page=2>; rel=\"next\""], body: #"[{"id":1}]"#) : .init(body: #"[{"id":2}]"#)
        }
        let store = try MirrorStore(
            yaml: """
                apis:
                  good: { base: '\(good.base)' }
                  big: { base: '\(big.base)', retry: never }
                entities:
                  I: { key: id, attributes: { id: int } }
                  K: { api: big, key: id, attributes: { id: int } }
                endpoints:
                  i: { path: /i, entity: I, paginate: single_page }
                  j: { api: big, path: /j, entity: K, paginate: single_page }
                  k: { api: big, path: /k, entity: K, paginate: header_link }
                """)
        let transport = ClosureTransport { request in
            var request = request
            if request.url.hasSuffix("page=2"), isDown.withLock(\.self) {
                request.url = "http://127.0.0.1:\(dead.port)/"
            }
            return try await MirrorStore.impatient().send(request)
        }
        let first = try await store.sync(nil, transport: transport, options: { $0.concurrency = 1 })
        let isCutShort = first.failures.contains { $0.isUnreachable }
        #expect(isCutShort, "\(first.failures)")
        #expect(good.requests.count == 1 && big.targets == ["/j", "/k"])
        // A run that this API cuts off before its first page leaves it to be continued.
        let between = try await store.sync(nil, transport: transport, options: { $0.concurrency = 1 })
        #expect(between.resumed != nil && between.endpoint("k")?.pages == 0, "\(between.failures)")
        #expect(good.requests.count == 2 && big.targets == ["/j", "/k"])
        isDown.withLock { $0 = false }
        let second = try await store.sync(nil, transport: transport, options: { $0.concurrency = 1 })
        #expect(second.failures.isEmpty && second.resumed != nil, "\(second.failures)")
        #expect(second.endpoint("i")?.wasFinished == false && good.requests.count == 3)
        #expect(second.endpoint("j")?.wasFinished == true && big.targets == ["/j", "/k", "/k?page=2"])
        #expect(try await store.sync(nil, transport: transport).resumed == nil)
    }

    @Test("a relationship to the other API may name its target by URLs of another form; wrong forms are reported")
    func referenceURL() async throws {
        let people = try Self.people()
        let forge = try ScriptedServer { _ in
            .init(
                body: """
                    [{"id":1,"title":"a","updated_at":"2025-01-31T09:00:00Z","author_url":"\(people.base)/api/staff/7/card"},
                     {"id":2,"title":"b","updated_at":"2025-01-31T09:00:00Z","author_url":"/staff/8/card"}]
                    """)
        }
        let text = Self.yaml(forge.base, people.base)
        func by(_ by: String) -> String {
            text.replacing("from: author_url }", with: "from: author_url, by: \(by) }")
        }
        let store = try MirrorStore(yaml: by("'/staff/{id}/card'"))
        try await store.sync(nil, names: ["issues"], environment: Self.environment)
        #expect(try store.related("Issue", 1, "author").map(\.key) == [RecordKey(7)])
        #expect(try store.related("Issue", 2, "author").map(\.key) == [RecordKey(8)])
        for (wrong, expected) in [
            ("'/staff/{login}'", "lacks {id}"), ("'staff/{id}'", "begins with /"), ("[]", "missing template"),
        ] {
            let error = #expect(throws: DescriptionError.self) { try Description.parse(by(wrong), file: "tarn.yaml") }
            #expect("\(String(describing: error))".contains(expected), "\(String(describing: error))")
        }
    }
}
