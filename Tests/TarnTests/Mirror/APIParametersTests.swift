// Parameters and header fields that an API or an endpoint declares for all of its requests.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tarn

@Suite("Parameters of an API, header fields of an endpoint", .timeLimit(.minutes(5)))
struct APIParametersTests {
    private static func yaml(_ endpoint: String, api: String = "", follow: String = "") -> String {
        """
        api:
          base: 'https://api.test.example/v1'
          parameters: { per_page: 2, format: json, version: [a, b] }
          headers: { Accept: application/json, X-App: tarn }
        \(api)
        entities:
          Box: { key: id, attributes: { id: int } }
          Item: { key: id, attributes: { id: int } }
        endpoints:
          items: \(endpoint)
        """
    }

    /// Answers every path with one item, and a second page under `next`.
    private static func server(_ next: (@Sendable (String) -> String)? = nil) throws -> ScriptedServer {
        try ScriptedServer { request in
            let host = "http://" + (request.field("Host") ?? "")
            if let next, !request.target.contains("?page=2") {
                return .init(fields: ["Link: <\(next(host))>; rel=\"next\"", "ETag: \"x\""], body: #"[{"id":1}]"#)
            }
            return .tagged("y", request, #"[{"id":2}]"#)
        }
    }

    @Test(
        "they are sent with the first page of an endpoint, fill its path, and give way to its own",
        arguments: [
            ("{ path: /items, entity: Item }", "/v1/items?per_page=2&format=json&version=a&version=b"),
            (
                "{ path: /items, entity: Item, with: { state: all, per_page: 100 } }",
                "/v1/items?state=all&per_page=100&format=json&version=a&version=b"
            ),
            ("{ path: '/items.{format}', entity: Item }", "/v1/items.json?per_page=2&version=a&version=b"),
            (
                "{ path: '/items.{format}', entity: Item, with: { format: xml, version: c } }",
                "/v1/items.xml?version=c&per_page=2"
            ),
        ])
    func sent(_ endpoint: String, _ target: String) async throws {
        let server = try Self.server(), store = try MirrorStore(yaml: Self.yaml(endpoint))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.targets == [target])
        let keys = try store.read { reader in
            var urls: [String] = []
            try reader.access.responses.forEach { view in
                urls.append(view.url)
                return true
            }
            return urls
        }
        #expect(keys == ["https://api.test.example" + target])
    }

    @Test("links are followed as they are, and neither parameters nor header fields reach another server")
    func links() async throws {
        let other = try Self.server()
        let otherBase = other.base
        let server = try Self.server { _ in otherBase + "/v1/items?page=2" }
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ path: /items, entity: Item, paginate: header_link, headers: { X-Part: one } }",
                api: "  follow: ['\(otherBase)']"))
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.requests.map { $0.field("X-Part") } == ["one"])
        #expect(other.targets == ["/v1/items?page=2"])
        #expect(other.requests.allSatisfy { $0.field("X-Part") == nil && $0.field("X-App") == nil })
    }

    @Test("a cache sends them, and a request's own parameters win")
    func cache() async throws {
        let server = try Self.server(), fixture = try CacheFixture(yaml: Self.yaml("{ path: /items, entity: Item }"))
        let cache = try fixture.cache(server.base + "/v1")
        _ = try await cache.fetch(CacheRequest("items"))
        _ = try await cache.fetch(CacheRequest("items", parameters: [.init("per_page", "9")]))
        #expect(
            server.targets == [
                "/v1/items?per_page=2&format=json&version=a&version=b",
                "/v1/items?per_page=9&format=json&version=a&version=b",
            ])
        // Off line, both are answered from the store.
        let offline = try fixture.cache(CacheFixture.nobody())
        #expect(try await offline.fetch(CacheRequest("items")).listed.count == 1)
        #expect(try await offline.fetch(CacheRequest("items", parameters: [.init("per_page", "9")])).listed.count == 1)
    }

    @Test("a request for an orphan has them, too")
    func orphans() async throws {
        let isGone = Locked(false)
        let server = try ScriptedServer { request in
            if request.target.hasPrefix("/v1/items/") { return .init(status: "404 Not Found") }
            return .init(body: isGone.value ? #"[{"id":2}]"# : #"[{"id":1},{"id":2}]"#)
        }
        let store = try MirrorStore(
            yaml: Self.yaml(
                "{ path: /items, entity: Item, headers: { X-Part: one }, orphans: { after: two_scans, check: '/items/{item.id}.{format}' } }"
            ))
        try await store.sync(server.base + "/v1")
        isGone.value = true
        let report = try await store.sync(server.base + "/v1")
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(server.targets.last == "/v1/items/1.json?per_page=2&version=a&version=b")
        #expect(server.requests.last?.field("X-Part") == "one")
        #expect(try store.items() == [2])
    }

    @Test("header fields of an endpoint replace those of the API, and other values are another stored response")
    func headers() async throws {
        let server = try Self.server()
        var store = try MirrorStore(
            yaml: Self.yaml("{ path: /items, entity: Item, headers: { accept: text/json, X-Part: one } }"))
        #expect(try await store.sync(server.base + "/v1").texts == [])
        let first = try #require(server.requests.first)
        #expect(
            first.field("Accept") == "text/json" && first.field("X-Part") == "one" && first.field("X-App") == "tarn")
        try await store.sync(server.base + "/v1")
        #expect(server.requests.last?.hasTag("y") == true)
        // Another value: the stored response is not confirmed.
        store.description.endpoints[0].headers[1].value = "two"
        try await store.sync(server.base + "/v1")
        #expect(server.requests.last?.field("X-Part") == "two" && server.requests.last?.field("If-None-Match") == nil)
        try await store.sync(server.base + "/v1")
        #expect(server.requests.last?.hasTag("y") == true)
    }

    @Test("a credential in a header field is not stored, neither itself nor in a digest")
    func credentials() async throws {
        let server = try ScriptedServer { _ in
            .init(fields: ["Vary: X-Api-Key, X-Part", "Cache-Control: max-age=60"], body: #"[{"id":1}]"#)
        }
        var description = try Description.parse(
            Self.yaml("{ path: /items, entity: Item, headers: { X-Part: one, X-Api-Key: hunter2 } }"), file: "tarn.yaml"
        )
        let fixture = try CacheFixture(description), cache = try fixture.cache(server.base + "/v1")
        _ = try await cache.fetch(CacheRequest("items"))
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.mirrored.path) {
            let data = try Data(contentsOf: URL(fileURLWithPath: fixture.mirrored.path + "/" + name))
            #expect(data.range(of: Data("hunter2".utf8)) == nil, "\(name)")
        }
        // The response is used again for the same credential only, although `Vary` names the field.
        #expect(try await cache.fetch(CacheRequest("items")).source == .stored)
        let before = description.endpoints[0]
        description.endpoints[0].headers[1].value = "other"
        var options = APIClient.Options()
        options.base = server.base + "/v1"
        options.time = fixture.clock.source
        let others = try RecordCache(
            description, store: fixture.store, transport: MirrorStore.impatient(), client: options)
        #expect(try await others.fetch(CacheRequest("items")).source == .fetched)
        #expect(description.endpoints[0] != before)
        #expect(description.fingerprint(of: description.endpoints[0]) == description.fingerprint(of: before))
        description.endpoints[0].headers[0].value = "two"
        #expect(description.fingerprint(of: description.endpoints[0]) != description.fingerprint(of: before))
    }

    @Test("descriptions: what an API and an endpoint declare, and what they must not")
    func description() throws {
        let read = try Description.parse(
            Self.yaml("{ path: /items, entity: Item, headers: { X-Part: one } }"), file: "tarn.yaml")
        #expect(
            read.api.parameters == [
                .init("per_page", "2"), .init("format", "json"), .init("version", "a"), .init("version", "b"),
            ])
        #expect(read.endpoints[0].parameters.isEmpty && read.endpoints[0].headers == [.init("X-Part", "one")])
        func problems(_ endpoint: String, api: String = "") -> [String] {
            do throws(DescriptionError) {
                _ = try Description.parse(Self.yaml(endpoint, api: api), file: "tarn.yaml")
                return []
            } catch {
                return error.problems.map { "\($0.field): \($0.message)" }
            }
        }
        #expect(
            problems("{ path: /items, entity: Item, paginate: { page_number: { param: format } } }")
                == ["api.parameters.format: paginate sends this parameter: remove the line"])
        #expect(
            problems("{ path: /items, entity: Item }", api: "  auth: { api_key: { key: { env: X }, query: format } }")
                .contains {
                    $0.hasPrefix("api.parameters.format: auth already sets this parameter")
                })
        #expect(
            problems("{ path: /items, entity: Item, headers: { Content-Length: 1, X-A: a, x-a: b } }").count == 2)
        #expect(
            problems(
                "{ path: /items, entity: Item, headers: { Authorization: x } }", api: "  auth: { bearer: { env: X } }"
            )
            .contains { $0.hasPrefix("endpoints.items.headers.Authorization: auth already sets") })
    }

    @Test("references of the naming convention: in the file, and in the fingerprint")
    func references() throws {
        func naming(_ text: String) throws -> NamingConvention {
            try Description.parse(
                Self.yaml("{ path: /items, entity: Item }", api: "  naming: \(text)"), file: "tarn.yaml"
            ).mapping.naming
        }
        #expect(try naming("{ references: [_id] }") == NamingConvention(referenceSuffixes: ["_id"]))
        #expect(try naming("{ references: _id }") == NamingConvention(referenceSuffixes: ["_id"]))
        #expect(
            try naming("{ style: camelCase, references: [Id, Key], words: { id: identifier } }")
                == NamingConvention(.camelCase, words: ["id": "identifier"], referenceSuffixes: ["Id", "Key"]))
        #expect(try naming("{ references: sources }") == NamingConvention(words: ["references": "sources"]))
        #expect(throws: DescriptionError.self) { try naming("{ references: ['_i d'] }") }
        #expect(throws: DescriptionError.self) { try naming("{ references: ['_'] }") }
        var description = try Description.parse(Self.yaml("{ path: /items, entity: Item }"), file: "tarn.yaml")
        let plain = description.fingerprint(of: description.endpoints[0])
        description.mapping.naming.referenceSuffixes = ["_id"]
        #expect(description.fingerprint(of: description.endpoints[0]) != plain)
    }
}

/// A value that a test changes while a server reads it.
private final class Locked<Value: Sendable>: Sendable {
    private let held: Mutex<Value>

    init(_ value: Value) { held = Mutex(value) }

    var value: Value {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}
