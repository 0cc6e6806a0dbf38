// `tarn cache` as a user runs it: entries are listed and purged by name, and records stay until
// they are collected.

import Foundation
import TestSupport
import Testing

@Suite("Command line: cache", .timeLimit(.minutes(5)))
struct CacheCommandTests {
    /// A store with the cached responses of two pages with one item each, and of an image; it was
    /// never synced.
    private struct Cached {
        let folder: TemporaryFolder
        let file: String
        var store: String { folder.path + "/store.tarn" }

        static let urls = ["https://api.test.example/items", "https://api.test.example/items?page=2"]

        init() async throws {
            folder = try TemporaryFolder()
            file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML())
            let server = try LocalServer(itemPages + [recording("/logo", "image", "Cache-Control: max-age=600")])
            for target in Cached.urls {
                expectSuccess(try await tarn(["fetch", target, "--file", file, "--base", server.base]))
            }
            expectSuccess(try await tarn(["fetch", "--raw", server.base + "/logo", "--store", store]))
        }

        func cache(_ arguments: String...) async throws -> TarnProcess.Result {
            try await tarn(["cache", arguments[0], store] + arguments.dropFirst())
        }

        /// The URLs that are kept, of the API.
        var kept: [String] {
            get async throws {
                let result = try await cache("list", "--prefix", "https:")
                return try result.lines.map { try #require(try json($0)["url"] as? String) }
            }
        }

        var records: Int {
            get async throws { try await tarn(["list", "Item", "--store", store]).lines.count }
        }
    }

