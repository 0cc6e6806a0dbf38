// The object manager, descriptors, routes and operations of RestKit.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From RestKit: requests and descriptors", .timeLimit(.minutes(2)))
struct RKRequestTests {
    @Record struct Airline: Equatable {
        @Key var id: Int
        var name: String?
        var routes = Inverse<Route>()
    }

    @Record struct Route: Equatable {
        @Key var code: String
        var distance: Int?
        @Relationship(inverse: \Airline.routes) var airline: Reference<Airline>?
    }

    private func api(_ bodies: [String: String] = [:]) throws -> APIFixture {
        try APIFixture(bodies) {
            try RecordClient(base: $0, records: Airline.self, Route.self, store: $1) { $0.api.retry = .never }
        }
    }

    private static let airlines = RecordRequest<Airline>.get("/airlines", records: "data", pagination: .headerLink())

    @Test(
        "RKObjectManager -getObjectsAtPath:parameters:success:failure: with RKResponseDescriptor keyPath → forge.all(_:): a path, its parameters, and the key path of the records"
    )
    func objects() async throws {
        let api = try api(["/airlines?hub=OSL": #"{"data": [{"id": 2, "name": "b"}, {"id": 1, "name": "a"}]}"#])
        let request = RecordRequest<Airline>.get("/airlines", ["hub": "OSL"], records: "data")
        #expect(try await api.client.all(request).map(\.name) == ["b", "a"])
    }

    @Test(
        "RKObjectManager -getObject:path:parameters:success:failure: → forge.one(_:): one object, which updates the stored one"
    )
    func object() async throws {
        let api = try api(["/airlines/1": #"{"data": {"id": 1, "name": "new"}}"#])
        try await api.client.store.write { try $0.put(Airline(id: 1, name: "old")) }
        #expect(
            try await api.client.one(RecordRequest<Airline>.get("/airlines/{id}", ["id": "1"], records: "data")).name
                == "new")
    }

    @Test(
        "RKRoute +routeWithClass:, +routeWithName:, +routeWithRelationshipName: and RKRouter → static functions of RecordRequest: a name, typed parameters, and the type of the records"
    )
    func routes() async throws {
        let api = try api(["/airlines/1/routes": #"[{"code": "x"}]"#])
        func routes(of airline: Airline) -> RecordRequest<Route> {
            .get("/airlines/{id}/routes", ["id": "\(airline.id)"])
        }
        #expect(try await api.client.all(routes(of: Airline(id: 1))).map(\.code) == ["x"])
    }

    @Test(
        "RKObjectManager -getObjectsAtPathForRelationship:ofObject:parameters:success:failure: → Endpoint.forEach with a parent: the listed records refer to the object"
    )
    func relationship() async throws {
        let api = try api(["/airlines": #"[{"id": 1}]"#, "/airlines/1/routes": #"[{"code": "x", "distance": 7}]"#])
        var description = api.client.client.description
        var routes = Endpoint(
            name: "routes", path: "/airlines/{airline.id}/routes", entity: "Route", pagination: .headerLink())
        routes.forEach = Endpoint.ForEach(entity: "Airline", parent: "airline", variable: "airline")
        description.endpoints = [
            Endpoint(name: "airlines", path: "/airlines", entity: "Airline", pagination: .headerLink()), routes,
        ]
        let report = try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport)
        ).sync()
        #expect(report.failures.isEmpty)
        #expect(try api.get(Route.self, "x") == Route(code: "x", distance: 7, airline: Reference(1)))
    }

    @Test(
        "RKResponseDescriptor -initWithMapping:method:pathPattern:keyPath:statusCodes: and RKPathMatcher → RequestRoutes: the request of a URL, by the most specific pattern"
    )
    func pathPatterns() async throws {
        let api = try api()
        var routes = RequestRoutes()
        routes.add("/airlines") { _ in Self.airlines }
        routes.add("/airlines/{id}/routes/{code}") {
            RecordRequest<Route>.get("/airlines/{id}/routes/{code}", ["id": $0["id"], "code": $0["code"]])
        }
        let found = try await api.client.accept(
            url: api.server.base + "/airlines/1/routes/OSL%2DBGO", headers: TransportHeaders(),
            body: Array(#"{"code": "OSL-BGO"}"#.utf8), by: routes)
        #expect((found as? [Route])?.map(\.code) == ["OSL-BGO"])
    }

    @Test("RKResponseDescriptor several for one response → EnvelopePart: a key path for each entity, as one change")
    func severalDescriptors() throws {
        let records = try ImportFixture(Airline.self, Route.self)
        try records.add(
            #"{"airlines": [{"id": 1}], "linked": {"routes": [{"code": "x"}]}}"#,
            envelope: [
                EnvelopePart("airlines", "Airline"), EnvelopePart("linked.routes", "Route"),
                EnvelopePart("gone", "Route", optional: true),
            ])
        #expect(try records.count("Airline") == 1 && records.count("Route") == 1)
    }

    @Test(
        "RKResponseDescriptor statusCodes and RKErrorMessage → ResponseRule: which responses are failures, and the message of the server"
    )
    func errorMapping() async throws {
        let api = try api()
        api.answer("/airlines", #"{"message": "no such hub"}"#, status: "422 Unprocessable Content")
        await #expect {
            _ = try await api.client.all(Self.airlines)
        } throws: {
            "\($0)".contains("no such hub")
        }
        let tolerant = Self.airlines.responses(ResponseRule(statuses: [422...422], action: .empty))
        #expect(try await api.client.all(tolerant).isEmpty)
    }

    @Test(
        "RKObjectManager -enqueueBatchOfObjectRequestOperations:progress:completion: → forge.batch(_:): several requests, whose records are returned together"
    )
    func batches() async throws {
        let api = try api(["/airlines": #"{"data": [{"id": 1}]}"#, "/routes": #"[{"code": "x"}]"#])
        let (airlines, routes) = try await api.client.batch(Self.airlines, RecordRequest<Route>.get("/routes"))
        #expect(airlines.map(\.id) == [1] && routes.map(\.code) == ["x"])
    }

    @Test(
        "RKObjectManager -enqueueBatchOfObjectRequestOperationsWithRoute:objects:progress:completion: → forge.results(of:): one request for each object, with the records or the failure of each"
    )
    func batchOfObjects() async throws {
        let api = try api(["/airlines/1": #"{"id": 1, "name": "a"}"#, "/airlines/3": #"{"id": 3, "name": "c"}"#])
        let results = await api.client.results(
            of: (1...3).map { RecordRequest<Airline>.get("/airlines/{id}", ["id": "\($0)"]) })
        #expect(results.map { try? $0.get().first?.name } == ["a", nil, "c"])
    }

    @Test(
        "RKObjectManager -cancelAllObjectRequestOperationsWithMethod:matchingPathPattern: → Task.cancel(): cancels the requests of the task, and only those"
    )
    func cancelling() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { request in
            if request.target == "/slow" { gate.wait() }
            return .init(body: #"[{"code": "x"}]"#)
        }
        let folder = try TemporaryFolder()
        let client = try RecordClient(base: server.base, records: Airline.self, Route.self, store: folder("s.tarn"))
        let slow = Task { try await client.all(RecordRequest<Route>.get("/slow")) }
        try await gate.reached()
        slow.cancel()
        #expect(try await client.all(RecordRequest<Route>.get("/fast")).count == 1)
        await #expect(throws: (any Error).self) { _ = try await slow.value }
        gate.open()
    }

    @Test(
        "RKPaginator with :perPage, :currentPage, :offset → Pagination: page numbers, offsets, cursors and links, with the page's records and the next page"
    )
    func paginator() async throws {
        let api = try api([
            "/routes?page=1&per_page=1": #"{"items": [{"code": "a"}], "pages": 2}"#,
            "/routes?page=2&per_page=1": #"{"items": [{"code": "b"}], "pages": 2}"#,
        ])
        let request = RecordRequest<Route>.get(
            "/routes", records: "items",
            pagination: .pageNumber(.query("page"), size: .init(.query("per_page"), 1), totalPages: "pages"))
        #expect(try await api.client.all(request).map(\.code) == ["a", "b"])
        #expect(api.server.targets.count == 2)
    }

    // A 304 gave an empty result, or the objects of another database.
    @Test(
        "RKManagedObjectRequestOperation on 304 (fetchRequestBlocks) → CachePolicy: the stored response lists its records; nothing is mapped again"
    )
    func notModified() async throws {
        let api = try api()
        api.answer("/airlines", #"{"data": [{"id": 2}, {"id": 1}]}"#, #"ETag: "1""#)
        for source in [CachedAnswer.Source.fetched, .revalidated] {
            let page = try await api.client.page(Self.airlines.policy(.networkFirst))
            #expect(page.source == source && page.records.map(\.id) == [2, 1])
        }
    }

    // An ETag was used although the mapping before it had failed.
    @Test(
        "RestKit cached response whose mapping had failed → RecordCache: validators are stored only with the records of a complete import"
    )
    func failedMapping() async throws {
        let api = try api()
        api.answer("/airlines", #"{"data": 7}"#, #"ETag: "1""#)
        await #expect(throws: CacheError.self) { _ = try await api.client.all(Self.airlines) }
        api.answer("/airlines", #"{"data": [{"id": 1}]}"#, #"ETag: "1""#)
        #expect(try await api.client.page(Self.airlines).source == .fetched)
    }

    // Overlapping requests made two objects of one.
    @Test(
        "RestKit two operations with the same objects at once (testThatMappingObjectsWithTheSameIdentificationAttributes…) → Store: one writer at a time, so one record"
    )
    func concurrent() async throws {
        let api = try api(["/a": #"[{"id": 1, "name": "x"}]"#, "/b": #"[{"id": 1}, {"id": 2}]"#])
        try await withThrowingTaskGroup(of: Int.self) { group in
            for path in ["/a", "/b", "/a", "/b"] {
                group.addTask { try await api.client.all(RecordRequest<Airline>.get(path)).count }
            }
            for try await count in group { #expect(count > 0) }
        }
        #expect(try api.fetch(Airline.all).map(\.id) == [1, 2])
        #expect(try api.get(Airline.self, 1)?.name == "x")
    }

    @Test(
        "RestKit AFHTTPClient -setDefaultHeader:value: and -defaultValueForHeader: → APIDescription.headers, RecordRequest.header(_:_:): fields of every request, or of one, whose answer is stored for this value"
    )
    func headers() async throws {
        let api = try api(["/airlines": #"{"data": [{"id": 1}]}"#])
        _ = try await api.client.all(Self.airlines.header("Accept-Language", "nb"))
        #expect(api.server.requests.first?.field("Accept-Language") == "nb")
    }

    @Test(
        "RKManagedObjectStore with its contexts → Store.open(at:): one store for all threads and processes; every read is a snapshot, every import one transaction"
    )
    func store() async throws {
        let api = try api(["/airlines": #"{"data": [{"id": 1}]}"#])
        let store = api.client.store
        let counts = try store.read { before in
            let first = try before.count("Airline")
            return (first, try before.count("Airline"))
        }
        _ = try await api.client.all(Self.airlines)
        #expect(counts == (0, 0))
        #expect(try store.read { try $0.count("Airline") } == 1)
    }
}
