// The cache, the orphans, the servers and the mappers of MMRecord.

import Foundation
import Logging
import TarnMacros
import TestSupport
import Testing

@Suite("From MMRecord: cache, orphans, servers", .timeLimit(.minutes(2)))
struct MMRecordCacheTests {
    @Record struct Favourite: Equatable {
        @Key var id: Int
        var title: String
        var isFavourite: Bool?
    }

    private func api(_ bodies: [String: String] = [:]) throws -> APIFixture {
        try APIFixture(bodies) {
            try RecordClient(base: $0, records: Favourite.self, store: $1) { $0.api.retry = .never }
        }
    }

    private static let list: RecordRequest<Favourite> = .get("/items", records: "items")

    // A hit read an entity of the wrong name; without a cached body there was no callback at all.
    @Test(
        "MMRecordOptions.isRecordLevelCachingEnabled → CachePolicy: a fresh response is answered from its records, in its order, without the server"
    )
    func recordLevelCache() async throws {
        let api = try api()
        api.answer(
            "/items", #"{"items": [{"id": 2, "title": "b"}, {"id": 1, "title": "a"}], "next": "x"}"#,
            "Cache-Control: max-age=600")
        for source in [CachedAnswer.Source.fetched, .stored] {
            let page = try await api.client.page(Self.list.metadata("next", at: "next"))
            #expect(page.source == source && page.records.map(\.id) == [2, 1])
            #expect(page.metadata == ["next": #""x""#])
        }
        #expect(api.server.targets.count == 1)
    }

