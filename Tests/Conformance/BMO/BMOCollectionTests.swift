// The paginators and the collection loader of BMO.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From BMO: paginators and collection loader", .timeLimit(.minutes(2)))
struct BMOCollectionTests {
    private typealias Photo = Gallery.Photo

    private func api(_ bodies: [String: String] = [:]) throws -> APIFixture { try APIFixture(bodies, Gallery.client) }

    private static func photos(_ pagination: Pagination) -> RecordRequest<Photo> {
        .get("/photos", pagination: pagination)
    }

    @Test(
        "BMO RESTOffsetLimitPaginator(offsetKey:limitKey:) → Pagination.offset(_:size:): the next page begins behind the records that the server returned"
    )
    func offsets() async throws {
        let api = try api([
            "/photos?offset=0&limit=2": Gallery.photos(1...2), "/photos?offset=2&limit=2": Gallery.photos(3...3),
        ])
        let request = Self.photos(.offset(.query("offset"), size: .init(.query("limit"), 2)))
        #expect(try await api.client.all(request).map(\.id) == [1, 2, 3])
        #expect(api.server.targets.count == 2)
    }

    @Test(
        "BMO RESTOffsetLimitPaginator with (pageNumber:numberOfElementsPerPage:) → Pagination.pageNumber(_:start:size:): numbered pages, from 0 or 1"
    )
    func pageNumbers() async throws {
        let api = try api([
            "/photos?page=0&per_page=2": Gallery.photos(1...2), "/photos?page=1&per_page=2": Gallery.photos(3...4),
            "/photos?page=2&per_page=2": "[]",
        ])
        let request = Self.photos(.pageNumber(.query("page"), start: 0, size: .init(.query("per_page"), 2)))
        #expect(try await api.client.all(request).map(\.id) == [1, 2, 3, 4])
    }

    @Test(
        "BMO RESTMaxIdPaginator(maxReachedIdKey:countKey:) → Pagination.recordCursor(_:sends:size:): the next request names the last record of the page"
    )
    func maxID() async throws {
        let api = try api([
            "/photos?count=2": #"[{"id": 9}, {"id": 8}]"#, "/photos?count=2&max_id=8": #"[{"id": 7}]"#,
            "/photos?max_id=8&count=2": #"[{"id": 7}]"#, "/photos?max_id=7&count=2": "[]",
            "/photos?count=2&max_id=7": "[]",
        ])
        let request = Self.photos(.recordCursor(.backward, sends: .query("max_id"), size: .init(.query("count"), 2)))
        #expect(try await api.client.all(request).map(\.id) == [9, 8, 7])
    }

