// The query interface of SLRESTfulCoreData: its fetches and its URLs.

import Foundation
import TarnDescription
import TarnMacros
import TestSupport
import Testing

@Suite("From SLRESTfulCoreData: query interface", .timeLimit(.minutes(2)))
struct SLRequestTests {
    @Record struct Repository: Equatable {
        @Key var id: Int
        var fullName: String
        var issues = Inverse<Ticket>()
    }

    @Record struct Ticket: Equatable {
        @Key var id: Int
        var title: String?
        @Relationship(from: "repository_id", inverse: \Repository.issues) var repository: Reference<Repository>?
    }

    private func api(_ bodies: [String: String]) throws -> APIFixture {
        try APIFixture(bodies) {
            try RecordClient(base: $0, records: Repository.self, Ticket.self, store: $1) { $0.api.retry = .never }
        }
    }

    @Test("SLRESTfulCoreData +fetchObjectFromURL:completionHandler: → forge.one(_:): one object, also below a prefix")
    func one() async throws {
        let api = try api([
            "/tickets/5": #"{"id": 5, "title": "a"}"#, "/wrapped/5": #"{"ticket": {"id": 5, "title": "b"}}"#,
        ])
        #expect(try await api.client.one(RecordRequest<Ticket>.get("/tickets/{id}", ["id": "5"])).title == "a")
        #expect(try await api.client.one(RecordRequest<Ticket>.get("/wrapped/5", records: "ticket")).title == "b")
    }

    @Test(
        "SLRESTfulCoreData +fetchObjectsFromURL:completionHandler:, +registerJSONPrefix:, +registerPluralizedJSONPrefix: → forge.all(_:): a list, a list below a prefix, or one object"
    )
    func several() async throws {
        let api = try api([
            "/tickets": #"[{"id": 5}, {"id": 6}]"#, "/wrapped": #"{"tickets": [{"id": 7}]}"#, "/one": #"{"id": 8}"#,
        ])
        #expect(try await api.client.all(RecordRequest<Ticket>.get("/tickets")).map(\.id) == [5, 6])
        #expect(try await api.client.all(RecordRequest<Ticket>.get("/wrapped", records: "tickets")).map(\.id) == [7])
        #expect(try await api.client.all(RecordRequest<Ticket>.get("/one")).map(\.id) == [8])
    }

