// Changes of many records that are queued in steps, one of which fails.

import Foundation
import TestSupport
import Testing

@Suite("Command line: changes that are queued in part", .timeLimit(.minutes(5)))
struct PartlyQueuedTests {
    @Test("a step that fails leaves the earlier ones queued, and the message and the exit code tell so")
    func failedStep() async throws {
        let folder = try TemporaryFolder(), server = try LocalServer(itemPages)
        let entity = "name: { type: string, unique: true }\n    write: { update: 'PATCH /items/{id}' }"
        let file = try folder.write("tarn.yaml", itemsYAML().replacing("name: string", with: entity))
        try await expectSuccess(tarn("sync", "--file", file, "--base", server.base, "--quiet"))
        let update = ["update", "Item", "--all", "--set", "name=same", "--queue", "--file", file]
        // The second record cannot have the name that the first one has by now.
        let result = try await tarn(update + ["--step", "1"])
        #expect(result.status == 3 && result.output.isEmpty, "\(result)")
        #expect(result.error.contains("1 record in 1 earlier step are queued"), "\(result.error)")
        let listed = try await tarn("outbox", "list", "--format", "ndjson", "--file", file)
        #expect(listed.lines.count == 1, "\(listed.output)")
        // The first record has the name already: its step queues nothing.
        let same = try await tarn(update + ["--step", "1"])
        #expect(same.status == 1 && !same.error.contains("queued"), "\(same)")
        // In one step, nothing is queued.
        let again = try await tarn("update", "Item", "--all", "--set", "name=other", "--queue", "--file", file)
        #expect(again.status == 1 && !again.error.contains("queued"), "\(again)")
    }
}
