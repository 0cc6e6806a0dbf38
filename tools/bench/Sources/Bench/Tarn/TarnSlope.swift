// How the cost of an operation grows with the number of rows.

import Foundation
import Tarn

/// The cost of each operation in ns, by the number of rows.
struct SlopeMeasurement: Encodable {
    struct Size: Encodable {
        var rows: Int
        /// One field of a random row.
        var read: Double
        /// One field of each of 100 rows from a random key on.
        var range: Double
        /// A row with a key between those that are there, in random order, 1,000 a durable commit.
        var insert: Double
        /// Another value in a random row, 1,000 a durable commit.
        var update: Double
        /// 20 structs from a random text on, in the order of its index.
        var query: Double
        /// A hit of the record cache that reads a field of each of 100 records.
        var hit: Double
    }

    var sizes: [Size] = []
    var stored = 0
    var written = 0
    var durability = "full"
    var compression = "none"
}

enum TarnSlope {
    /// Times `--records`: 10,000 to 10,000,000 rows by default.
    private static let factors = [1, 10, 100, 1000]
    private static let limit = 20
    private static let listed = 100

    static func measure(_ options: Options) async throws -> SlopeMeasurement {
        try FileManager.default.createDirectory(at: options.store, withIntermediateDirectories: true)
        var result = SlopeMeasurement()
        for factor in factors {
            let rows = factor * options.records, folder = options.store.appending(path: "\(rows)")
            let keys = Scale.positions(min(rows, 1 << 16), of: rows).map(Scale.key)
            let written = try writing(rows, folder.path, keys)
            // The index is built over what is there.
            let store = try Store.open(
                at: folder.path, schema: schema(indexed: true), options: Store.Options(durability: .full))
            let query = try self.query(store, keys), hit = try await self.hit(store, rows)
            result.stored += try store.read { try $0.count("Note") }
            result.written += rows + Scale.changes(rows)
            result.sizes.append(
                SlopeMeasurement.Size(
                    rows: rows, read: written.read, range: written.range, insert: written.insert, update: written.update,
                    query: query, hit: hit))
            try FileManager.default.removeItem(at: folder)
        }
        guard result.stored == result.written else { throw BenchmarkError("not every row was stored") }
        return result
    }

    private static func schema(indexed: Bool) -> Schema {
        Schema([
            EntityDefinition(
                "Note", key: ["id"],
                attributes: [
                    .init("id", .int), .init("title", .string, indexed: indexed), .init("author", .string),
                    .init("state", .string), .init("comments", .int), .init("text", .string),
                ], compression: .none)
        ])
    }

    /// Fills a store, and measures what needs no index.
    private static func writing(
        _ rows: Int, _ path: String, _ keys: [Int64]
    ) throws -> (read: Double, range: Double, insert: Double, update: Double) {
        let store = try Store.open(at: path, schema: schema(indexed: false), options: Store.Options(durability: .full))
        for first in stride(from: 0, to: rows, by: Scale.rowsOfFilling) {
            let notes = (first..<min(first + Scale.rowsOfFilling, rows)).map { Scale.note(Scale.key($0)) }
            try store.write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
        }
        let reads = try store.read { try TarnScale.read($0, Reads.picks(keys, seed: 3)) }
        let changed = Scale.changes(rows), places = Scale.positions(changed, of: rows)
        func cost(_ note: (Int) -> Note) throws -> Double {
            var seconds = 0.0
            for first in stride(from: 0, to: changed, by: Scale.rowsOfCommit) {
                let notes = places[first..<min(first + Scale.rowsOfCommit, changed)].map(note)
                seconds += try stopwatch {
                    try store.write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
                }
            }
            return seconds * 1e9 / Double(changed)
        }
        let insert = try cost { Scale.note(Scale.key($0) + 1) }
        let update = try cost { Scale.note(Scale.key($0), changed: true) }
        return (1e9 / reads.read, 1e9 * Double(Scale.rowsOfRange) / reads.range, insert, update)
    }

    private static func query(_ store: Store, _ keys: [Int64]) throws -> Double {
        try store.read { reader in
            let titles = keys.prefix(1024).map { Note($0).title }
            func query(_ title: String) -> TypedQuery<Note> {
                Note.where { $0[.title] >= title }.sorted(by: .title).prefix(limit)
            }
            let plan = try reader.explain(query(titles[0]).query).description
            guard plan.contains("title"), !plan.contains("in memory") else {
                throw BenchmarkError("the query does not use the index: \(plan)")
            }
            var total: Int64 = 0
            let rate = try Queries.rate { number in
                total &+= try reader.fetch(query(titles[number % titles.count])).last?.comments ?? 0
                return 1
            }
            guard total != 0 else { throw BenchmarkError("the query found nothing") }
            return 1e9 / rate
        }
    }

    private static func hit(_ store: Store, _ rows: Int) async throws -> Double {
        let page = (rows / 2..<rows / 2 + listed).map { Scale.note(Scale.key($0)) }
        let body = try JSONSerialization.data(
            withJSONObject: page.map {
                [
                    "id": $0.id, "title": $0.title, "author": $0.author, "state": $0.state, "comments": $0.comments,
                    "text": $0.text,
                ] as [String: Any]
            })
        let description = Description(
            file: "bench", storePath: store.path, api: APIDescription(base: "https://api.test.example"),
            schema: schema(indexed: true), mapping: Mapping(), endpoints: [Endpoint(name: "notes", path: "/notes", entity: "Note")])
        let cache = try RecordCache(
            description, store: store, transport: TarnCaching.Pretended(body: [UInt8](body)), options: RecordCache.Options())
        let prepared = try await cache.prepare(CacheRequest("notes"))
        guard try await cache.fetch(prepared).records.count == listed else { throw BenchmarkError("the page is not whole") }
        var total: Int64 = 0
        let hit = try TarnCaching.median(5_000) {
            let found: Void? = try cache.withHit(prepared) { _, listed in
                try listed.forEach(Note.self) { row in
                    total &+= try row.get(.comments)
                    return true
                }
            }
            guard found != nil else { throw BenchmarkError("no hit") }
        }
        guard total != 0 else { throw BenchmarkError("nothing was read") }
        return hit * 1000
    }
}