    // Without a word, every object of the class that was not in the response was deleted.
    @Test(
        "SLRESTfulCoreData +fetchObjectsFromURL:completionHandler: that deletes every other object → forge.all(_:): a fetch deletes nothing; orphans are declared for an endpoint"
    )
    func nothingIsDeleted() async throws {
        let api = try api(["/a": #"[{"id": 1}, {"id": 2}]"#, "/b": #"[{"id": 2}]"#])
        for path in ["/a", "/b"] { _ = try await api.client.all(RecordRequest<Ticket>.get(path)) }
        #expect(try api.fetch(Ticket.all).map(\.id) == [1, 2])
    }

    @Test(
        "SLRESTfulCoreData +fetchObjectsFromURL:deleteEveryOtherObject:completionHandler: → Orphans(.entity): after a complete list, every other record is deleted"
    )
    func everyOther() async throws {
        let api = try api(["/tickets": #"[{"id": 1}, {"id": 2}]"#])
        var description = api.client.client.description
        var endpoint = Endpoint(name: "tickets", path: "/tickets", entity: "Ticket", pagination: .headerLink())
        endpoint.orphans = Orphans(.entity, scans: 1)
        description.endpoints = [endpoint]
        let mirror = try APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport))
        #expect(await mirror.sync().failures.isEmpty)
        api.answer("/tickets", #"[{"id": 2}, {"id": 3}]"#)
        #expect(await mirror.sync().orphans?.deleted == 1)
        #expect(try api.fetch(Ticket.all).map(\.id) == [2, 3])
    }

    @Test(
        "SLRESTfulCoreData -fetchObjectsForRelationship:fromURL:completionHandler: → Endpoint.forEach: a list for each stored parent; its records refer to the parent"
    )
    func relationship() async throws {
        let api = try api([
            "/repositories": #"[{"id": 1, "full_name": "acme/anvil"}, {"id": 2, "full_name": "acme/forge"}]"#,
            "/repos/acme%2Fanvil/issues": #"[{"id": 5}, {"id": 6}]"#, "/repos/acme%2Fforge/issues": "[]",
        ])
        var description = api.client.client.description
        let repositories = Endpoint(
            name: "repositories", path: "/repositories", entity: "Repository", pagination: .headerLink())
        var issues = Endpoint(
            name: "issues", path: "/repos/{repository.fullName}/issues", entity: "Ticket", pagination: .headerLink())
        issues.forEach = Endpoint.ForEach(entity: "Repository", parent: "repository", variable: "repository")
        description.endpoints = [repositories, issues]
        let report = try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport)
        ).sync()
        #expect(report.failures.isEmpty)
        let found = try api.client.store.read { try $0.fetch(Repository.include(\.issues)) }
        #expect(found.map { $0.1.map(\.id) } == [[5, 6], []])
    }

    // CloudBridge deleted only those of the relationship; SLRESTfulCoreData all of the class.
    @Test(
        "SLRESTfulCoreData -fetchObjectsForRelationship:fromURL:deleteEveryOtherObject:completionHandler:, -shouldDeleteManagedObjectAfterFetch:forRelationship: → Orphans(.owner), APIMirror.Options.mayDelete: only records of this parent are deleted, and a closure keeps some"
    )
    func orphansOfAParent() async throws {
        let api = try api([
            "/repositories": #"[{"id": 1, "full_name": "a"}, {"id": 2, "full_name": "b"}]"#,
            "/repos/a/issues": #"[{"id": 4}, {"id": 5}, {"id": 6}]"#, "/repos/b/issues": #"[{"id": 7}]"#,
        ])
        var description = api.client.client.description
        var issues = Endpoint(
            name: "issues", path: "/repos/{repository.fullName}/issues", entity: "Ticket", pagination: .headerLink())
        issues.forEach = Endpoint.ForEach(entity: "Repository", parent: "repository", variable: "repository")
        issues.orphans = Orphans(.owner, scans: 1)
        description.endpoints = [
            Endpoint(name: "repositories", path: "/repositories", entity: "Repository", pagination: .headerLink()),
            issues,
        ]
        var options = APIMirror.Options()
        options.mayDelete = { $0.key != RecordKey(4) }
        let mirror = try APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport), options: options)
        #expect(await mirror.sync().failures.isEmpty)
        api.answer("/repos/a/issues", #"[{"id": 6}]"#)
        #expect(await mirror.sync().orphans?.deleted == 1)
        #expect(try api.fetch(Ticket.all).map(\.id) == [4, 6, 7])
    }

    @Record struct Release: Equatable, DetailedRecord {
        @Key var id: Int
        var tag: String?
        var repository: Reference<Repository>?
        static let detail = RecordRequest<Release>.get("/repos/{+repository.fullName}/releases/{id}")
    }

