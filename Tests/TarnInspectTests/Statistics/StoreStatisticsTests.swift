// Statistics are correct, and describe every table by its content.

import Foundation
import TarnInspect
import TarnStore
import Testing

@Suite("Inspect: statistics")
struct StoreStatisticsTests {
    @Test("records by entity, the commit sequence, responses and the size of the file")
    func totals() throws {
        let store = try InspectedStore()
        let statistics = try StoreInspector(at: store.path).statistics()
        #expect(statistics.entities.map { "\($0.name) \($0.records)" } == ["Author 1", "Book 2", "Empty 0"])
        #expect(statistics.sequence == 1)
        #expect(statistics.responses == 0 && statistics.checkpoints.isEmpty)
        #expect(statistics.fileBytes == (try store.bytes.count))
        #expect(UUID(uuidString: statistics.incarnation) != nil)
    }

    @Test("every table is listed in the order of names with what it is, its entries and its pages")
    func tables() throws {
        let store = try InspectedStore()
        let tables = try StoreInspector(at: store.path).statistics().tables
        #expect(tables.map(\.name) == tables.map(\.name).sorted())
        let byMeaning = Dictionary(tables.map { ($0.meaning, $0) }) { first, _ in first }
        #expect(byMeaning["records of Book"]?.entries == 2)
        #expect(byMeaning["records of Author"]?.entries == 1)
        #expect(byMeaning["records of Empty"].map { $0.entries == 0 && $0.pages == 0 && $0.bytes == 0 } == true)
        #expect(byMeaning["Book.author, as Author.books"]?.entries == 2)
        #expect(byMeaning["index of Book.title"]?.entries == 2)
        #expect(byMeaning["records of Book"].map { $0.pages == 1 && $0.depth == 1 && $0.bytes == 4096 } == true)
        for name in ["meta", "requests", "responses", "urls", "members", "bodies", "changes", "outbox", "checkpoints"] {
            #expect(byMeaning[name] != nil, "\(name)")
        }
        // The two books share one.
        #expect(byMeaning["changes"]?.entries == 2)
    }

    @Test("progress is listed by its name with its state")
    func checkpoints() throws {
        let store = try InspectedStore { writer in
            let start = Timestamp(microseconds: 1_000_000)
            try writer.setCheckpoint(
                "issues",
                Checkpoint(state: .underWay, plan: "p", nextURL: "https://x/2", scan: 1, startedAt: start).counting(
                    pages: 1, records: 5))
            try writer.setCheckpoint(
                "all",
                Checkpoint(state: .complete, plan: "p", scan: 3, startedAt: start, completedAt: start).counting(
                    pages: 2, records: 9))
        }
        let found = try StoreInspector(at: store.path).statistics().checkpoints
        #expect(found.map(\.name) == ["all", "issues"])
        #expect(found.map(\.checkpoint.state) == [.complete, .underWay])
        #expect(found.map(\.checkpoint.records) == [9, 5])
        #expect(found.first?.checkpoint.completedAt == Timestamp(microseconds: 1_000_000))
    }

    @Test("progress whose checksum is wrong is a finding, and is not listed")
    func damagedCheckpoint() throws {
        let rich = try RichStore()
        let before = try StoreInspector(at: rich.path).statistics()
        try rich.damage(#require(VerificationTests.damages.first { $0.codes == [.checkpoint] }))
        let statistics = try StoreInspector(at: rich.path).statistics()
        #expect(statistics.checkpoints.count == before.checkpoints.count - 1)
        #expect(statistics.findings.map(\.code) == [.checkpoint])
    }
}
