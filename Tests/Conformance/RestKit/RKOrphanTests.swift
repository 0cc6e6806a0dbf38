// The orphan rules of RestKit.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("From RestKit: orphans", .timeLimit(.minutes(2)))
struct RKOrphanTests {
    @Record struct Node: Equatable {
        @Key var id: Int
        var isPinned: Bool?
        var next: Reference<Node>?
    }

    private static let list =
        #"[{"id": 1, "next": {"id": 2}}, {"id": 2, "next": {"id": 1}}, {"id": 3, "is_pinned": true}]"#

    private func api(_ body: String = list) throws -> APIFixture {
        try APIFixture(["/nodes": body]) {
            try RecordClient(base: $0, records: Node.self, store: $1) { $0.api.retry = .never }
        }
    }

    private func sync(_ api: APIFixture, _ orphans: Orphans) async throws -> SyncReport {
        var description = api.client.client.description
        var endpoint = Endpoint(name: "nodes", path: "/nodes", entity: "Node", pagination: .headerLink())
        endpoint.orphans = orphans
        description.endpoints = [endpoint]
        return try await APIMirror(
            description, store: api.client.store, transport: CurlTransport(description.api.transport)
        ).sync()
    }

    private func ids(_ api: APIFixture) throws -> [Int] { try api.fetch(Node.all).map(\.id) }

    @Test(
        "RKObjectManager -addFetchRequestBlock: (the objects that a URL owns) → Orphans(.listed): the response itself knows what it listed; no block is written"
    )
    func deletion() async throws {
        let api = try api()
        _ = try await sync(api, Orphans(scans: 1))
        api.answer("/nodes", #"[{"id": 3, "is_pinned": true}]"#)
        #expect(try await sync(api, Orphans(scans: 1)).orphans?.deleted == 2)
        #expect(try ids(api) == [3])
    }

    @Test(
        "RestKit testThanAnEmptyResponseTriggersDeletionOfOrphanedObjects → Orphans(allowsEmpty:): an empty list deletes only if that is declared"
    )
    func emptyResponse() async throws {
        let api = try api()
        for (body, allowsEmpty, left) in [(Self.list, false, 3), ("[]", false, 3), ("[]", true, 0)] {
            api.answer("/nodes", body)
            _ = try await sync(api, Orphans(scans: 1, allowsEmpty: allowsEmpty))
            #expect(try ids(api).count == left)
        }
    }

    @Test(
        "RestKit testThatErrorStatusCode… and testThatCorruptedBodyDoesNotTriggerDeletionOfOrphanedObjects → Orphans: a failure, or a body that is not JSON, deletes nothing",
        arguments: [
            ("", "500 Internal Server Error"), ("", "404 Not Found"), ("[{", "200 OK"), (#"{"error": 1}"#, "200 OK"),
        ])
    func failures(_ body: String, _ status: String) async throws {
        let api = try api()
        _ = try await sync(api, Orphans(scans: 1))
        api.answer("/nodes", body, status: status)
        _ = try await sync(api, Orphans(scans: 1))
        #expect(try ids(api) == [1, 2, 3])
    }

    // "Seen" was what had changed: after an answer without changes everything was an orphan.
    @Test(
        "RestKit testThatNestedObjects…AreNotInappropriatelyDeletedAsOrphans and 304 → Orphans: what a response lists counts, changed or not"
    )
    func unchanged() async throws {
        let api = try api()
        api.answer("/nodes", Self.list, #"ETag: "1""#)
        for _ in 0..<3 { #expect(try await sync(api, Orphans(scans: 1)).orphans?.deleted ?? 0 == 0) }
        #expect(try ids(api) == [1, 2, 3])
    }

    @Test(
        "RestKit testThatDeletionOfOrphanedObjectsCanBeSuppressedByPredicate (shouldDeleteOrphanedObjectBlock) → Orphans(keep:): a condition that keeps records"
    )
    func keeping() async throws {
        let api = try api()
        _ = try await sync(api, Orphans(scans: 1))
        api.answer("/nodes", #"[{"id": 1}]"#)
        _ = try await sync(api, Orphans(scans: 1, keep: .compare("isPinned", .equal, .bool(true))))
        #expect(try ids(api) == [1, 3])
    }

    @Test(
        "RestKit testDeletionOfOrphanedObjectsMappedWithCyclicRelationship → Orphans: records that refer to each other are orphans like others"
    )
    func cycles() async throws {
        let api = try api()
        _ = try await sync(api, Orphans(scans: 1))
        api.answer("/nodes", #"[{"id": 3}]"#)
        _ = try await sync(api, Orphans(scans: 1))
        #expect(try ids(api) == [3])
    }

    @Test(
        "RestKit deletesOrphanedObjects of a GET request → RecordRequest.removingOrphans(_:where:): the same for one request of a program"
    )
    func ofARequest() async throws {
        let api = try api(), request = RecordRequest<Node>.get("/nodes").removingOrphans(Orphans(scans: 1))
        _ = try await api.client.all(request)
        api.answer("/nodes", #"[{"id": 1}]"#)
        _ = try await api.client.all(request)
        #expect(try ids(api) == [1])
    }

    @Record struct Leaf: Equatable, DetailedRecord {
        @Key var id: Int
        var text: String?
        static let detail = RecordRequest<Leaf>.get("/leaves/{id}")
    }

    @Test(
        "RKObjectManager -getObject:path: that is answered with 404 or 410 → forge.detail(of:deletingGone:): the stored record is deleted, and the error is thrown all the same"
    )
    func gone() async throws {
        let api = try APIFixture(["/leaves/1": #"{"id": 1, "text": "new"}"#]) {
            try RecordClient(base: $0, records: Leaf.self, store: $1) { $0.api.retry = .never }
        }
        try await api.client.store.write { writer in
            for id in 1...3 { try writer.put(Leaf(id: id)) }
        }
        #expect(try await api.client.detail(of: Leaf(id: 1)).text == "new")
        await #expect(throws: CacheError.self) { _ = try await api.client.detail(of: Leaf(id: 2), deletingGone: true) }
        await #expect(throws: CacheError.self) { _ = try await api.client.detail(of: Leaf(id: 3)) }
        #expect(try api.fetch(Leaf.all).map(\.id) == [1, 3])
    }

    // A page that shifted while it was read lost records; they came back with the next request.
    @Test("RestKit orphans of paged lists → Orphans(scans: 2): a record goes when two complete scans in a row miss it")
    func twoScans() async throws {
        let api = try api()
        _ = try await sync(api, Orphans())
        api.answer("/nodes", #"[{"id": 1}, {"id": 2}]"#)
        #expect(try await sync(api, Orphans()).orphans?.deleted == 0)
        #expect(try ids(api) == [1, 2, 3])
        #expect(try await sync(api, Orphans()).orphans?.deleted == 1)
        #expect(try ids(api) == [1, 2])
    }

    @Test(
        "RestKit testDeletionOfObjectWith404ResponseTriggersObjectDeletion → Orphans(check:): a record whose own request is answered with 404 or 410 is deleted at once; others stay"
    )
    func check() async throws {
        let api = try api()
        _ = try await sync(api, Orphans(check: "/nodes/{node.id}"))
        api.answer("/nodes", #"[{"id": 1}]"#)
        api.answer("/nodes/3", #"{"id": 3}"#)
        #expect(try await sync(api, Orphans(check: "/nodes/{node.id}")).orphans?.deleted == 1)
        #expect(try ids(api) == [1, 3])
    }
}
