// Checkpoints by the beginning of their names.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Checkpoints")
struct CheckpointTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("checkpoints are replaced by the beginning of their names, also those of names that are stored as digests")
    func replacedByPrefix() throws {
        let store = try Forge.open(folder("s")), long = String(repeating: "a long key ", count: 30)
        let names = ["issues", "issues 1", "issues \(long)1", "issues \(long)2", "issues.old 1", "labels 1"]
        try store.write { writer in
            for name in names {
                try writer.setCheckpoint(
                    name, Checkpoint(state: .underWay, plan: "", scan: 1, startedAt: Timestamp(microseconds: 0)))
            }
        }
        var rests: [String] = []
        try store.write { writer in
            try writer.replaceCheckpoints(withPrefix: "issues ") { rest, checkpoint in
                rests.append(String(rest))
                guard rest != "1" else { return nil }
                var other = checkpoint
                other.state = .complete
                return other
            }
        }
        // A storage key has 206 bytes of a text.
        let beginning = String("issues \(long)".prefix(206).dropFirst(7))
        #expect(rests == ["1", beginning, beginning])
        let states = try store.read { reader in try names.map { try reader.checkpoint($0)?.state } }
        #expect(states == [.underWay, .underWay, .complete, .complete, .underWay, .underWay])
    }

    @Test("a checkpoint keeps the last commit before its scan")
    func begunAfter() throws {
        let store = try Forge.open(folder("s")), time = Timestamp(microseconds: 0)
        for commit: UInt64? in [nil, 0, 7, .max] {
            try store.write { writer in
                var checkpoint = Checkpoint(state: .underWay, plan: "", scan: 1, startedAt: time)
                checkpoint.begunAfter = commit
                try writer.setCheckpoint("issues", checkpoint)
            }
            #expect(try store.read { try $0.checkpoint("issues") }?.begunAfter == commit)
        }
    }
}
