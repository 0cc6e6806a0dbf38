// Header fields of the API that change between two syncs.

import Foundation
import Tarn
import TarnDescription
import Testing

@Suite("Mirror: other header fields of the API", .timeLimit(.minutes(2)))
struct MirrorHeaderTests {
    private static func yaml(_ api: String, _ endpoint: String) -> String {
        """
        api: { base: https://api.test.example\(api) }
        entities:
          Box: { key: id, attributes: { id: int } }
          Item: { key: id, attributes: { id: int, at: int, name: string } }
        endpoints:
          boxes: { path: /boxes, entity: Box, paginate: single_page }
          items: { path: \(endpoint), entity: Item, paginate: single_page }
        """
    }

    /// Answers in the language of the request. The validator, a date, does not depend on it.
    private static let transport = ClosureTransport { request in
        let date = "Thu, 01 Jan 2026 00:00:00 GMT"
        let headers = TransportHeaders([.init("Last-Modified", date), .init("Date", "Fri, 02 Jan 2026 00:00:00 GMT")])
        if request.headers["If-Modified-Since"] == date { return TransportResponse(status: 304, headers: headers) }
        let language = request.headers["Accept-Language"] ?? "none"
        let since = QueryParameters.values(in: request.url).first { $0.name == "since" }.flatMap { Int($0.value) } ?? 0
        let items = [1, 2].filter { $0 >= since }.map { #"{"id":\#($0),"at":\#($0),"name":"\#(language) \#($0)"}"# }
        let body =
            request.url.contains("/boxes?") || request.url.hasSuffix("/boxes")
            ? #"{"id":1}"# : items.joined(separator: ",")
        return TransportResponse(status: 200, headers: headers, body: Array("[\(body)]".utf8))
    }

    @Test(
        "records are imported anew in the language of the description, and not again after that",
        arguments: [
            "/items", "'/boxes/{box.id}/items', for_each: Box", "/items, since: { param: since, field: at }",
            "'/boxes/{box.id}/items', for_each: Box, since: { param: since, field: at }",
        ])
    func language(endpoint: String) async throws {
        var store = try MirrorStore(yaml: Self.yaml("", endpoint))
        let path = store.path
        for (language, isOther) in [("none", true), ("de", true), ("de", false), ("en", true), ("none", true)] {
            let api = language == "none" ? "" : ", headers: { User-Agent: \(UUID()), Accept-Language: \(language) }"
            store.description = try Description.parse(Self.yaml(api, endpoint), file: "tarn.yaml")
            store.description.storePath = path
            let report = try await store.sync(nil, transport: Self.transport)
            #expect(report.failures.isEmpty, "\(report.texts)")
            let names = try [1, 2].map { try store.record("Item", $0)["name"] }
            #expect(names == [.string("\(language) 1"), .string("\(language) 2")])
            #expect((report.endpoint("items")?.notModified == 0) == (isOther || endpoint.contains("since")))
        }
    }

    @Test("a list that was requested in the other language is not void again when the next one is requested")
    func onceForEachList() async throws {
        let endpoint = "'/boxes/{box.id}/items', for_each: Box"
        var store = try MirrorStore(yaml: Self.yaml("", endpoint))
        let transport = ClosureTransport { request in
            guard request.url.hasSuffix("/boxes") else { return try await Self.transport.send(request) }
            return TransportResponse(status: 200, body: Array(#"[{"id":1},{"id":2}]"#.utf8))
        }
        let path = store.path
        _ = try await store.sync(nil, transport: transport)
        store.description = try Description.parse(
            Self.yaml(", headers: { Accept-Language: de }", endpoint), file: "tarn.yaml")
        store.description.storePath = path
        var counts: [Int?] = []
        let syncs: [(minutes: Double, limit: Int?)] = [(1, 1), (2, 1), (3, nil)]
        for (minutes, limit) in syncs {
            let report = try await store.sync(nil, transport: transport, names: ["items"]) { options in
                options.limit = limit
                options.time.now = { Date() + minutes * 60 }
            }
            #expect(report.failures.isEmpty, "\(report.texts)")
            counts.append(report.endpoint("items")?.notModified)
        }
        #expect(counts == [0, 0, 2])
    }

    @Test("a dry run with other header fields leaves the stored responses valid")
    func dryRun() async throws {
        var store = try MirrorStore(yaml: Self.yaml("", "/items"))
        let first = store.description
        _ = try await store.sync(nil, transport: Self.transport)
        store.description = try Description.parse(
            Self.yaml(", headers: { Accept-Language: de }", "/items"), file: "tarn.yaml")
        store.description.storePath = first.storePath
        let dry = try await store.sync(nil, transport: Self.transport) { $0.isDryRun = true }
        #expect(dry.failures.isEmpty, "\(dry.texts)")
        store.description = first
        #expect(try await store.sync(nil, transport: Self.transport).endpoint("items")?.notModified == 1)
    }
}
