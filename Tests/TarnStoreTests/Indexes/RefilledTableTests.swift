// Tables of indexes that a commit fills anew.

import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite("Index: tables filled anew")
struct RefilledTableTests {
    private static let index = IndexDefinition("byNumber", on: "number")
    private static let schema = Schema([
        EntityDefinition(
            "Item", key: ["id"],
            attributes: [AttributeDefinition("id", .int), AttributeDefinition("number", .int, optional: true)],
            indexes: [index], compression: .none)
    ])

    /// One of fifty numbers: in the index, the records of each are in the order of their ids.
    private func number(_ id: Int, _ round: Int = 0) -> Int64 { Int64((7 * id + round) % 50) }

    private func keys(_ store: Store) throws -> [Int64] {
        try store.read { reader in
            var keys: [Int64] = []
            try reader.forEach("Item", index: "byNumber", equalTo: []) { record in
                if case .int(let id)? = record.key.components.first { keys.append(id) }
                return true
            }
            return keys
        }
    }

    /// The number of leaves of the index, and how many its entries need.
    private func leaves(_ store: Store) throws -> (used: Int, needed: Double) {
        try store.read { reader in
            let id = try #require(reader.catalog.entity("Item")?.index("byNumber")?.id)
            let table = try reader.access.state.index(id), statistics = try reader.access.raw.statistics(table)
            // A node has a header of 8 bytes, and a place of 2 in the page (mdb.c, `MDB_node`).
            let bytes = try reader.access.keys(of: table).reduce(0) { $0 + 10 + ($1.count + 1) / 2 * 2 }
            return (statistics.leafPages, Double(bytes) / Double(statistics.pageSize - 16))
        }
    }

    /// Changes and deletes stored records, and adds many, in one commit.
    @Test("many insertions beside few entries leave full pages, and the entries that are right")
    func manyInsertions() throws {
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"), RefilledTableTests.schema)
        var numbers: [Int: Int64] = [:]
        func put(_ id: Int, _ number: Int64, _ writer: inout StoreWriter) throws {
            numbers[id] = number
            try writer.put("Item", RecordKey(Int64(id)), [Record.Field("number", .int(number))])
        }
        try store.write { writer in for id in 9000..<11_000 { try put(id, number(id), &writer) } }
        try store.write { writer in
            for id in 0..<9000 { try put(id, number(id), &writer) }
            for id in stride(from: 9000, to: 10_000, by: 3) { try put(id, number(id, 1), &writer) }
            for id in stride(from: 9001, to: 11_000, by: 7) {
                _ = try writer.delete("Item", RecordKey(Int64(id)))
                numbers[id] = nil
            }
            // An entry that is removed and comes back.
            try put(9002, -1, &writer)
            try put(9002, number(9002), &writer)
        }
        let wanted = numbers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { Int64($0.key) }
        #expect(try keys(store) == wanted)
        let (used, needed) = try leaves(store)
        #expect(Double(used) < 1.1 * needed, "\(used) leaves for \(needed)")
        // A commit of few changes finds and changes entries as before.
        try store.write { writer in for id in 3000..<3010 { try put(id, number(id, 7), &writer) } }
        #expect(try keys(store) == numbers.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map { Int64($0.key) })
    }

    @Test("an abandoned commit leaves the entries as they were")
    func abandoned() throws {
        let folder = try TemporaryFolder(), store = try Forge.open(folder("s"), RefilledTableTests.schema)
        try store.write { writer in
            for id in 0..<1000 {
                try writer.put("Item", RecordKey(Int64(id)), [Record.Field("number", .int(number(id)))])
            }
        }
        let before = try keys(store)
        struct Abandoned: Error {}
        #expect(throws: (any Error).self) {
            try store.write { writer in
                for id in 1000..<9000 {
                    try writer.put("Item", RecordKey(Int64(id)), [Record.Field("number", .int(number(id)))])
                }
                try writer.applyIndexChanges()
                throw Abandoned()
            }
        }
        #expect(try keys(store) == before && before.count == 1000)
    }
}
