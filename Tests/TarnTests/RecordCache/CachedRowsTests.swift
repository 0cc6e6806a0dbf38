// The rows that a hit lends.

import Foundation
import Synchronization
import Tarn
import TarnDescription
import TestSupport
import Testing

@testable import TarnStore

@Suite("Rows of a cached answer", .timeLimit(.minutes(5)))
struct CachedRowsTests {
    @Test("a hit lends keys and rows, and copies nothing")
    func lent() async throws {
        let server = try itemServer(
            "Cache-Control: max-age=60", body: #"[{"id":2,"name":"two"},{"id":1,"name":"one"}]"#)
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let prepared = try await cache.prepare(CacheRequest("items"))
        #expect(try cache.withHit(prepared) { _, _ in true } == nil)
        _ = try await cache.fetch(prepared)
        let found = try cache.withHit(prepared) { decision, listed in
            var keys: [Int64] = [], count = 0
            listed.forEachKey(as: Int64.self) {
                keys.append($0)
                return true
            }
            listed.forEachKey(as: Int64.self) { _ in
                count += 1
                return false
            }
            // A key of another type is passed over.
            var numbers: [Int] = [], others: [RecordKey] = [], texts = 0
            listed.forEachKey(as: Int.self) {
                numbers.append($0)
                return true
            }
            listed.forEachKey(as: RecordKey.self) {
                others.append($0)
                return true
            }
            listed.forEachKey(as: String.self) { _ in
                texts += 1
                return true
            }
            #expect(numbers == [2, 1] && others == [RecordKey(2), RecordKey(1)] && texts == 0)
            return "\(decision.rule) \(keys) \(count) \(listed.count) \(try listed.records().map(\.key))"
        }
        #expect(found == "fresh [2, 1] 1 2 [2, 1]")
        fixture.clock.pass(100)
        #expect(try cache.withHit(prepared) { _, _ in true } == nil)
    }

    @Test("a hit lends the rows of a long list in its order, until enough are seen")
    func manyLent() async throws {
        // Neighbours up and down, repeated ones, and numbers far apart.
        let ids = Array(100..<140) + (60..<90).reversed() + [5000, 3, 4000, 3] + (0..<20).map { $0 * 37 % 600 + 200 }
        let elements = ids.map { #"{"id":\#($0),"name":"item \#($0)"}"# }.joined(separator: ",")
        let server = try itemServer("Cache-Control: max-age=60", body: "[\(elements)]")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let prepared = try await cache.prepare(CacheRequest("items"))
        _ = try await cache.fetch(prepared)
        for most in [1, 2, 3, 10, 50, ids.count, ids.count + 1] {
            let seen = try cache.withHit(prepared) { _, listed in
                var seen: [String] = []
                try listed.forEach(Item.self) { row in
                    seen.append("\(try row.get(.id, as: Int64.self)) \(try row.get(.name, as: String.self))")
                    return seen.count < most
                }
                return seen
            }
            #expect(seen == ids.prefix(most).map { "\($0) item \($0)" })
        }
    }

    @Test("a damaged row among those of a hit is named, after the rows before it", arguments: [0, 17, 39])
    func damagedAmongMany(_ place: Int) async throws {
        let elements = (100..<140).map { #"{"id":\#($0),"name":"item \#($0)"}"# }.joined(separator: ",")
        let server = try itemServer("Cache-Control: max-age=60", body: "[\(elements)]")
        let fixture = try CacheFixture(yaml: itemsYAML()), cache = try fixture.cache(server.base)
        let prepared = try await cache.prepare(CacheRequest("items"))
        _ = try await cache.fetch(prepared)
        try await fixture.store.write { writer in
            let table = try writer.access.state.records(of: writer.access.state.entity("Item").id)
            try RecordKey(Int64(100 + place)).storageKey.withUnsafeBytes { key in
                var row = Array(try #require(try writer.access.raw.get(table, key)))
                row[row.count - 1] ^= 1
                try row.withUnsafeBytes { try writer.access.raw.put(table, key, $0) }
            }
        }
        var seen: [Int64] = []
        #expect(throws: StoreError.damagedRow(entity: "Item", key: "\(100 + place)")) {
            _ = try cache.withHit(prepared) { _, listed in
                try listed.forEach(Item.self) { row in
                    seen.append(try row.get(.id, as: Int64.self))
                    return true
                }
            }
        }
        #expect(seen == (100..<(100 + Int64(place))).map { $0 })
    }

    private struct Item: StoredRecord {
        static let entity = "Item"
        typealias Key = Int64
        enum Field: Int, RecordField { case id, name }
        var id: Int64
        init(_ row: Row<Item>) throws(StoreError) { id = try row.get(.id) }
        func encode(into row: inout RowEncoder<Item>) { row.set(.id, id) }
    }
}
