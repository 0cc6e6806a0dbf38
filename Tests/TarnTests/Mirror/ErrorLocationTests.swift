// The place of a failure in the texts of errors: the page's URL without secrets, the path in its JSON.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Places in errors", .timeLimit(.minutes(5)))
struct ErrorLocationTests {
    private static let pages = [
        recording(
            "/v1/items", #"[{"id":1,"name":"a"}]"#, "Link: </v1/items?page=2&access_token=hunter2>; rel=next"),
        recording(
            "/v1/items?page=2&access_token=hunter2", #"[{"id":2,"name":"b"},{"id":3,"name":{"a":[1 2]}}]"#),
    ]

    @Test("a mirror's error names the page and the path; the diagnostics of a report name their pages")
    func mirror() async throws {
        let store = try MirrorStore(yaml: itemsYAML()), server = try LocalServer(Self.pages)
        let report = try await store.sync(server.base + "/v1")
        let text = try #require(report.texts.first)
        #expect(text.contains("/v1/items?page=2&access_token=***") && !text.contains("hunter2"), "\(text)")
        #expect(text.contains("not valid JSON at byte 44, in $[1].name.a[0]"), "\(text)")
        guard case .response(let error, _, _, _)? = report.failures.first else {
            throw LocalServer.Failure(description: text)
        }
        #expect(error.path == "$[1].name.a[0]")
    }

    @Test("so do the diagnostics of an import, page by page in one commit")
    func diagnostics() async throws {
        let pages = [
            recording("/v1/items", #"[{"id":1,"name":[]}]"#, "Link: </v1/items?page=2&access_token=hunter2>; rel=next"),
            recording("/v1/items?page=2&access_token=hunter2", #"[{"id":2,"name":"b"},{"id":3,"name":{}}]"#),
        ]
        let store = try MirrorStore(yaml: itemsYAML()), server = try LocalServer(pages)
        let report = try await store.sync(server.base + "/v1") { $0.mirror.commitUnit = .scan }
        let diagnostics = report.report.diagnostics
        #expect(diagnostics.map(\.path) == ["$[0].name", "$[1].name"])
        #expect(
            diagnostics.map { $0.source?.replacing(server.base, with: "") } == [
                "/v1/items", "/v1/items?page=2&access_token=***",
            ])
    }

    @Test("a cache's error names both, too")
    func cache() async throws {
        let server = try itemServer(body: #"[{"id":1,"name":"a"},{"id":2,"name":tru}]"#)
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let error = await #expect(throws: CacheError.self) { try await cache.fetch(CacheRequest("items")) }
        let text = try #require(error?.description)
        #expect(
            text.contains(server.base + "/items: not valid JSON at byte") && text.contains("in $[1].name:"), "\(text)")
    }
}
