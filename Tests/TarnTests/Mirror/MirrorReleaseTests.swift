// A mirror and its transport end when the program drops them.

import Foundation
import Tarn
import TarnDescription
import TestSupport
import Testing

@Suite("Mirror: release of its transport")
struct MirrorReleaseTests {
    private static let yaml = """
        api: { base: 'https://api.example.org/v1' }
        entities:
          Item: { key: id, attributes: { id: int, name: string } }
        endpoints:
          items: { path: /items, entity: Item, paginate: header_link }
        """

    private static func answer(_ path: String, _ head: String, _ body: String) -> String {
        "GET /v1\(path)\nHTTP/1.1 \(head)\n\n\(body)"
    }

    private static let cases: [(name: String, answers: [String])] = [
        ("a complete sync", [answer("/items", "200 OK", #"[{"id":1,"name":"a"}]"#)]),
        (
            "pages",
            [
                answer("/items", "200 OK\nLink: </v1/items2>; rel=next", #"[{"id":1,"name":"a"}]"#),
                answer("/items2", "200 OK", #"[{"id":2,"name":"a"}]"#),
            ]
        ),
        ("a refusal", [answer("/items", "404 Not Found", "{}")]),
        ("a body that is no JSON", [answer("/items", "200 OK", "[{")]),
        (
            "a redirect",
            [
                answer("/items", "302 Found\nLocation: /v1/there", ""),
                answer("/there", "200 OK", #"[{"id":1,"name":"a"}]"#),
            ]
        ),
        ("an answer that is tried again", [answer("/items", "503 No", "{}")]),
    ]

    @Test("a transport is released with its mirror, whatever the server answered", arguments: cases.map(\.name))
    func released(_ name: String) async throws {
        let row = try #require(Self.cases.first { $0.name == name })
        let server = try LocalServer(row.answers), store = try MirrorStore(yaml: Self.yaml)
        weak var released: CurlTransport?
        do {
            let transport = CurlTransport()
            released = transport
            var options = SyncOptions()
            options.base = server.base + "/v1"
            options.retry = RetryPolicy(attempts: 2)
            let mirror = try APIMirror(
                store.description, store: store.open(), transport: transport, client: options.client,
                options: options.mirror)
            _ = await mirror.sync()
        }
        try await eventually { released == nil }
    }
}
