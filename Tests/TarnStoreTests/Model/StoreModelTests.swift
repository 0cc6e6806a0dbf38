// Random operations, all that a store has, against dictionaries. A sequence that fails is shrunk,
// and printed so that it can be pasted into a regression test: `try ModelRun.replay(…)`.
//
// TARN_MODEL_SEED=7 runs one other sequence, TARN_MODEL_OPERATIONS=1000000 sequences of another
// length.

import Foundation
import Testing

@testable import TarnStore

@Suite("Store against a model", .timeLimit(.minutes(10)))
struct StoreModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    static let seeds: [UInt64] = environment["TARN_MODEL_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? Array(101...120)
    /// Per seed; 100,000 in total.
    static let operations = environment["TARN_MODEL_OPERATIONS"].flatMap { Int($0) } ?? 5000

    @Test("100,000 random operations, all that a store has, leave what dictionaries say", arguments: seeds)
    func randomOperations(_ seed: UInt64) async throws {
        var source = OperationSource(seed: seed)
        let operations = source.operations(StoreModelTests.operations)
        let run = try ModelRun()
        defer { if StoreModelTests.environment["TARN_MODEL_VERBOSE"] != nil { print(seed, run.outcomes) } }
        do {
            for operation in operations {
                try run.step(operation)
                // Tests that run at the same time share two threads or so.
                await Task.yield()
            }
            try run.compareAll()
            // Operations that no longer meet would prove nothing.
            let rare = [
                "notUnique", "dropped", "denied", "steps", "cascade", "kind", "completed", "shorter", "longer",
                "rewritten",
            ]
            let missing = rare.filter { run.outcomes[$0] == nil }
            #expect(missing == [] || StoreModelTests.operations < 5000, "seed \(seed): \(run.outcomes)")
        } catch {
            var shrinking = Shrinking(Array(operations.prefix(run.position)), failure: "\(error)", for: .seconds(60))
            shrinking.run()
            Issue.record(
                """
                seed \(seed), operation \(run.position): \(error)
                shrunk to \(shrinking.failing.count) operations (\(Shrinking.size(shrinking.failing)) parts): \(shrinking.failure)
                try ModelRun.replay(#\"""
                \(Operation.text(shrinking.failing))
                \"""#)
                """)
        }
    }

    /// As a failing test printed them.
    static let sequences = [
        // A value that changed behind the cut of a unique index was not compared again.
        #"""
        [
        {"write":{"_0":[{"put":{"_0":"Label","_2":{"display":371},"key":2}}],"end":"commit"}},
        {"write":{"_0":[{"put":{"_0":"Label","_2":{"display":667},"key":13}}],"end":"commit"}},
        {"write":{"_0":[{"put":{"_0":"Label","_2":{"display":667},"key":2}}],"end":"commit"}}
        ]
        """#,
        // A record that became one with a unique index in the same transaction was not undone
        // altogether.
        #"""
        [
        {"write":{"_0":[{"put":{"_0":"Release","_2":{"tag":38},"key":1}}],"end":"commit"}},
        {"write":{"_0":[{"put":{"_0":"Push","_2":{},"key":3}},{"put":{"_0":"Release","_2":{"tag":38},"key":3}}],"end":"dropDuplicates"}}
        ]
        """#,
    ]

    @Test("a sequence of operations that failed once passes", arguments: sequences)
    func failedOnce(_ text: String) throws { try ModelRun.replay(text) }

    @Test("operations that are printed are read as what they were")
    func printing() throws {
        var source = OperationSource(seed: 1)
        let text = Operation.text(source.operations(3000))
        #expect(try Operation.text(Operation.parse(text)) == text)
    }
}
