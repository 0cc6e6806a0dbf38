// Redirects of a mirror: they lead where links may lead, and nowhere else; credentials go to no
// other server.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Mirror: redirects", .timeLimit(.minutes(5)))
struct MirrorRedirectTests {
    private static let page = "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n[{\"id\":3,\"name\":\"n\"}]"
    private static func redirect(_ location: String) -> String {
        "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
    }

    @Test(
        "a redirect to another server is an error that names both and the setting; that server is not asked",
        arguments: ["", "aliases", "follow"])
    func otherServer(_ setting: String) async throws {
        let other = try RawServer([Self.page])
        let api = try RawServer([Self.redirect(other.base + "/pages/1")])
        let allowed = setting.isEmpty ? "" : "  \(setting): ['\(other.base)/pages']\n"
        let yaml = itemsYAML(
            api: allowed + "  headers: { X-Team: blue, Accept: application/json }\n  auth: { bearer: { env: T } }")
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(api.base + "/v1", environment: ["T": "s3cret"])
        #expect(api.requests.first?.contains("s3cret") == true)
        guard setting.isEmpty else {
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.count("Item") == 1)
            let asked = try #require(other.requests.first)
            #expect(
                !asked.contains("s3cret") && !asked.contains("X-Team") && asked.contains("Accept: application/json"))
            return
        }
        let text = try #require(report.texts.first)
        #expect(text.contains("leads from \(api.base) to another server, \(other.base)"), "\(text)")
        #expect(text.contains("api.aliases") && text.contains("api.follow"))
        #expect(try store.count("Item") == 0)
        #expect(other.requests.isEmpty)
    }

    @Test("a redirect on the same server is followed, and one to the API's own name where the API is reached")
    func sameServer() async throws {
        for location in ["/v2/items", "https://api.test.example/v1/other"] {
            let api = try RawServer([Self.redirect(location), Self.page])
            let store = try MirrorStore(yaml: itemsYAML())
            let report = try await store.sync(api.base + "/v1")
            #expect(report.failures.isEmpty, "\(report.texts)")
            #expect(try store.count("Item") == 1 && api.requests.count == 2)
        }
    }

    @Test("an answer that a transport of the program brings from another server is refused as well")
    func otherTransport() async throws {
        struct Wandering: Transport {
            func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
                TransportResponse(
                    status: 200, body: Array("[{\"id\":3,\"name\":\"n\"}]".utf8),
                    redirectedTo: "https://other.example/items")
            }
        }
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(nil, transport: Wandering())
        #expect(
            report.texts.first?.contains("from https://api.test.example to another server, https://other.example")
                == true, "\(report.texts)")
        #expect(try store.count("Item") == 0)
    }
}