    // A record that was deleted was left out of the cached answer without a word.
    @Test(
        "MMRecordCache hit whose record was deleted → RecordCache: the response no longer answers, and the server is asked"
    )
    func deletedMember() async throws {
        let api = try api()
        api.answer("/items", #"{"items": [{"id": 1, "title": "a"}]}"#, "Cache-Control: max-age=600")
        _ = try await api.client.all(Self.list)
        try await api.client.store.write { _ = try $0.delete(Favourite.self, 1) }
        #expect(try await api.client.all(Self.list).map(\.id) == [1])
        #expect(api.server.targets.count == 2)
    }

    // Entries stayed for ever: there was no way to remove one, and no limit.
    @Test(
        "MMRecordCache entries that are evicted → RecordCache.purge(_:), CacheLimits: responses go, records stay, and the server is asked again"
    )
    func eviction() async throws {
        let api = try api()
        api.answer("/items", #"{"items": [{"id": 1, "title": "a"}]}"#, "Cache-Control: max-age=600")
        _ = try await api.client.all(Self.list)
        let purged = try await api.client.cache.purge(.all)
        let source = try await api.client.page(Self.list).source
        #expect(purged == 1 && source == .fetched)
        #expect(try api.count("Favourite") == 1)
    }

    @Test(
        "MMRecordCache and NSURLCache → CachePolicy.networkFirst: a stale response is confirmed with a condition; 304 imports nothing"
    )
    func revalidation() async throws {
        let api = try api()
        api.answer("/items", #"{"items": [{"id": 1, "title": "a"}]}"#, #"ETag: "v1""#)
        _ = try await api.client.all(Self.list)
        let page = try await api.client.page(Self.list.policy(.networkFirst))
        #expect(page.source == .revalidated && page.report == nil && page.records.map(\.title) == ["a"])
    }

    @Test(
        "MMServer +cancelRequestsWithDomain: and offline use → CachePolicy.cacheOnly: the store answers without the network, or says that it cannot"
    )
    func cacheOnly() async throws {
        let api = try api(["/items": #"{"items": [{"id": 1, "title": "a"}]}"#])
        await #expect(throws: CacheError.self) { _ = try await api.client.all(Self.list.policy(.cacheOnly)) }
        _ = try await api.client.all(Self.list)
        #expect(try await api.client.all(Self.list.policy(.cacheOnly)).count == 1)
        #expect(api.server.targets.count == 1)
    }

    @Test(
        "MMServerPageManager nextPageURN, nextPageData, canRequestNextPage → Pagination.custom(name:wants:next:): a closure decides which page follows"
    )
    func pageManager() async throws {
        let api = try api([
            "/items": #"{"items": [{"id": 1, "title": "a"}]}"#,
            "/items?from=2": #"{"items": [{"id": 2, "title": "b"}]}"#,
        ])
        let request = RecordRequest<Favourite>.get(
            "/items", records: "items",
            pagination: .custom(name: "own") { _, _, ordinal in ordinal == 1 ? .next("/items?from=2") : .end })
        #expect(try await api.client.all(request).map(\.id) == [1, 2])
    }

    @Test(
        "MMServerPageManager totalResultsCount → Pagination.offset(total:): a list that ends before its total is a failure, and no complete list"
    )
    func totals() async throws {
        let api = try api([
            "/items?offset=0&limit=1": #"{"items": [{"id": 1, "title": "a"}], "total": 2}"#,
            "/items?offset=1&limit=1": #"{"items": [{"id": 2, "title": "b"}], "total": 2}"#,
        ])
        let request = RecordRequest<Favourite>.get(
            "/items", records: "items",
            pagination: .offset(.query("offset"), size: .init(.query("limit"), 1), total: "total"))
        #expect(try await api.client.all(request).map(\.id) == [1, 2])
        api.answer("/items?offset=1&limit=1", #"{"items": [], "total": 2}"#)
        await #expect(throws: CacheError.self) { _ = try await api.client.all(request.policy(.networkOnly)) }
    }

    /// Scans the items, with rules for orphans.
    private func sync(
        _ api: APIFixture, _ orphans: Orphans, mayDelete: (@Sendable (Record) -> Bool)? = nil
    ) async throws -> SyncReport {
        var description = api.client.client.description
        var endpoint = Endpoint(name: "items", path: "/items", records: "items", entity: "Favourite")
        endpoint.orphans = orphans
        description.endpoints = [endpoint]
        var options = APIMirror.Options()
        options.mayDelete = mayDelete
        return try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport), options: options
        ).sync()
    }

    private static let three =
        #"{"items": [{"id": 1, "title": "a"}, {"id": 2, "title": "b", "is_favourite": true}, {"id": 3, "title": "c"}]}"#

    @Test(
        "MMRecordOptions.deleteOrphanedRecordBlock → Orphans and APIMirror.Options.mayDelete: what the server no longer lists is deleted, and a closure or a condition keeps favourites"
    )
    func orphans() async throws {
        let api = try api(["/items": Self.three])
        #expect(try await sync(api, Orphans(.listed, scans: 1)).failures.isEmpty)
        api.answer("/items", #"{"items": [{"id": 1, "title": "a"}]}"#)
        let report = try await sync(api, Orphans(.listed, scans: 1)) { $0["isFavourite"] != .bool(true) }
        #expect(report.orphans?.deleted == 1)
        #expect(try api.fetch(Favourite.all).map(\.id) == [1, 2])
        api.answer("/items", #"{"items": []}"#)
        let kept = Orphans(
            .listed, scans: 1, keep: .compare("isFavourite", .equal, .bool(true)), allowsEmpty: true)
        _ = try await sync(api, kept)
        #expect(try api.fetch(Favourite.all).map(\.id) == [2])
    }

    // An error page, or a wrong key path, deleted the whole table.
    @Test(
        "MMRecordOptions.deleteOrphanedRecordBlock on an error or an empty response → Orphans: only a complete list has orphans; an empty one counts only if that is declared"
    )
    func orphansOfFailures() async throws {
        let api = try api(["/items": Self.three])
        _ = try await sync(api, Orphans(.entity, scans: 1))
        for (body, status) in [
            ("", "500 Internal Server Error"), (#"{"itms": []}"#, "200 OK"), (#"{"items": []}"#, "200 OK"),
        ] {
            api.answer("/items", body, status: status)
            let report = try await sync(api, Orphans(.entity, scans: 1))
            #expect(report.orphans?.deleted ?? 0 == 0)
            #expect(try api.count("Favourite") == 3)
        }
    }

    @Test(
        "MMRecordOptions.deleteOrphanedRecordBlock of one class → Orphans.Scope.listed: records that another response lists are no orphans"
    )
    func orphansOfOneList() async throws {
        let api = try api([
            "/items": Self.three, "/others": #"{"items": [{"id": 3, "title": "c"}, {"id": 4, "title": "d"}]}"#,
        ])
        _ = try await sync(api, Orphans(.listed, scans: 1))
        _ = try await api.client.all(RecordRequest<Favourite>.get("/others", records: "items"))
        api.answer("/items", #"{"items": [{"id": 1, "title": "a"}]}"#)
        _ = try await sync(api, Orphans(.listed, scans: 1))
        #expect(try api.fetch(Favourite.all).map(\.id) == [1, 3, 4])
    }

    // Any request ended in success with nothing if a resource was missing or was not JSON.
    @Test(
        "MMJSONServer +registerResourceName:forPathComponent: → FixtureTransport: recorded responses answer by method and path; one that is missing is an error"
    )
    func fixtures() async throws {
        let folder = try TemporaryFolder(), recordings = folder("recordings")
        try FileManager.default.createDirectory(atPath: recordings, withIntermediateDirectories: true)
        try
            "GET /items\nHTTP/1.1 200 OK\nContent-Type: application/json\n\n{\"items\": [{\"id\": 1, \"title\": \"a\"}]}\n"
            .write(
                toFile: recordings + "/0000.http", atomically: true, encoding: .utf8)
        let client = try RecordClient(
            base: "https://api.test.example", records: Favourite.self, store: folder("s.tarn"),
            transport: FixtureTransport(directory: recordings))
        #expect(try await client.all(Self.list).map(\.id) == [1])
        await #expect(throws: CacheError.self) { _ = try await client.all(RecordRequest<Favourite>.get("/items/9")) }
    }

    // The serializer imported into the caller's context from another thread, and never saved.
    @Test(
        "AFMMRecordResponseSerializer +serializerWithManagedObjectContext:responseObjectSerializer:entityMapper: → forge.accept(_:url:status:headers:body:): a response that another client has fetched is stored, and is the stored answer of the request"
    )
    func serializer() async throws {
        let api = try api()
        let page = try await api.client.accept(
            Self.list, headers: TransportHeaders([.init("Cache-Control", "max-age=600")]),
            body: Array(#"{"items": [{"id": 5, "title": "e"}]}"#.utf8))
        #expect(page.records.map(\.title) == ["e"] && page.report?.created == 1)
        #expect(try await api.client.all(Self.list).map(\.id) == [5])
        #expect(api.server.targets.isEmpty)
    }

    // An HTTP error was decorated, and its body was parsed as records.
    @Test(
        "AFMMRecordResponseSerializer with an HTTP error → forge.accept(_:status:headers:body:): a failure is thrown, and nothing of its body is stored"
    )
    func refusedHandOver() async throws {
        let api = try api()
        await #expect(throws: CacheError.self) {
            _ = try await api.client.accept(
                Self.list, status: 500, headers: TransportHeaders(),
                body: Array(#"{"items": [{"id": 5, "title": "e"}]}"#.utf8))
        }
        #expect(try api.count("Favourite") == 0)
    }

    // The mapper looked for a text anywhere in the URL, in the order of a dictionary.
    @Test(
        "AFMMRecordResponseSerializationMapper -registerEntityName:forEndpointPathComponent: → RequestRoutes.add(_:_:): templates of paths, of which the most specific one wins"
    )
    func routes() async throws {
        let api = try api()
        var routes = RequestRoutes()
        routes.add("/items/{id}") { values in RecordRequest<Favourite>.get("/items/{id}", ["id": values["id"]]) }
        routes.add("/items/featured") { _ in RecordRequest<Favourite>.get("/items/featured", records: "items") }
        let one = try await api.client.accept(
            url: api.server.base + "/items/7?x=1", headers: TransportHeaders(),
            body: Array(#"{"id": 7, "title": "g"}"#.utf8),
            by: routes)
        let several = try await api.client.accept(
            url: api.server.base + "/items/featured", headers: TransportHeaders(),
            body: Array(#"{"items": [{"id": 8, "title": "h"}]}"#.utf8), by: routes)
        #expect((one as? [Favourite])?.map(\.id) == [7] && (several as? [Favourite])?.map(\.id) == [8])
        let unknown = try await api.client.accept(
            url: api.server.base + "/users/7", headers: TransportHeaders(), body: Array("{}".utf8), by: routes)
        #expect(unknown == nil)
    }

    // Errors were kept in a debugger that the next request replaced, and a failed save was a success.
    @Test(
        "MMRecordDebugger and its errors → ImportReport: every answer has counts and diagnostics with the place in the JSON"
    )
    func debugger() async throws {
        let api = try api([
            "/items":
                #"{"items": [{"id": 1, "title": "a"}, {"title": "b"}, {"id": 3, "title": "c", "is_favourite": [1]}]}"#
        ])
        let page = try await api.client.page(Self.list)
        let report = try #require(page.report)
        #expect(report.listed == 3 && report.skipped == 1)
        #expect(Set(report.diagnostics.map(\.code)).isSuperset(of: [.keyMissing, .valueType]))
        #expect(report.diagnostics.contains { $0.path == "$.items[2].is_favourite" })
    }

    // The parameters with the property and the dictionary of an error were never set.
    @Test(
        "MMRecordDebuggerParameterRecordDictionary and …PropertyName → ImportError.path: the place in the JSON at which an import failed"
    )
    func placeOfFailure() throws {
        let records = try ImportFixture(Favourite.self)
        #expect {
            try records.add(
                #"{"items": [{"id": 1, "title": "a"}, {"id": 2, "title": oops}]}"#, "Favourite", records: "items")
        } throws: {
            ($0 as? ImportError)?.path == "$.items[1].title"
        }
        #expect(try records.count("Favourite") == 0)
    }

    @Test(
        "MMRecord +setLoggingLevel: for all requests → APIClient.Options.logger: each import with its counts at info, each kind of diagnostic at notice"
    )
    func importLog() async throws {
        let logs = LogStore(), api = try api(["/items": #"{"items": [{"id": 1, "title": "a"}, {}]}"#])
        var options = APIClient.Options()
        options.logger = logs.logger(.info)
        let client = try RecordClient(
            base: api.server.base, records: Favourite.self, store: api.folder("logged.tarn"), options: options)
        _ = try await client.all(Self.list)
        #expect(logs.lines.contains { $0.hasPrefix("info imported") })
        #expect(logs.lines.contains { $0.hasPrefix("notice key.missing") })
    }

    @Test(
        "MMRecord fetch-first request whose local records are those of the last response → forge.answers(_:): the stored answer, the server's, and every change of the list or of a record in it"
    )
    func answersOfARequest() async throws {
        let api = try api(["/items": Self.three])
        var seen: [[String]] = []
        for try await answer in api.client.answers(Self.list) {
            seen.append(answer.records.map(\.title))
            if seen.count == 2 {
                try await api.client.store.write { _ = try $0.patch(Favourite.self, 2) { $0.set(.title, "B") } }
            }
            if seen.count == 3 { break }
        }
        #expect(seen == [[], ["a", "b", "c"], ["a", "B", "c"]])
    }

    @Test(
        "MMRecord NSFetchedResultsController and KVO on the main thread → ObservedRecords: records, error and isLoading as observable properties of an actor"
    )
    @MainActor func observedRecords() async throws {
        let api = try api(["/items": Self.three])
        let observed = ObservedRecords(api.client.answers(Self.list))
        #expect(observed.records.isEmpty && observed.isLoading)
        while observed.isLoading { try await Task.sleep(for: .milliseconds(2)) }
        #expect(observed.records.map(\.title) == ["a", "b", "c"] && observed.error == nil)
    }

    @Test(
        "MMRecord NSFetchedResultsController over its records → store.observe(_:): every change of a query's result, by whichever writer"
    )
    func observation() async throws {
        let api = try api(["/items": Self.three])
        var titles: [[String]] = []
        for try await change in api.client.store.observe(Favourite.order(by: \.title, .descending)) {
            titles.append(change.value.map(\.title))
            if titles.count == 1 { _ = try await api.client.all(Self.list) } else { break }
        }
        #expect(titles == [[], ["c", "b", "a"]])
    }
}
