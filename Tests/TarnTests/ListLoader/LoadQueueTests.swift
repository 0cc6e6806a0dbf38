// The queue of the loads of a list, with jobs that end when the test lets them.

import TestSupport
import Testing

@testable import Tarn

@Suite("Queue of the loads of a list", .timeLimit(.minutes(5)))
struct LoadQueueTests {
    @Test("skip: a load is not skipped because of one that was cancelled and has not ended yet")
    func skipAfterCancellation() async throws {
        let queue = LoadQueue<String, Int>(), gate = Gate()
        let first = Task {
            try await queue.run("first", rule: .queue) { _ in
                await gate.wait()
                return 1
            }
        }
        try await eventually("the first load") { queue.callers == 1 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = Task { try await queue.run("second", rule: .skip) { _ in 2 } }
        try await eventually("the decision") { queue.decisions == 2 }
        gate.open()
        #expect(try await second.value == 2)
    }
}