    @Test(
        "SLRESTfulCoreData -updateWithCompletionHandler: (GET by +registerCRUDBaseURL:) → DetailedRecord.detail, forge.detail(of:): the record is fetched anew by a path of its own values and of its parent's"
    )
    func updating() async throws {
        let api = try APIFixture(["/repos/acme/anvil/releases/3": #"{"id": 3, "tag": "v3"}"#]) {
            try RecordClient(base: $0, records: Repository.self, Ticket.self, Release.self, store: $1)
        }
        try await api.client.store.write { writer in
            try writer.put(Repository(id: 1, fullName: "acme/anvil"))
            try writer.put(Release(id: 3, repository: Reference(1)))
        }
        #expect(try await api.client.detail(Release.self, 3).tag == "v3")
        #expect(try api.get(Release.self, 3) == Release(id: 3, tag: "v3", repository: Reference(1)))
    }

    @Test(
        "SLRESTfulCoreData -objectsFromRelationship:sortedByAttribute:ascending:, +deleteObjectsWithoutRemoteIDs:inManagedObjectContext: → Ticket.where { … }.order(by:), store.delete(_:): queries of the store, and deletions by them"
    )
    func queries() async throws {
        let api = try api([
            "/tickets":
                #"[{"id": 1, "title": "b", "repository_id": 7}, {"id": 2, "title": "a", "repository_id": 7}, {"id": 3}]"#
        ])
        _ = try await api.client.all(RecordRequest<Ticket>.get("/tickets"))
        #expect(try api.fetch(Ticket.where { $0.repository == 7 }.order(by: \.title)).map(\.id) == [2, 1])
        #expect(try await api.client.store.delete(Ticket.where { !$0.id.isIn([1, 2]) }).changed == 1)
        #expect(try api.fetch(Ticket.all).map(\.id) == [1, 2])
    }

    @Test(
        "SLRESTfulCoreData -<relationship>WithCompletionHandler: by +registerCRUDBaseURL:forRelationship: → a static function of RecordRequest: a request whose path has the parent's values"
    )
    func relationshipRequest() async throws {
        let api = try api(["/repos/acme/anvil/issues": #"[{"id": 5, "repository_id": 1}]"#])
        let repository = Repository(id: 1, fullName: "acme/anvil")
        let request = RecordRequest<Ticket>.get("/repos/{+name}/issues", ["name": repository.fullName])
        #expect(try await api.client.all(request).map(\.repository?.key) == [1])
    }

    // `:id` also met the beginning of `:id_value`, and nothing encoded a slash.
    @Test(
        "SLRESTfulCoreData URL substitution of :id, :child.id, dates and texts → path templates: each variable is replaced as a whole, and encoded"
    )
    func substitution() async throws {
        let api = try api(["/a/7/b/x%2Fy%C3%A4/7_1": "[]"])
        let request = RecordRequest<Ticket>.get(
            "/a/{id}/b/{text}/{id_value}", ["id": "7", "id_value": "7_1", "text": "x/yä"])
        #expect(try await api.client.all(request).isEmpty)
    }

    @Test(
        "SLRESTfulCoreData +registerCRUDBaseURL: with :variables → the path of an endpoint: names may be written with a colon, for records of the store"
    )
    func colons() throws {
        let description = try Description.parse(
            """
            api: { base: 'https://api.test.example' }
            entities:
              Repository: { key: id, attributes: { id: int, full_name: string } }
              Ticket: { key: id, attributes: { id: int }, relationships: { repository: { to: Repository, inverse: tickets } } }
            endpoints:
              repositories: { path: /repositories, entity: Repository }
              tickets:
                path: /repos/:repository.full_name/tickets
                for_each: { entity: Repository, parent: repository }
                entity: Ticket
            """, file: "tarn.yaml")
        #expect(description.endpoints[1].path == "/repos/{repository.full_name}/tickets")
    }

    @Test(
        "SLRESTfulCoreDataBackgroundQueue -getRequestToURL:completionHandler: → Transport.send(_:): any HTTP client behind one function"
    )
    func transport() async throws {
        struct Own: Transport {
            func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
                guard request.url == "https://api.test.example/tickets" else {
                    throw TransportError(.connect, method: request.method, url: request.url, detail: "not here")
                }
                return TransportResponse(status: 200, headers: TransportHeaders(), body: Array(#"[{"id": 5}]"#.utf8))
            }
        }
        let folder = try TemporaryFolder()
        let client = try RecordClient(
            base: "https://api.test.example", records: Repository.self, Ticket.self, store: folder("s.tarn"),
            transport: Own())
        #expect(try await client.all(RecordRequest<Ticket>.get("/tickets")).map(\.id) == [5])
    }

    @Test(
        "SLRESTfulCoreData errors (no JSON object, not convertible) → CacheError.request(.response(_:method:url:place:)): what is wrong, and where"
    )
    func errors() async throws {
        let api = try api(["/tickets": "7"])
        await #expect {
            _ = try await api.client.all(RecordRequest<Ticket>.get("/tickets"))
        } throws: {
            if case .request(.response(.notRecords, _, _, _), _)? = $0 as? CacheError { true } else { false }
        }
    }

    @Test(
        "SLRESTfulCoreData notifications …RemoteOperationDidStart and …DidFinish → APIMirror.sync(progress:): called before each request and after each page"
    )
    func progress() async throws {
        let api = try api(["/tickets": #"[{"id": 1}]"#])
        var description = api.client.client.description
        description.endpoints = [
            Endpoint(name: "tickets", path: "/tickets", entity: "Ticket", pagination: .headerLink())
        ]
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        _ = try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport)
        ).sync { continuation.yield($0.listed) }
        continuation.finish()
        var seen: [Int] = []
        for await listed in stream { seen.append(listed) }
        #expect(seen.first == 0 && seen.last == 1)
    }
}
