// The traces of a pagination style in a store: the endpoint's fingerprint, the plan of a scan, and the position of its
// next page. The values are those of the release in which every style was a case of one enumeration: a store of that
// release must go on.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Pagination: what a store keeps", .timeLimit(.minutes(2)))
struct PaginationFingerprintTests {
    struct Row: Sendable, CustomTestStringConvertible {
        /// The lines of the endpoint after its path and entity.
        var endpoint: String
        /// Members of the first page beside its records, and header fields.
        var members = ""
        var fields: [String] = []
        var fingerprint: String
        var plan: String
        /// The position of the second page; nil if there is none.
        var position: String?
        var testDescription: String { endpoint }
    }

    static let rows: [Row] = [
        Row(
            endpoint: "paginate: single_page", fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f", position: nil),
        Row(
            endpoint: "paginate: header_link", fields: ["Link: </v1/items?page=2>; rel=next"],
            fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f",
            position: "https://api.test.example/v1/items?page=2"),
        Row(
            endpoint: "paginate: { header_link: { rel: older } }", fields: ["Link: </v1/items?page=2>; rel=older"],
            fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f",
            position: "https://api.test.example/v1/items?page=2"),
        Row(
            endpoint: "paginate: json_link", members: #""next":"/v1/items?page=2""#, fingerprint: "6014e1859036c84f",
            plan: "382f6b5a2051cc6c9e790fb6843c5fd67cea576b6de9e172e62a594fd06ea903",
            position: "https://api.test.example/v1/items?page=2"),
        Row(
            endpoint: "paginate: { json_link: { path: links.next } }",
            members: #""links":{"next":{"href":"?page=2"}}"#, fingerprint: "1833128f770484e6",
            plan: "7461d2d7e3543660fb8593a546cafe91bd3bc82a6a021d3aaaf0eae6e6aeb13a",
            position: "https://api.test.example/v1/items?page=2"),
        Row(
            endpoint: "paginate: { header_cursor: { field: X-Next, param: after } }", fields: ["X-Next: a=b"],
            fingerprint: "7a678b98c829c788",
            plan: "f3bfc04d1d0c668fdeb0a01a1bc6d213329139270f164eff5bb43368e3d97d32",
            position: "https://api.test.example/v1/items?after=a%3Db"),
        Row(
            endpoint: "paginate: { cursor: { path: meta.next, param: cursor } }", members: #""meta":{"next":"c1"}"#,
            fingerprint: "b5d2004bcddfdc3a",
            plan: "8ad1cebdaf77c16cb1d4e9abb9141fb4521b620e894f0d8c2bc94f631a40b042",
            position: "https://api.test.example/v1/items?cursor=c1"),
        Row(
            endpoint: "paginate: { cursor: { path: next, param: c, has_more: more, last: '0', end: empty } }",
            members: #""next":"c1","more":true"#, fingerprint: "0c286c1ca6432b96",
            plan: "a9d15757db233dd63239016a57eea84588d25c1839b6d2c406f61e200e618ab9",
            position: "https://api.test.example/v1/items?c=c1"),
        Row(
            endpoint: "body: { query: q }\n    paginate: { cursor: { path: next, body: variables.after } }",
            members: #""next":"c1""#, fingerprint: "b34723511536c040",
            plan: "ee01efe0fc68b6c6e53e9e321e09a89d41e6e49826402979fb6954150be206e4",
            position:
                #"{"json":"{\"query\":\"q\",\"variables\":{\"after\":\"c1\"}}","url":"https://api.test.example/v1/items"}"#
        ),
        Row(
            endpoint: "form: { q: a b }\n    paginate: { cursor: { path: next, body: cursor } }",
            members: #""next":"c1""#, fingerprint: "adaf5057d03f65ba",
            plan: "3c9580f6245786d00f61e40cc9298f9b1fd1d7579abb8d26277785118db1201f",
            position: #"{"form":[["q","a b"],["cursor","c1"]],"url":"https://api.test.example/v1/items"}"#),
        Row(
            endpoint: "paginate: { offset: { param: offset } }", fingerprint: "344bc31475d01dc8",
            plan: "217cc1134ca720af247034e1f7ee6842b413d8edd698896ba305cf016d4a5183",
            position: "https://api.test.example/v1/items?offset=2"),
        Row(
            endpoint:
                "paginate: { offset: { param: o, start: 1, per_page: { limit: 2 }, total: meta.total, has_more: more } }",
            members: #""meta":{"total":9},"more":true"#, fingerprint: "68dc96004424f6c7",
            plan: "ef2a95099b72f641409ed8dfe8277a04e44237347b7512ffab978c94a113e939",
            position: "https://api.test.example/v1/items?o=3&limit=2"),
        Row(
            endpoint: "paginate: { page_number: { param: page } }", fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f",
            position: "https://api.test.example/v1/items?page=2"),
        Row(
            endpoint:
                "paginate: { page_number: { param: p, start: 0, per_page: { n: 2 }, total_pages: pages, total: total } }",
            members: #""pages":4,"total":8"#, fingerprint: "cd20f4d45f2328a0",
            plan: "9a8c38bd491be909ff7cba9cdff6be3a4b5ac3c5d49d62db23d05d2d391b675e",
            position: "https://api.test.example/v1/items?p=1&n=2"),
        Row(
            endpoint: "method: POST\n    paginate: { page_number: { body: page.number, per_page: { page.size: 2 } } }",
            fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f",
            position: #"{"json":"{\"page\":{\"number\":2,\"size\":2}}","url":"https://api.test.example/v1/items"}"#),
        Row(
            endpoint: "paginate: { max_id: { param: max_id, per_page: { count: 2 }, includes_named: true } }",
            fingerprint: "e84ba678a3eb2dff",
            plan: "55a16d78413190c1955ce667997fb525d684e772e694ed10f8a801d1d3410a5a",
            position: #"{"last":"9","pages":1,"records":2,"url":"https://api.test.example/v1/items?count=2&max_id=7"}"#),
        Row(
            endpoint: "paginate: { since_id: { param: since, id: name } }", fingerprint: "e6968367d9a7dcda",
            plan: "3fcfb95b9738efd2debef6efddae7c5acdff9eeb3f450428e5fc2574ce2bbe38",
            position: #"{"last":"b","pages":1,"records":2,"url":"https://api.test.example/v1/items?since=b"}"#),
        Row(
            endpoint: "paginate: auto", members: #""next_cursor":"c1""#, fingerprint: "35be4cbd508b78a1",
            plan: "31e2e76680e076955a299a24c8fc0a674218c234ad65d3bc6c95b4206649633f",
            position: "https://api.test.example/v1/items?cursor=c1"),
        Row(
            endpoint:
                "paginate: { page_number: { param: page } }\n    restart: { param: since, field: name, pages: 1 }",
            fingerprint: "e6968367d9a7dcda",
            plan: "3fcfb95b9738efd2debef6efddae7c5acdff9eeb3f450428e5fc2574ce2bbe38",
            position:
                #"{"after":"b","last":"b","pages":0,"records":0,"url":"https://api.test.example/v1/items?page=1&since=b"}"#
        ),
        Row(
            endpoint:
                "paginate: { offset: { param: o, total: total } }\n    restart: { param: since, field: id, status: 422 }",
            members: #""total":9"#, fingerprint: "a310dc2568b13eed",
            plan: "fbf6a28b7597d0a9e630d83d3c0b9dfecc2f963cd099ae583540907aac5d52bc",
            position: #"{"last":"9","pages":1,"records":2,"url":"https://api.test.example/v1/items?o=2"}"#),
    ]

    @Test(
        "the fingerprint of an endpoint, the plan of its scan and the position of a page are those of earlier releases",
        arguments: rows)
    func stored(_ row: Row) async throws {
        let store = try MirrorStore(yaml: itemsYAML("\(row.endpoint)\n    records: items"))
        let checkpoint = try await Self.interrupted(store, row.members, row.fields)
        let fingerprint = store.description.fingerprint(of: store.description.endpoints[0])
        #expect(fingerprint == row.fingerprint)
        #expect(checkpoint.plan == row.plan)
        #expect(checkpoint.nextURL == row.position)
    }

    @Test("a style of code is known by what it reads, as it was")
    func custom() async throws {
        var store = try MirrorStore(yaml: itemsYAML("records: items"))
        store.description.endpoints[0].pagination = .custom(
            name: "weeks", wants: PageWants(values: ["week"], record: "id", fields: ["X-Week"])
        ) {
            _, _, _ in
            .next("?week=8")
        }
        let checkpoint = try await Self.interrupted(store, #""week":7"#, [])
        let fingerprint = store.description.fingerprint(of: store.description.endpoints[0])
        #expect(fingerprint == "31b83acd4bb30bf2")
        #expect(checkpoint.plan == "541006c28ef7e1787f5498aa2a96dbda7e929b42e91790997339cdae3104d5b3")
        #expect(
            checkpoint.nextURL
                == #"{"last":"9","pages":1,"records":2,"url":"https://api.test.example/v1/items?week=8"}"#)
    }

    /// The checkpoint of a sync whose server fails at the second page.
    private static func interrupted(_ store: MirrorStore, _ members: String, _ fields: [String]) async throws
        -> Checkpoint
    {
        let requests = Atomic(0)
        let server = try ScriptedServer { _ in
            guard requests.add(1, ordering: .relaxed).oldValue == 0 else { return .init(status: "500 No") }
            return .init(
                fields: fields,
                body: #"{"items":[{"id":8,"name":"a"},{"id":9,"name":"b"}]"# + (members.isEmpty ? "}" : ",\(members)}"))
        }
        _ = try await store.sync(server.base + "/v1")
        return try #require(try store.checkpoint("items"))
    }
}
