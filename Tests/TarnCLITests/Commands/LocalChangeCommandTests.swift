// Changes by the command line: a sync keeps and reports them, unless they were made as the
// server's.

import Foundation
import TestSupport
import Testing

@Suite("Command line: local changes", .timeLimit(.minutes(5)))
struct LocalChangeCommandTests {
    private static func page(_ name: String) -> [String] {
        [
            recording(
                "/items", (1...3).map { #"{"id":\#($0),"name":"\#(name) \#($0)"}"# }.joined(separator: ",").bracketed,
                "ETag: \"\(name)\"")
        ]
    }

    @Test(
        "update and delete mark what they change: the next changed page keeps it, and the sync says so",
        arguments: [false, true])
    func kept(asServer: Bool) async throws {
        let folder = try TemporaryFolder(), file = try folder.write("tarn.yaml", itemsYAML())
        let first = try LocalServer(Self.page("first"))
        try await expectSuccess(tarn("sync", "--file", file, "--base", first.base))
        let flag = asServer ? ["--as-server"] : []
        try await expectSuccess(
            tarn(["update", "Item", "--where", "id <= 2", "--set", "name=mine", "--file", file] + flag))
        try await expectSuccess(tarn(["delete", "Item", "--where", "id = 3", "--file", file] + flag))
        let second = try LocalServer(Self.page("second"))
        let synced = try await tarn("sync", "--file", file, "--base", second.base)
        // Kept values are reported, and are no failure: they wait until the server has them.
        #expect(synced.status == 0, "\(synced.error)")
        let records = try await tarn("list", "Item", "--file", file, "--format", "ndjson").lines
        if asServer {
            #expect(records == (1...3).map { #"{"id":\#($0),"name":"second \#($0)"}"# })
            #expect(!synced.error.contains("local"))
        } else {
            #expect(records == [#"{"id":1,"name":"mine"}"#, #"{"id":2,"name":"mine"}"#])
            #expect(
                synced.error.contains("changed locally") && synced.error.contains("deleted locally"), "\(synced.error)")
        }
    }
}

extension String {
    fileprivate var bracketed: String { "[" + self + "]" }
}
