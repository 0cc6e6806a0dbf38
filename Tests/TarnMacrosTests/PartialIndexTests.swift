// Conditions of typed indexes, and conditions that are built in loops.

import Foundation
import TarnMacros
import TestSupport
import Testing

@Suite("Conditions of typed indexes")
struct PartialIndexTests {
    @Record struct Ranged: Equatable {
        @Key var id: Int
        var n: Int
        static var indexes: [RecordIndex<Ranged>] { [RecordIndex(\.n, name: "low", where: { $0.n.isIn(0...3) })] }
    }

    @Record struct Alternative: Equatable {
        @Key var id: Int
        var n: Int
        static var indexes: [RecordIndex<Alternative>] {
            [RecordIndex(\.n, name: "either", where: { $0.n == 1 || $0.n == 2 })]
        }
    }

    @Test("a range is a condition of a partial index")
    func range() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Ranged.self]))
        try store.write { for n in 0..<6 { try $0.put(Ranged(id: n, n: n)) } }
        #expect(try store.read { try $0.fetch(Ranged.where { $0.n.isIn(0...3) }) }.map(\.n) == [0, 1, 2, 3])
    }

    @Test("a condition that no partial index has is the error of opening the store, and names the way out")
    func alternatives() throws {
        let folder = try TemporaryFolder()
        #expect {
            _ = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Alternative.self]))
        } throws: { error in
            "\(error)".contains("joined by &&: remove n = 1 or n = 2")
        }
    }

    @Test("a condition that is nested too deeply is an error; one of many alternatives is not", .timeLimit(.minutes(1)))
    func deepConditions() throws {
        let folder = try TemporaryFolder()
        let store = try Store.open(at: folder("s.tarn"), schema: Schema(records: [Ranged.self]))
        try store.write { try $0.put(Ranged(id: 1, n: 7)) }
        let deep = Ranged.where { ranged in
            (0..<2000).reduce(ranged.id >= 0) { $1 % 2 == 0 ? ($0 || ranged.n == $1) : ($0 && ranged.n != $1) }
        }
        #expect(throws: StoreError.conditionTooDeep(entity: "Ranged", levels: 500)) {
            try store.read { try $0.count(deep) }
        }
        let many = Ranged.where { ranged in (1..<20_000).reduce(ranged.n == 0) { $0 || ranged.n == $1 } }
        #expect(try store.read { try $0.count(many) } == 1)
    }
}
