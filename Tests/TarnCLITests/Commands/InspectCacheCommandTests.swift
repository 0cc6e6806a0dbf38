// `tarn inspect cache`: what the store would answer, without its description.

import Foundation
import TestSupport
import Testing

@Suite("Command line: inspect cache")
struct InspectCacheCommandTests {
    /// A store whose responses of items are fresh for an hour, select by Accept, and have a validator.
    private func store(_ folder: TemporaryFolder) async throws -> (path: String, base: String) {
        let fields = ["Cache-Control: max-age=3600", "Vary: Accept", "ETag: \"one\""].joined(separator: "\n")
        let server = try LocalServer([
            "GET /items\nHTTP/1.1 200 OK\n\(fields)\n\n[{\"id\":1,\"name\":\"one\"}]"
        ])
        let file = folder.path + "/tarn.yaml", store = folder.path + "/items.tarn"
        try Data(itemsYAML("paginate: single_page").utf8).write(to: URL(fileURLWithPath: file))
        expectSuccess(try await tarn("sync", "--file", file, "--store", store, "--base", server.base))
        return (store, server.base)
    }

    @Test("the list has freshness, age, validators, records and size; --url selects a prefix")
    func list() async throws {
        let folder = try TemporaryFolder(), (store, _) = try await store(folder)
        let result = try await tarn("inspect", "cache", store, "--format", "ndjson")
        expectSuccess(result)
        let row = try json(try #require(result.lines.first))
        #expect(row["status"] as? Int == 200 && row["lifetime"] as? Int == 3600 && row["records"] as? Int == 1)
        #expect((row["state"] as? String)?.hasPrefix("fresh for 3") ?? false, "\(row)")
        #expect(row["validators"] as? String == "ETag \"one\"" && row["of"] as? String == "mirror")
        let none = try await tarn("inspect", "cache", store, "--url", "https://elsewhere", "--format", "ndjson")
        #expect(none.status == 0 && none.output == "")
    }

    @Test("a table that is narrow leaves columns out and names them: URLs can be told apart")
    func narrow() async throws {
        let folder = try TemporaryFolder(), (store, _) = try await store(folder)
        for (columns, isNarrow) in [("80", true), ("120", false)] {
            let result = try await tarn(
                ["inspect", "cache", store, "--format", "table"], environment: ["COLUMNS": columns])
            #expect(result.lines[0].contains("validators") == !isNarrow, "\(result.output)")
            #expect(result.lines[1].contains("/items"), "\(result.output)")
            #expect(result.error.hasPrefix("4 hidden columns: method, ") == isNarrow, "\(result.error)")
        }
    }

    @Test("explain shows each rule with its values: fresh, another Accept, max-age=0, and nothing stored")
    func explain() async throws {
        let folder = try TemporaryFolder(), (store, _) = try await store(folder)
        let row = try json(try await tarn("inspect", "cache", store, "--format", "ndjson").lines[0])
        let url = try #require(row["url"] as? String)
        func explain(_ url: String, _ more: String...) async throws -> String {
            let result = try await tarn(["inspect", "cache", store, "explain", url] + more)
            #expect(result.status == 0 && result.error == "", "\(result.error)")
            return result.output
        }
        let other = try await explain(url, "--header", "Accept: text/other")
        let parts = ["miss: ", "RFC 9111 §4.1", "Vary: Accept"]
        #expect(parts.allSatisfy { other.contains($0) }, "\(other)")
        let plain = try await explain(url)
        let name = "its request had Accept: "
        let same = plain.split(separator: "\n").first { $0.contains(name) }
            .map { String($0[$0.range(of: name)!.upperBound...]) }
        let headers = same.map { ["--header", "Accept: \($0)"] } ?? []
        let result = try await tarn(["inspect", "cache", store, "explain", url] + headers)
        #expect(result.output.contains("fresh: answered from the store"), "\(result.output)")
        #expect(result.output.contains("the lifetime is max-age: 3600 s (RFC 9111 §5.2.2.1)"), "\(result.output)")
        #expect(result.output.contains("scope: without credentials") && result.output.contains("ETag \"one\""))
        let reload = try await tarn(
            ["inspect", "cache", store, "explain", url, "--header", "Cache-Control: no-cache"] + headers)
        #expect(reload.output.contains("revalidate: ") && reload.output.contains("§5.2.1.4"), "\(reload.output)")
        let missing = try await explain(url + "?page=9")
        #expect(missing.contains("no stored response") && missing.contains("the same path: \(url)"), "\(missing)")
    }

    @Test("damage is reported with the exit code 6, wrong questions are usage errors, foreign files are refused")
    func failures() async throws {
        let folder = try TemporaryFolder(), (store, _) = try await store(folder)
        for arguments in [["explain"], ["explian", "x"], ["--header", "a: b"], ["explain", "x", "--header", "a"]] {
            #expect(try await tarn(["inspect", "cache", store] + arguments).status == 2, "\(arguments)")
        }
        try Damage.flip("max-age=3600", in: store)
        let damaged = try await tarn("inspect", "cache", store)
        #expect(damaged.status == 6 && damaged.error.contains("response 1: unreadable"), "\(damaged)")
    }
}