    @Test(
        "list names what is kept, with its status, its records or its bytes, its age, and whose it is; totals counts it"
    )
    func list() async throws {
        let cached = try await Cached(), result = try await cached.cache("list")
        expectSuccess(result)
        let lines = try result.lines.map(json)
        #expect(lines.count == 3 && lines.prefix(2).map { $0["url"] as? String } == Cached.urls)
        #expect(
            lines.map { $0["records"] as? Int } == [1, 1, nil] && lines.map { $0["bytes"] as? Int } == [nil, nil, 5])
        #expect(
            lines.allSatisfy {
                $0["status"] as? Int == 200 && $0["of"] as? String == "cache"
                    && ($0["age"] as? Int).map { (0..<300).contains($0) } == true
            })
        let table = try await cached.cache("list", "--prefix", "http:", "--format", "table")
        #expect(table.lines.count == 2 && table.lines.first?.hasPrefix("url ") == true, "\(table.output)")
        let totals = try json(try await cached.cache("totals").line(0))
        #expect(totals["entries"] as? Int == 3 && (totals["bytes"] as? Int ?? 0) > 1000)
        #expect(try await cached.cache("totals", "--format", "table").output.hasPrefix("3 responses, "))
        // The store of the description, where none is named.
        #expect(try await tarn(["cache", "list", "--file", cached.file]).lines.count == 3)
    }

    @Test("what a mirror keeps is listed as a mirror's, is not counted, and goes only where its URL is named")
    func mirrors() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        let file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML()),
            store = folder.path + "/store.tarn"
        expectSuccess(try await tarn(["sync", "--file", file, "--base", server.base]))
        #expect(
            try await tarn(["cache", "list", store]).lines.map { try json($0)["of"] as? String } == [
                "mirror", "mirror", "mirror",
            ])
        #expect(try await tarn(["cache", "totals", store, "--format", "table"]).output == "0 responses, 0 B\n")
        #expect(try await tarn(["cache", "purge", store, "--all"]).output == "0 responses removed, 0 left in caches\n")
        #expect(
            try await tarn(["cache", "purge", store, "--prefix", "https://api.test.example/items?"]).output
                == "2 responses removed, 0 left in caches\n")
    }

    @Test("purge removes what it names and nothing else; records stay")
    func purge() async throws {
        let cached = try await Cached()
        #expect(
            try await cached.cache("purge", "--url", "https://api.test.example/item").output
                == "0 responses removed, 3 left in caches\n")
        for age in ["100000", "99999999999999", "9223372036854775807"] {
            #expect(
                try await cached.cache("purge", "--older-than", age).output == "0 responses removed, 3 left in caches\n"
            )
        }
        #expect(
            try await cached.cache("purge", "--url", Cached.urls[0]).output == "1 response removed, 2 left in caches\n")
        #expect(try await cached.kept == [Cached.urls[1]])
        #expect(try await cached.cache("purge", "--entity", "Item").output == "1 response removed, 1 left in caches\n")
        #expect(try await cached.kept.isEmpty)
        #expect(try await cached.cache("purge", "--all").output == "1 response removed, 0 left in caches\n")
        #expect(try await cached.records == 2)
        let prefixed = try await Cached()
        #expect(
            try await prefixed.cache("purge", "--prefix", "https://api.test.example/items").output
                == "2 responses removed, 1 left in caches\n")
        // Confirmed in a second that is over.
        try await Task.sleep(for: .milliseconds(1100))
        #expect(
            try await prefixed.cache("purge", "--older-than", "0").output == "1 response removed, 0 left in caches\n")
        let check = try await tarn("inspect", "verify", prefixed.store)
        #expect(check.status == 0, "\(check.output)")
    }

    @Test("purge takes a URL in any notation, and refuses an empty one")
    func purgeNotation() async throws {
        let cached = try await Cached()
        #expect(
            try await cached.cache("purge", "--url", "HTTPS://API.test.example:443/%69tems?page=2#top").output
                == "1 response removed, 2 left in caches\n")
        #expect(try await cached.kept == [Cached.urls[0]])
        let empty = try await cached.cache("purge", "--url", "")
        #expect(empty.status == 2 && empty.error.contains("--url is empty"), "\(empty.error)")
    }

    @Test("collect counts with --dry-run, and removes what no answer lists and no root is; what is reached stays")
    func collect() async throws {
        let cached = try await Cached()
        func collected(_ arguments: String...) async throws -> [String: Any] {
            let result = try await tarn(["cache", "collect", cached.store] + arguments)
            expectSuccess(result)
            return try json(result.line(0))
        }
        #expect(try await collected("--roots", "")["reached"] as? Int == 2)
        expectSuccess(try await cached.cache("purge", "--url", Cached.urls[0]))
        let dry = try await collected("--roots", "", "--dry-run")
        #expect(
            dry["unreachable"] as? [String: Int] == ["Item": 1] && dry["reached"] as? Int == 1
                && dry["deleted"] as? Int == 0)
        #expect(
            try await cached.cache("collect", "--roots", "", "--dry-run", "--format", "table").output
                == "1 unreachable record (1 Item), 1 reachable; nothing was removed\n")
        #expect(try await collected("--roots", " Item ,")["deleted"] as? Int == 0)
        #expect(try await cached.records == 2)
        #expect(
            try await cached.cache("collect", "--roots", "", "--format", "table").output
                == "1 record removed, 1 reachable\n")
        #expect(try await cached.records == 1)
    }

    @Test(
        "arguments that make no sense are refused",
        arguments: [
            ["purge"], ["purge", "--all", "--url", "x"], ["purge", "--older-than", "-1"], ["purge", "--prefix", ""],
            ["purge", "--entity", "Nothing"],
            ["collect"], ["collect", "--roots", "Nothing"], ["collect", "--roots", "", "--through", "Item.nothing"],
            ["list", "--format", "x"],
        ])
    func usage(_ arguments: [String]) async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", "store: store.tarn\n" + itemsYAML())
        // A store without anything in it.
        _ = try await tarn(["fetch", "items", "--offline", "--file", file])
        let result = try await tarn(["cache"] + arguments + ["--file", file])
        #expect(result.status == 2, "\(result.output)\(result.error)")
    }

    @Test("without a store, and without a description, it says what is missing")
    func noStore() async throws {
        let folder = try TemporaryFolder()
        let none = try await tarn(["cache", "list", "--file", folder.path + "/tarn.yaml"])
        #expect(none.status == 2 && none.error.contains("tarn.yaml: no such file: name the description with --file"))
        #expect(try await tarn(["cache", "totals", folder.path + "/none.tarn"]).status == 6)
    }
}
