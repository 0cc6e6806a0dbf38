// `tarn inspect get`: one record with everything that concerns it.

import Foundation
import Tarn
import TestSupport
import Testing

@Suite("Command line: inspect get")
struct InspectGetCommandTests {
    @Test("a record comes with its row, index entries, referrers, responses and changes")
    func parts() async throws {
        let result = try await tarn("inspect", "get", try await Forge.store, "User", "2770443")
        #expect(result.status == 0 && result.error == "", "\(result.error)")
        for heading in ["row", "index entries", "referred to by", "last changes"] {
            #expect(result.lines.contains(heading), "\(heading) in \(result.lines)")
        }
        #expect(result.lines.contains { $0.hasPrefix("  Issue.author (") })
        let listed = try await tarn("inspect", "get", try await Forge.store, "Issue", "4605470132", "--bytes")
        #expect(listed.lines.contains("listed by") && listed.lines.contains("stored bytes"))
    }

    @Test("the JSON has the fields, and as many referrers as a query counts")
    func asJSON() async throws {
        let path = try await Forge.store
        let result = try await tarn("inspect", "get", path, "User", "2770443", "--json", "--limit", "2")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let referrers = try #require(object["referrers"] as? [[String: Any]])
        let authored = try #require(referrers.first { $0["relationship"] as? String == "Issue.author" })
        let store = try Store.open(at: path, options: Store.Options(isReadOnly: true))
        let wanted = try store.read { try $0.count(Query("Issue", where: try Condition(text: "author = 2770443"))) }
        #expect(authored["count"] as? Int == wanted && wanted > 2)
        #expect((authored["keys"] as? [Int])?.count == 2)
    }

    @Test("URLs of responses are shown without secrets, as text and as JSON")
    func secrets() async throws {
        let server = try LocalServer(["GET /items?sid=geheim-12345\nHTTP/1.1 200 OK\n\n[{\"id\":1,\"name\":\"one\"}]"])
        let folder = try TemporaryFolder(), file = folder.path + "/tarn.yaml", store = folder.path + "/items.tarn"
        let endpoint = "paginate: single_page\n    with: { sid: geheim-12345 }"
        try Data(itemsYAML(endpoint).utf8).write(to: URL(fileURLWithPath: file))
        expectSuccess(try await tarn("sync", "--file", file, "--store", store, "--base", server.base))
        for options in [[], ["--json"]] {
            let result = try await tarn(["inspect", "get", store, "Item", "1"] + options)
            expectSuccess(result)
            #expect(result.output.contains("/items?sid=***") && !result.output.contains("geheim"), "\(result.output)")
        }
    }

    @Test("a missing record has exit code 1, an unknown entity or a wrong key 2, a damaged row 6")
    func exitCodes() async throws {
        let folder = try TemporaryFolder(), copy = folder.path + "/copy.tarn"
        try FileManager.default.copyItem(atPath: try await Forge.store, toPath: copy)
        let missing = try await tarn("inspect", "get", copy, "Issue", "999999")
        #expect(missing.status == 1 && missing.output.hasPrefix("Issue 999999 (not stored)"))
        #expect(try await tarn("inspect", "get", copy, "Nope", "1").status == 2)
        #expect(try await tarn("inspect", "get", copy, "Issue", "x").status == 2)
    }
}
