// 206 and Content-Range: a partial representation is not a page, unless it was requested.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Partial content", .serialized, .timeLimit(.minutes(5)))
struct PartialContentTests {
    private static let parts: [(status: String, range: String?)] = [
        ("206 Partial Content", "bytes 0-53/1000"), ("206 Partial Content", "items 0-1/40"),
        ("206 Partial Content", nil),
        ("200 OK", "bytes 0-53/1000"), ("200 OK", "bytes 100-153/154"),
    ]

    private func server(_ status: String, _ range: String?) throws -> LocalServer {
        try itemServer(["Cache-Control: max-age=60"] + (range.map { ["Content-Range: \($0)"] } ?? []), status: status)
    }

    private func itemServer(_ fields: [String], status: String) throws -> LocalServer {
        try LocalServer(["GET /items\nHTTP/1.1 \(status)\n" + fields.map { $0 + "\n" }.joined() + "\n" + twoItems])
    }

    @Test("a mirror refuses a part that it has not asked for, and names it", arguments: parts.indices)
    func mirror(_ index: Int) async throws {
        let (status, range) = Self.parts[index]
        let server = try server(status, range)
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base)
        #expect(report.texts.count == 1 && report.texts.first?.contains(status.prefix(3)) == true, "\(report.texts)")
        #expect(
            report.texts.first?.contains("part") == true
                && (range.map { report.texts.first?.contains($0) == true } ?? true), "\(report.texts)")
        #expect(try store.count("Item") == 0)
        #expect(try store.checkpoint("items")?.state != .complete)
    }

    @Test("a cache refuses it as well, and keeps what it has", arguments: parts.indices)
    func cache(_ index: Int) async throws {
        let (status, range) = Self.parts[index]
        let server = try server(status, range)
        let fixture = try CacheFixture(yaml: itemsYAML())
        let cache = try fixture.cache(server.base)
        await #expect { try await cache.fetch(CacheRequest("items")) } throws: {
            "\($0)".contains("part") && "\($0)".contains(status.prefix(3))
        }
        #expect(try fixture.count() == 0 && cache.totals.entries == 0)
    }

    @Test(
        "a 200 is whole whatever a Content-Range of another unit says, or one of all bytes",
        arguments: ["items 0-1/2", "0-1/*", "bytes 0-53/54", "nonsense"])
    func whole(_ range: String) async throws {
        let server = try server("200 OK", range)
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 2)
        // Its folder is removed with it.
        let fixture = try CacheFixture(yaml: itemsYAML())
        defer { withExtendedLifetime(fixture) {} }
        #expect(try await fixture.cache(server.base).fetch(CacheRequest("items")).text == "fetched 2")
    }

    @Test("a 206 whose range has no unit is a page of a list, and its size is that of the list")
    func page() async throws {
        let whole = try server("206 Partial Content", "0-1/2"), cut = try server("206 Partial Content", "0-1/40")
        let store = try MirrorStore(yaml: itemsYAML())
        let report = try await store.sync(whole.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        #expect(try store.count("Item") == 2)
        let other = try MirrorStore(yaml: itemsYAML("paginate: single_page"))
        let texts = try await other.sync(cut.base).texts
        #expect(texts.first?.contains("Content-Range says that there are 40 records") == true, "\(texts)")
        let unsized = try server("206 Partial Content", "0-1/*"), third = try MirrorStore(yaml: itemsYAML())
        #expect(try await third.sync(unsized.base).failures.isEmpty && third.count("Item") == 2)
    }

    @Test("a part that the description asks for is a page")
    func asked() async throws {
        let server = try server("206 Partial Content", "items 0-1/40")
        let yaml = itemsYAML(
            "paginate: single_page\n    more: { ignore: [Content-Range] }", api: "  headers: { Range: items=0-1 }")
        let store = try MirrorStore(yaml: yaml)
        let report = try await store.sync(server.base)
        #expect(report.failures.isEmpty, "\(report.texts)")
        let fixture = try CacheFixture(yaml: yaml)
        defer { withExtendedLifetime(fixture) {} }
        #expect(try await fixture.cache(server.base).fetch(CacheRequest("items")).text == "fetched 2")
    }
}
