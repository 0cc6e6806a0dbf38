// Dry runs of changes that would be queued for a server.

import Foundation
import TestSupport
import Testing

@Suite("Command line: dry runs of queued changes", .timeLimit(.minutes(5)))
struct QueuedDryRunTests {
    private let folder: TemporaryFolder
    private let file: String

    /// A store with item 7, and its description.
    init() async throws {
        folder = try TemporaryFolder()
        var api = ModelAPI()
        api.items[7] = ModelAPI.Item(title: "a")
        let server = try ModelServer(api)
        file = try folder.write("tarn.yaml", ModelAPI.yaml(base: server.base))
        try await expectSuccess(tarn("sync", "--file", file, "--quiet"))
    }

    private static let update = ["update", "Item", "--all", "--set", "title=b", "--queue"]

    @Test("a dry run without a description only counts; a named description that does not exist is an error")
    func withoutDescription() async throws {
        let store = folder("model.tarn"), elsewhere = folder("elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        let counted = try await shell(
            "cd '\(elsewhere)' && \"$TARN\" \(Self.update.joined(separator: " ")) --dry-run --store '\(store)'")
        #expect(counted.status == 0 && counted.output == "{\"matched\":1}\n", "\(counted.output)\(counted.error)")
        let named = try await tarn(Self.update + ["--dry-run", "--store", store, "--file", folder("missing.yaml")])
        #expect(named.status != 0 && named.output.isEmpty && named.error.contains("missing.yaml"), "\(named.error)")
    }

    @Test("a dry run of a queued deletion tells which queued changes it would withdraw, and withdraws none")
    func deletion() async throws {
        try await expectSuccess(tarn(Self.update + ["--file", file]))
        let dry = try await tarn("delete", "Item", "--all", "--queue", "--dry-run", "--file", file)
        #expect(dry.status == 0 && dry.output.contains(#""withdrawn":[{"id":1,"change":"update""#), "\(dry.output)")
        let listed = try await tarn("outbox", "list", "--format", "ndjson", "--file", file)
        #expect(listed.lines.count == 1 && listed.output.contains(#""change":"update""#), "\(listed.output)")
    }

    @Test("without declared requests, the advice names no entity that the description does not have")
    func unknownEntity() async throws {
        let other = try folder.write("other.yaml", itemsYAML())
        let result = try await tarn("update", "Nope", "--all", "--set", "name=b", "--queue", "--file", other)
        #expect(result.status == 2 && result.error.contains("add entities.NAME.write, such as"), "\(result)")
    }
}
