// The private memory of the process while it writes and reads far more rows.

import Foundation
import Tarn

/// In MB. The growth counts from the first tenth on, so that one-time memory does not count.
struct MemoryMeasurement: Encodable {
    var write: Double
    var scan: Double
    var anonymous: Double
    /// Pages of the file that are mapped: the system takes them back when it needs them.
    var file: Double
    var stored: Int
    var written: Int
    var durability = "full"
    /// The default; rows as small as these are stored as they are.
    var compression = "zstd"
}

struct SmallRow: StoredRecord {
    static let entity = "Small"
    typealias Key = Int64
    enum Field: Int, RecordField { case id, name, number }

    var id: Int64
    var name: String
    var number: Int64

    init(_ id: Int64) {
        self.id = id
        name = "row \(id)"
        number = id &* 31
    }

    init(_ row: Row<SmallRow>) throws(StoreError) {
        self.init(try row.get(.id))
    }

    func encode(into row: inout RowEncoder<SmallRow>) {
        row.set(.id, id)
        row.set(.name, name)
        row.set(.number, number)
    }
}

enum TarnMemory {
    static func measure(_ options: Options) throws -> MemoryMeasurement {
        let schema = Schema([
            EntityDefinition(
                "Small", key: ["id"],
                attributes: [.init("id", .int), .init("name", .string), .init("number", .int)])
        ])
        let store = try Store.open(at: options.store.path, schema: schema)
        let rows = 50 * options.records, step = max(1, rows / 100)
        var growth = Growth()
        for first in stride(from: 0, to: rows, by: step) {
            let end = min(first + step, rows)
            try store.write(alone: true) { writer in for id in first..<end { try writer.put(SmallRow(Int64(id))) } }
            try growth.look(isEarly: first < rows / 10)
        }
        let write = growth.value
        growth = Growth()
        var seen = 0, total: Int64 = 0
        try store.read { reader in
            try reader.forEach(SmallRow.self) { (row: Row<SmallRow>) throws -> Void in
                total &+= try row.get(.number)
                seen += 1
                if seen % step == 0 { try growth.look(isEarly: seen < rows / 10) }
            }
        }
        guard total != 0 else { throw BenchmarkError("Tarn read nothing") }
        return MemoryMeasurement(
            write: write, scan: growth.value, anonymous: try resident("RssAnon"), file: try resident("RssFile"), stored: seen,
            written: rows)
    }

    private struct Growth {
        private var early = 0.0, most = 0.0
        /// Not 0: ratios are made of it.
        var value: Double { max(0.01, most - early) }

        mutating func look(isEarly: Bool) throws {
            let now = try resident("RssAnon")
            if isEarly { early = max(early, now) }
            most = max(most, now)
        }
    }

    /// A line of /proc/self/status, in MB.
    static func resident(_ name: String) throws -> Double {
        let line = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n").first { $0.hasPrefix(name + ":") }
        guard let number = line?.split(whereSeparator: { " \t".contains($0) }).dropFirst().first.flatMap({ Double($0) }) else {
            throw BenchmarkError("/proc/self/status has no \(name)")
        }
        return number * 1024 / 1e6
    }
}
