// GRDB in the scale cases.

import Foundation
import GRDB

enum PeerScale {
    static func measure(_ options: Options) throws -> ScaleMeasurement {
        try FileManager.default.createDirectory(at: options.store, withIntermediateDirectories: true)
        var pools: [Int: DatabasePool] = [:]
        func pool(_ size: Int) throws -> DatabasePool {
            if let pool = pools[size] { return pool }
            try pools.values.forEach { try $0.close() }
            pools.removeAll()
            // Its check of `synchronous` makes the figure valid.
            let pool = try PeerDatabase(in: options.store.appending(path: "\(size)")).pool
            try pool.write(PeerWrites.createTable)
            pools[size] = pool
            return pool
        }
        let write = { (size: Int, notes: ArraySlice<Note>) throws -> Void in
            try pool(size).write { database in for note in notes { try PeerWrites.put(note, database) } }
        }
        return try Scale.measure(
            upTo: Scale.largestOfOthers, records: options.records, fill: write,
            finishFilling: { size in _ = try pool(size).writeWithoutTransaction { try $0.checkpoint(.truncate) } },
            read: { size, picks in try pool(size).read { database in try read(database, picks) } },
            // In the order of the keys, as Tarn puts them too.
            write: { size, notes in try write(size, notes.sorted { $0.id < $1.id }[...]) },
            count: { size in try pool(size).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(PeerWrites.table)") ?? 0 } })
    }

    private static func read(_ database: Database, _ picks: [Int64]) throws -> (read: Double, range: Double, checksum: Int64) {
        let one = try database.cachedStatement(sql: "SELECT comments FROM \(PeerWrites.table) WHERE id = ?")
        let several = try database.cachedStatement(
            sql: "SELECT comments FROM \(PeerWrites.table) WHERE id >= ? ORDER BY id LIMIT \(Scale.rowsOfRange)")
        var total: Int64 = 0, checksum: Int64 = 0
        func comments(_ key: Int64) throws -> Int64 {
            one.setUncheckedArguments([key])
            return try Int64.fetchOne(one) ?? 0
        }
        let read = try Reads.rate(picks) { picks in for key in picks { total &+= try comments(key) } }
        func range(_ key: Int64) throws -> Int64 {
            several.setUncheckedArguments([key])
            var sum: Int64 = 0
            let found = try Int64.fetchCursor(several)
            while let comments = try found.next() { sum &+= comments }
            total &+= sum
            return sum
        }
        let ranges = try Queries.rate { number in
            _ = try range(picks[number & (picks.count - 1)])
            return Scale.rowsOfRange
        }
        for key in picks.prefix(1000) {
            checksum &+= try range(key)
            checksum &+= try comments(key)
        }
        guard total != 0 else { throw BenchmarkError("The peer read nothing") }
        return (read, ranges, checksum)
    }
}
