// Tarn in the scale cases.

import Foundation
import Tarn

enum TarnScale {
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) throws -> ScaleMeasurement {
        try FileManager.default.createDirectory(at: options.store, withIntermediateDirectories: true)
        var stores: [Int: Store] = [:]
        func store(_ size: Int) throws -> Store {
            if let store = stores[size] { return store }
            // One at a time is open.
            stores.removeAll()
            let store = try TarnWrites.open(options.store.appending(path: "\(size)").path, compression)
            stores[size] = store
            return store
        }
        var measurement = try Scale.measure(
            upTo: .max, records: options.records,
            fill: { size, notes in
                try store(size).write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
            },
            finishFilling: { size in
                // Rows as small as these are compressed by a rewrite only, if there was no time for
                // it.
                if compression == .zstd { try store(size).rewrite() }
            },
            read: { size, picks in try store(size).read { reader in try read(reader, picks) } },
            write: { size, notes in
                try store(size).write(alone: true) { writer in _ = try writer.put(contentsOf: notes) }
            },
            count: { size in try TarnWrites.count(store(size)) })
        measurement.compression = compression.rawValue
        return measurement
    }

    static func read(_ reader: StoreReader, _ picks: [Int64]) throws -> (read: Double, range: Double, checksum: Int64) {
        var total: Int64 = 0, checksum: Int64 = 0
        let read = try Reads.rate(picks) { picks in
            for key in picks { total &+= try reader.withRow(Note.self, key) { row in try row.get(.comments) } ?? 0 }
        }
        func range(_ key: Int64) throws -> Int64 {
            var sum: Int64 = 0, left = Scale.rowsOfRange
            try reader.forEach(Note.self, in: KeyRange(RecordKey(key)...)) { row in
                sum &+= try row.get(.comments)
                left -= 1
                return left > 0
            }
            total &+= sum
            return sum
        }
        let ranges = try Queries.rate { number in
            _ = try range(picks[number & (picks.count - 1)])
            return Scale.rowsOfRange
        }
        for key in picks.prefix(1000) {
            checksum &+= try range(key)
            checksum &+= try reader.withRow(Note.self, key) { row in try row.get(.comments) } ?? 0
        }
        guard total != 0 else { throw BenchmarkError("Tarn read nothing") }
        return (read, ranges, checksum)
    }
}
