// The daily work of users of Apollo, over REST or GraphQL.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From Apollo", .timeLimit(.minutes(2)))
struct ApolloTests {
    private typealias Player = League.Player
    private typealias Team = League.Team

    private func api(_ bodies: [String: String] = ["/players": players]) throws -> APIFixture {
        try APIFixture(bodies) {
            try RecordClient(base: $0, records: Player.self, Team.self, store: $1) { $0.api.retry = .never }
        }
    }

    private static let players = #"""
        [{"id": 1, "name": "Ada", "score": 30, "team": {"id": 1, "name": "Reds"}},
         {"id": 2, "name": "Bo", "score": 10, "team": {"id": 1}}]
        """#

    private static let list = RecordRequest<Player>.get("/players", pagination: .headerLink())

    @Test(
        "Apollo NormalizedCache → Store: each object is one record, whichever response names it; a nested excerpt completes it, and removes nothing"
    )
    func normalized() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        #expect(try api.fetch(Team.all) == [Team(id: 1, name: "Reds")])
        api.answer("/players", #"[{"id": 2, "name": "Bo", "score": 11, "team": {"id": 1, "name": "Red Ones"}}]"#)
        _ = try await api.client.all(Self.list)
        let found = try api.client.store.read { try $0.fetch(Player.include(\.team)) }
        #expect(found.map { $0.1?.name } == ["Red Ones", "Red Ones"])
    }

    @Test(
        "Apollo cacheKeyInfo(for:object:) → @Key: the key of each entity, also a composite one, or one that its parent gives"
    )
    func cacheKeys() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        #expect(try api.get(Player.self, 2)?.name == "Bo")
    }

    @Test("Apollo client.fetch(query:) → forge.all(_:), forge.one(_:): typed records of a request")
    func fetch() async throws {
        let api = try api()
        #expect(try await api.client.all(Self.list).map(\.name) == ["Ada", "Bo"])
    }

    @Test(
        "Apollo cachePolicy .returnCacheDataElseFetch → CachePolicy.cacheFirst: the default; HTTP's rules say how long a response is fresh"
    )
    func cacheFirst() async throws {
        let api = try api()
        api.answer("/players", Self.players, "Cache-Control: max-age=60")
        for source in [CachedAnswer.Source.fetched, .stored] {
            #expect(try await api.client.page(Self.list).source == source)
        }
    }

    @Test(
        "Apollo cachePolicy .fetchIgnoringCacheData → CachePolicy.networkFirst or .networkOnly: with a condition, or without; the store is updated"
    )
    func networkOnly() async throws {
        let api = try api()
        api.answer("/players", Self.players, #"ETag: "1""#, "Cache-Control: max-age=60")
        _ = try await api.client.page(Self.list)
        #expect(try await api.client.page(Self.list.policy(.networkFirst)).source == .revalidated)
        #expect(try await api.client.page(Self.list.policy(.networkOnly)).source == .fetched)
    }

    @Test(
        "Apollo cachePolicy .fetchIgnoringCacheCompletely → a response with `Cache-Control: no-store`: returned, and not stored"
    )
    func noStore() async throws {
        let api = try api()
        api.answer("/players", Self.players, "Cache-Control: no-store")
        #expect(try await api.client.all(Self.list).count == 2)
        #expect(try api.count("Player") == 0)
    }

    @Test(
        "Apollo cachePolicy .returnCacheDataDontFetch → CachePolicy.cacheOnly: the stored answer, or an error; nothing is sent"
    )
    func cacheOnly() async throws {
        let api = try api()
        await #expect(throws: CacheError.self) { _ = try await api.client.all(Self.list.policy(.cacheOnly)) }
        #expect(api.server.targets.isEmpty)
        _ = try await api.client.all(Self.list)
        #expect(try await api.client.all(Self.list.policy(.cacheOnly)).count == 2)
    }

    @Test(
        "Apollo cachePolicy .returnCacheDataAndFetch → forge.answers(_:local:): the stored records at once, then the server's"
    )
    func cacheAndNetwork() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        api.answer("/players", #"[{"id": 3, "name": "Cy", "score": 1}]"#)
        var seen: [[String]] = []
        for try await answer in api.client.answers(Self.list, local: Player.order(by: \.id)) {
            seen.append(answer.records.map(\.name))
            if seen.count == 2 { break }
        }
        #expect(seen == [["Ada", "Bo"], ["Ada", "Bo", "Cy"]])
    }

    @Test(
        "Apollo client.watch(query:) → forge.answers(_:local:), store.observe(_:): every change of the records, from any request, write or process"
    )
    func watch() async throws {
        let api = try api(["/players": Self.players, "/players/2": #"{"id": 2, "name": "Bob", "score": 10}"#])
        _ = try await api.client.all(Self.list)
        var seen: [String] = []
        for try await change in api.client.store.observe(Player.where { $0.id == 2 }) {
            seen += change.value.map(\.name)
            if seen.count == 2 { break }
            _ = try await api.client.one(RecordRequest<Player>.get("/players/2"))
        }
        #expect(seen == ["Bo", "Bob"])
    }

    @Test(
        "Apollo client.watch(query:) of a list → forge.answers(_:): the records that the response lists, again with every change of the list or of one of them"
    )
    func watchedList() async throws {
        let api = try api()
        var seen: [[Int]] = []
        for try await answer in api.client.answers(Self.list) {
            seen.append(answer.records.map(\.score))
            if seen.count == 2 {
                try await api.client.store.write { _ = try $0.patch(Player.self, 2) { $0.set(.score, 11) } }
            }
            if seen.count == 3 { break }
        }
        #expect(seen == [[], [30, 10], [30, 11]])
    }

    @Test(
        "Apollo store.withinReadTransaction { try $0.read(query:) } → store.read { … }: queries of the local records, which no server has to answer"
    )
    func readTransaction() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        #expect(try api.fetch(Player.where { $0.team.name == "Reds" && $0.score > 20 }).map(\.id) == [1])
    }

    @Test(
        "Apollo store.withinReadWriteTransaction { try $0.update(cacheMutation) } → store.write { … }: a change of records, which every query of them sees"
    )
    func writeTransaction() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        try await api.client.store.write { _ = try $0.patch(Player.self, 1) { $0.set(.score, 31) } }
        #expect(try await api.client.all(Self.list.policy(.cacheOnly)).first?.score == 31)
    }

    @Test(
        "Apollo removeObject(for:) and clearCache() → writer.delete(_:_:), store.delete(_:): a response that lists a deleted record no longer answers"
    )
    func removing() async throws {
        let api = try api()
        api.answer("/players", Self.players, "Cache-Control: max-age=60")
        _ = try await api.client.all(Self.list)
        try await api.client.store.write { _ = try $0.delete(Player.self, 1) }
        #expect(try await api.client.page(Self.list).source == .fetched)
    }

    @Test(
        "Apollo pagination (AsyncGraphQLQueryPager) → forge.pages(_:): cursors, offsets, links or page numbers; a sequence that may be left at any page"
    )
    func pagination() async throws {
        let api = try api([
            "/players":
                #"{"nodes": [{"id": 1, "name": "Ada", "score": 1}], "pageInfo": {"endCursor": "x", "hasNextPage": true}}"#,
            "/players?after=x":
                #"{"nodes": [{"id": 2, "name": "Bo", "score": 1}], "pageInfo": {"endCursor": "y", "hasNextPage": false}}"#,
        ])
        let request = RecordRequest<Player>.get(
            "/players", records: "nodes",
            pagination: .cursor(path: "pageInfo.endCursor", sends: .query("after"), hasMore: "pageInfo.hasNextPage"))
        var pages: [[String]] = []
        for try await page in api.client.pages(request) { pages.append(page.records.map(\.name)) }
        #expect(pages == [["Ada"], ["Bo"]])
    }

    @Test(
        "Apollo operation of GraphQL → RecordRequest.post(_:body:_:records:): a query in the body, its variables as parameters, the records at a path"
    )
    func graphQL() async throws {
        let api = try api(["/graphql": #"{"data": {"players": {"nodes": [{"id": 4, "name": "Di", "score": 40}]}}}"#])
        let request = RecordRequest<Player>.post(
            "/graphql",
            body: .json(
                .object([
                    .init("query", .string("query($team: Int) { players(team: $team) { nodes { id name score } } }")),
                    .init("variables", .object([.init("team", .string("{team}"))])),
                ])), ["team": "1"], records: "data.players.nodes", pagination: .headerLink())
        #expect(try await api.client.all(request).map(\.name) == ["Di"])
        #expect(api.server.requests.first?.method == "POST")
    }

    @Test(
        "Apollo GraphQLResult.errors → RecordRequest.responses(_:): a success with errors in its body is a failure, if that is declared"
    )
    func errors() async throws {
        let api = try api(["/players": #"{"errors": [{"message": "denied"}], "data": {"players": []}}"#])
        let request = RecordRequest<Player>.get("/players", records: "data.players")
            .responses(ResponseRule(text: #""errors":"#, action: .fail))
        await #expect(throws: CacheError.self) { _ = try await api.client.all(request) }
    }

    @Test(
        "Apollo result.source == .cache without a network → ResponsePage.source, ResponsePage.failure: a stale answer says so, and why the server did not answer"
    )
    func offline() async throws {
        let api = try api()
        _ = try await api.client.all(Self.list)
        api.answer("/players", "", status: "503 Service Unavailable")
        let page = try await api.client.page(Self.list)
        #expect(page.source == .stale && page.records.count == 2 && page.failure != nil)
    }

    @Test("Apollo Cancellable.cancel() → Task.cancel(): the transfer ends")
    func cancel() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(body: "[]")
        }
        let folder = try TemporaryFolder()
        let client = try RecordClient(base: server.base, records: Player.self, Team.self, store: folder("s.tarn"))
        let task = Task { try await client.all(Self.list) }
        try await gate.reached()
        task.cancel()
        await #expect(throws: (any Error).self) { _ = try await task.value }
        gate.open()
    }
}