    // A link that is not valid is skipped, as the lax parser did for GitHub's.
    @Test(
        "BMO RESTURLAndCountPaginator and LinkHeaderParser(lax:) → Pagination.headerLink(relation:): the URL of the next page is in the Link field"
    )
    func links() async throws {
        let api = try api(["/photos?after=x": Gallery.photos(2...2)])
        api.answer(
            "/photos", Gallery.photos(1...1),
            #"Link: <{base}/photos{?since}>; rel="first", <{base}/photos?after=x>; rel="next""#)
        #expect(try await api.client.all(Self.photos(.headerLink())).map(\.id) == [1, 2])
    }

    @Test(
        "BMO CollectionLoader.loadFirstPage(), loadNextPage(), hasMore → forge.page(_:), forge.page(_:at:), ResponsePage.next: a page at a time; nil after the last"
    )
    func pages() async throws {
        let api = try api([
            "/photos?page=1": Gallery.photos(1...2), "/photos?page=2": Gallery.photos(3...3), "/photos?page=3": "[]",
        ])
        let request = Self.photos(.pageNumber(.query("page")))
        let first = try await api.client.page(request)
        let second = try await api.client.page(request, at: first.next)
        #expect(first.next != nil && second.next != nil)
        #expect(first.records.map(\.id) == [1, 2] && second.records.map(\.id) == [3])
        #expect(try await api.client.page(request, at: second.next).next == nil)
    }

    // After a previous page, the next one was that page again.
    @Test(
        "BMO CollectionLoader.loadPreviousPage() → Pagination.headerLink(relation: \"prev\"): the pages before, as a request of their own"
    )
    func previousPages() async throws {
        let api = try api()
        api.answer("/photos?page=2", Gallery.photos(3...4), #"Link: <{base}/photos?page=1>; rel="prev""#)
        api.answer("/photos?page=1", Gallery.photos(1...2), #"Link: <{base}/photos?page=2>; rel="next""#)
        let request = RecordRequest<Photo>.get("/photos", ["page": "2"], pagination: .headerLink(relation: "prev"))
        var pages: [[Int]] = []
        for try await page in api.client.pages(request) { pages.append(page.records.map(\.id)) }
        #expect(pages == [[3, 4], [1, 2]])
    }

    @Test(
        "BMO CollectionLoader LastPageDetectionMethod → Pagination.End, hasMore, total: a short page, an empty one, a flag or a total is the end",
        arguments: [
            (Pagination.offset(.query("o"), size: .init(.query("n"), 2)), 2),
            (.offset(.query("o"), size: .init(.query("n"), 2), end: .empty), 3),
        ])
    func lastPages(_ pagination: Pagination, _ requests: Int) async throws {
        let api = try api([
            "/photos?o=0&n=2": Gallery.photos(1...2), "/photos?o=2&n=2": Gallery.photos(3...3), "/photos?o=3&n=2": "[]",
        ])
        #expect(try await api.client.all(Self.photos(pagination)).map(\.id) == [1, 2, 3])
        #expect(api.server.targets.count == requests)
    }

    @Test(
        "BMO CollectionLoader.lastLoadError and dateLastSuccessfulLoad → ResponsePage.failure and age: a page from the store says why the server did not answer, and how old it is"
    )
    func staleness() async throws {
        let api = try api(["/photos": Gallery.photos(1...2)])
        let request = Self.photos(.headerLink())
        #expect(try await api.client.page(request).failure == nil)
        api.answer("/photos", "", status: "503 Service Unavailable")
        let page = try await api.client.page(request)
        #expect(page.source == .stale && page.failure != nil && page.age < 60 && page.records.count == 2)
    }

    @Test(
        "BMO CollectionLoader isLoadingFirstPage, dateLastSuccessfulLoad, lastLoadError for a whole list → forge.status(of:): its progress, its age and its last failure, from the store, so also for other processes"
    )
    func status() async throws {
        let api = try api([
            "/photos?page=1": Gallery.photos(1...2), "/photos?page=2": Gallery.photos(3...3), "/photos?page=3": "[]",
        ])
        let request = Self.photos(.pageNumber(.query("page")))
        _ = try await api.client.page(request)
        #expect(try await api.client.status(of: request).unfinished?.pages == 1)
        _ = try await api.client.all(request)
        let complete = try await api.client.status(of: request)
        #expect(complete.completedAt != nil && complete.unfinished == nil && complete.failure == nil)
        await #expect(throws: CacheError.self) { _ = try await api.client.one(.photo(7)) }
        let other = try Gallery.client(api.server.base, api.folder("api.tarn"))
        #expect(try await other.status(of: .photo(7)).failure?.message.contains("404") == true)
    }

    @Test(
        "BMO 2 CollectionLoader ConcurrentLoadBehavior.skipSame → RecordClient: concurrent requests for one page share one transfer"
    )
    func shared() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { _ in
            gate.wait()
            return .init(fields: ["Cache-Control: max-age=60"], body: Gallery.photos(1...2))
        }
        let folder = try TemporaryFolder()
        let client = try Gallery.client(server.base, folder("s.tarn"))
        let request = Self.photos(.headerLink())
        let tasks = (0..<4).map { _ in Task { try await client.all(request).count } }
        try await gate.reached()
        for _ in tasks { gate.open() }
        for task in tasks { #expect(try await task.value == 2) }
        #expect(server.targets.count == 1)
    }

    /// Scans the photos of a description with rules for orphans.
    private func sync(_ api: APIFixture, _ endpoints: Endpoint..., mayDelete: (@Sendable (Record) -> Bool)? = nil)
        async throws -> SyncReport
    {
        var description = api.client.client.description
        description.endpoints = endpoints
        var options = APIMirror.Options()
        options.mayDelete = mayDelete
        return try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport), options: options
        ).sync()
    }

    private static func endpoint(_ orphans: Orphans) -> Endpoint {
        var endpoint = Endpoint(
            name: "photos", path: "/photos", entity: "Photo", pagination: .pageNumber(.query("page")))
        endpoint.orphans = orphans
        return endpoint
    }

    // The first page alone decided, before the others were known; an empty one removed everything.
    @Test(
        "BMO CollectionLoader stale deletion after the first page, with canDeleteObjectIdHandler → Orphans and APIMirror.Options.mayDelete: only a complete list decides, in the transaction of its end"
    )
    func staleDeletion() async throws {
        let api = try api([
            "/photos?page=1": Gallery.photos(1...3), "/photos?page=2": Gallery.photos(4...5), "/photos?page=3": "[]",
        ])
        let endpoint = Self.endpoint(Orphans(.listed, scans: 1))
        #expect(try await sync(api, endpoint).failures.isEmpty)
        // The second page fails: what it listed is no orphan, and neither is 1.
        api.answer("/photos?page=1", Gallery.photos(2...3))
        api.answer("/photos?page=2", "", status: "500 Internal Server Error")
        #expect(try await sync(api, endpoint).orphans?.deleted ?? 0 == 0)
        #expect(try api.count("Photo") == 5)
        api.answer("/photos?page=2", Gallery.photos(5...5))
        // The scan goes on at the second page: a record may have moved to the first one meanwhile.
        #expect(try await sync(api, endpoint).orphans?.deleted ?? 0 == 0)
        let report = try await sync(api, endpoint) { $0.key != RecordKey(4) }
        #expect(report.orphans?.deleted == 1)
        #expect(try api.fetch(Photo.all).map(\.id) == [2, 3, 4, 5])
        for page in 1...2 { api.answer("/photos?page=\(page)", "[]") }
        #expect(try await sync(api, endpoint).orphans?.deleted ?? 0 == 0)
        #expect(try api.count("Photo") == 4)
    }

    @Test(
        "BMO CollectionLoader stale deletion of one loader → RecordRequest.removingOrphans(_:where:): for a request of a program; a loop that is left before the last page deletes nothing"
    )
    func staleDeletionOfARequest() async throws {
        let api = try api([
            "/photos?page=1": Gallery.photos(1...2), "/photos?page=2": Gallery.photos(3...4), "/photos?page=3": "[]",
        ])
        let request = Self.photos(.pageNumber(.query("page"))).removingOrphans(Orphans(scans: 1))
        _ = try await api.client.all(request)
        api.answer("/photos?page=1", Gallery.photos(2...2))
        api.answer("/photos?page=2", Gallery.photos(4...4))
        for try await page in api.client.pages(request) where page.next != nil { break }
        #expect(try api.count("Photo") == 4)
        _ = try await api.client.all(request)
        #expect(try api.fetch(Photo.all).map(\.id) == [2, 4])
    }

    // A record that came back had to be resurrected by the mapping.
    @Test(
        "BMO CollectionLoader deletionDateProperty (soft deletion) → RecordRequest.markingOrphans(_:_:): sets an attribute of what a complete list lacks; the record stays"
    )
    func marking() async throws {
        let api = try api(["/photos": Gallery.photos(1...3)])
        let request = Self.photos(.headerLink())
            .editing { _, json in json["hidden"] = .bool(false) }
            .markingOrphans(Orphans(scans: 1)) { $0.set(.isHidden, true) }
        _ = try await api.client.all(request)
        api.answer("/photos", Gallery.photos(2...3))
        _ = try await api.client.all(request)
        #expect(try api.fetch(Photo.where { $0.isHidden == true }).map(\.id) == [1])
        api.answer("/photos", Gallery.photos(1...3))
        _ = try await api.client.all(request)
        #expect(try api.fetch(Photo.where { $0.isHidden == true }).isEmpty)
    }

    @Test(
        "BMO CollectionLoader apiOrderProperty → @Attribute(from: \"@position\"): the position in the whole list, over all of its pages"
    )
    func positions() async throws {
        let api = try api([
            "/photos?page=1": #"[{"id": 7}, {"id": 3}]"#, "/photos?page=2": #"[{"id": 5}]"#, "/photos?page=3": "[]",
        ])
        _ = try await api.client.all(Self.photos(.pageNumber(.query("page"))))
        #expect(try api.fetch(Photo.order(by: \.place)).map(\.id) == [7, 3, 5])
    }

    @Test(
        "BMO list-element loader that unlinks stale members → Orphans(.owner, action: .unlink): the reference to the parent is cleared, the record stays"
    )
    func unlinking() async throws {
        let api = try api(["/users": #"[{"id": 5, "name": "Ida"}]"#, "/users/5/photos": Gallery.photos(1...2)])
        let users = Endpoint(name: "users", path: "/users", entity: "User", pagination: .headerLink())
        var photos = Endpoint(
            name: "photos", path: "/users/{user.id}/photos", entity: "Photo", pagination: .headerLink())
        photos.forEach = Endpoint.ForEach(entity: "User", parent: "owner", variable: "user")
        photos.orphans = Orphans(.owner, scans: 1, action: .unlink)
        #expect(try await sync(api, users, photos).failures.isEmpty)
        api.answer("/users/5/photos", Gallery.photos(2...2))
        #expect(try await sync(api, users, photos).orphans?.unlinked == 1)
        #expect(try api.fetch(Photo.where { $0.owner == nil }).map(\.id) == [1])
        #expect(try api.fetch(Photo.where { $0.owner == 5 }).map(\.id) == [2])
    }

    @Test(
        "BMO fetched results of a loader → store.observe(_:): the list after each change, newest first or in the order of the API"
    )
    func observing() async throws {
        let api = try api(["/photos": Gallery.photos(1...2)])
        var counts: [Int] = []
        for try await change in api.client.store.observe(Photo.order(by: \.id, .descending)) {
            counts.append(change.value.count)
            if counts.count == 1 { _ = try await api.client.all(Self.photos(.headerLink())) } else { break }
        }
        #expect(counts == [0, 2])
    }
}
