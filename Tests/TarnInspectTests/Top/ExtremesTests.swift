// The largest records, lists and tables, compared with a sort of all of them.

import TarnStore
import TestSupport
import Testing

@testable import TarnInspect

@Suite("Inspect: extremes")
struct ExtremesTests {
    @Test("the largest of numbers at random are those of a sort")
    func largest() {
        var dice = SeededRandom(seed: 3)
        for limit in [0, 1, 7, 300] {
            var largest = Largest<Int>(limit), all: [(Int, Int)] = []
            for index in 0..<200 {
                let number = dice.roll(0..<50)
                largest.add(number, index)
                all.append((number, index))
            }
            let wanted = all.sorted { ($0.0, $1.1) > ($1.0, $0.1) }.prefix(limit)
            #expect(largest.entries.map(\.element) == wanted.map(\.1))
        }
    }

    @Test("sizes are those of the rows, and lists those of the records and of their derived sides")
    func extremes() throws {
        let store = try RichStore()
        var damaged: [StoreInspector.Damage] = []
        let top = try StoreInspector(at: store.path).extremes(limit: 5, damaged: { damaged.append($0) })
        #expect(damaged.isEmpty)
        // Issue 5 has 1,200 parts, and every issue the long label; two users write two issues each.
        #expect(
            top.lists.first
                == StoreExtremes.List(entity: "Issue", key: RecordKey(5), relationship: "parts", count: 1200))
        #expect(top.lists.contains { $0.relationship == "issues" && $0.entity == "Label" && $0.count == 60 })
        for (size, other) in zip(top.stored, top.stored.dropFirst()) { #expect(size.stored >= other.stored) }
        for (size, other) in zip(top.unpacked, top.unpacked.dropFirst()) { #expect(size.unpacked >= other.unpacked) }
        let first = try #require(top.stored.first)
        let record = try StoreInspector(at: store.path).record(first.entity, first.key)
        #expect(record.header?.storedSize == first.stored && record.header?.wholeSize == first.unpacked)
        #expect(top.tables.count == 5)
        let labels = try StoreInspector(at: store.path).extremes(limit: 3, of: "Label", damaged: { _ in })
        #expect(Set(labels.stored.map(\.entity)) == ["Label"] && labels.lists.allSatisfy { $0.entity == "Label" })
        #expect(labels.tables.contains { $0.meaning == "records of Label" })
    }
}
