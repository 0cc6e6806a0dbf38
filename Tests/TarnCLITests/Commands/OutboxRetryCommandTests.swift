// `tarn outbox retry` of many changes.

import TarnStore
import TestSupport
import Testing

@Suite("Command line: queueing again", .timeLimit(.minutes(5)))
struct OutboxRetryCommandTests {
    /// A store with so many created records whose changes are dead.
    private func store(in folder: TemporaryFolder, dead count: Int) async throws -> Store {
        let store = try Store.open(
            at: folder("s"),
            schema: Schema([EntityDefinition("Item", key: ["id"], attributes: [AttributeDefinition("id", .int)])]),
            options: Store.Options(durability: .volatile))
        try await store.write { writer in
            for number in 0..<count {
                let key = OutboxKey.client(RecordKey(Int64(number)))
                let id = try #require(try writer.enqueueCreate("Item", key, []).operation)
                try writer.buryOperation(id, OutboxFailure(kind: "refused", message: "no"))
            }
        }
        return store
    }

    @Test("many dead changes are queued again in steps, between which other processes write")
    func retryInSteps() async throws {
        let folder = try TemporaryFolder(), count = 1200
        defer { withExtendedLifetime(folder) {} }
        let store = try await store(in: folder, dead: count)
        let before = store.lastTransaction
        let retried = try await tarn("outbox", "retry", "--all", "--store", store.path)
        #expect(retried.output == "1200 changes queued again\n", "\(retried.error)")
        #expect(store.lastTransaction >= before + 3)
        #expect(try store.read { try $0.outbox.counts }.pending == count)
    }

    @Test("a dead change that another process discards while many are queued again is passed over")
    func discardedMeanwhile() async throws {
        let folder = try TemporaryFolder(), count = 4000
        defer { withExtendedLifetime(folder) {} }
        let store = try await store(in: folder, dead: count)
        let before = store.lastTransaction
        let retrying = try TarnProcess(["outbox", "retry", "1-\(count)", "--store", store.path])
        // The command has found all changes once it has queued the first ones.
        while store.lastTransaction == before, !retrying.hasEnded { try await Task.sleep(for: .milliseconds(1)) }
        _ = try await store.write { try $0.discardOperation(UInt64(count)) }
        let result = await retrying.end()
        // If the command was faster, the discarded change is among the queued ones.
        #expect(result.status == 0, "\(result)")
        #expect(["\(count - 1) changes queued again\n", "\(count) changes queued again\n"].contains(result.output))
        #expect(try store.read { try $0.outbox.counts }.pending == count - 1)
    }
}
