// The lists of which scans have reached all pages, by the identities in their responses.

import TestSupport
import Testing

@testable import TarnStore

@Suite("Whole lists")
struct WholeListTests {
    let folder: TemporaryFolder
    let store: Store

    init() throws {
        folder = try TemporaryFolder()
        store = try Forge.open(folder("s"))
    }

    private func note(_ name: String, _ identity: String?, scan: UInt64) throws {
        var checkpoint = Checkpoint(
            state: .complete, plan: "p", scan: scan, startedAt: Timestamp(microseconds: Int64(scan)))
        checkpoint.whole = identity.map { Checkpoint.WholeScan(identity: $0, scan: scan) }
        let noted = checkpoint
        try store.write { try $0.setCheckpoint(name, noted) }
    }

    private func scan(_ identity: String, _ lists: WholeLists) throws -> UInt64? {
        try store.read { try lists.checkpoint(of: identity, $0.access)?.whole?.scan }
    }

    @Test("lists are found once, and their progress is that of the transaction")
    func progress() throws {
        let long = String(repeating: "n", count: 300)
        try note("a", "1", scan: 4)
        try note(long, "2", scan: 7)
        try note("none", nil, scan: 9)
        let lists = WholeLists()
        #expect(try scan("1", lists) == 4 && scan("2", lists) == 7 && scan("3", lists) == nil)
        try note("a", "1", scan: 5)
        try note("new", "3", scan: 1)
        #expect(try scan("1", lists) == 5 && scan("3", lists) == nil && scan("3", WholeLists()) == 1)
        // The checkpoint is that of another account by now, or it is gone.
        try note("a", "4", scan: 6)
        try store.write { try $0.removeCheckpoint(long) }
        #expect(try scan("1", lists) == nil && scan("2", lists) == nil)
    }
}
