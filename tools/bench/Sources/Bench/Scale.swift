// Shared parts of the scale cases: the sizes, the rows, and the reports.

import Foundation

/// The figures and checks of one run of the scale cases, for each size: per second.
struct ScaleMeasurement: Encodable {
    struct Size: Encodable {
        /// One field of a random row: rows.
        var read: Double
        /// One field of 100 rows from a random key on: rows.
        var range: Double
        /// Rows with keys between those that are there, in random order, 1,000 a durable commit:
        /// rows.
        var insert: Double
        /// Other values in random rows, 1,000 a durable commit: rows.
        var update: Double
    }

    /// By how many times as many rows as `--records` there are.
    var sizes: [String: Size] = [:]
    /// A checksum of the first picks: it proves that the contenders read the same.
    var checksum: Int64 = 0
    var stored = 0
    var written = 0
    var durability = "full"
    var compression = "none"
}

enum Scale {
    /// Times `--records`: 10,000, 100,000, 1,000,000 and 5,000,000 rows by default.
    static let sizes = [1, 10, 100, 500]
    /// The peer and the floor stop here.
    static let largestOfOthers = 100
    static let rowsOfRange = 100
    static let rowsOfCommit = 1000
    static let rowsOfFilling = 10_000

    /// Rows that are inserted, and rows that are updated.
    static func changes(_ rows: Int) -> Int { min(20_000, max(rows / 2, 1)) }

    /// Every second key is left out, for the inserts.
    static func key(_ position: Int) -> Int64 { 2 * Int64(position) }

    /// Positions of rows in an order that is as good as random, each once, the same for all.
    static func positions(_ count: Int, of rows: Int) -> [Int] {
        // A step that is coprime to the number of rows reaches all of them.
        var step = rows * 618 / 1000 | 1
        while gcd(step, rows) != 1 { step += 2 }
        return (0..<count).map { Int((UInt64($0) &* UInt64(step) &+ 7) % UInt64(rows)) }
    }

    private static func gcd(_ a: Int, _ b: Int) -> Int { b == 0 ? a : gcd(b, a % b) }

    /// The note of a key, and with other values. `ready` has 1,024 texts, which would be too easy
    /// to compress.
    static func note(_ key: Int64, changed: Bool = false) -> Note {
        var note = Note(key)
        if changed { note.comments += 1000 }
        return note
    }

    /// The operations of a store: the case measures them, the contender provides them.
    static func measure(
        upTo largest: Int, records: Int, fill: (Int, ArraySlice<Note>) throws -> Void, finishFilling: (Int) throws -> Void,
        read: (Int, [Int64]) throws -> (read: Double, range: Double, checksum: Int64),
        write: (Int, [Note]) throws -> Void, count: (Int) throws -> Int
    ) throws -> ScaleMeasurement {
        var result = ScaleMeasurement()
        for size in sizes where size <= largest {
            let rows = size * records
            for first in stride(from: 0, to: rows, by: rowsOfFilling) {
                let notes = (first..<min(first + rowsOfFilling, rows)).map { note(key($0)) }
                try fill(size, notes[...])
            }
            try finishFilling(size)
            let keys = positions(min(rows, 1 << 16), of: rows).map(key)
            let reads = try read(size, Reads.picks(keys, seed: 3))
            let changed = changes(rows), places = positions(changed, of: rows)
            func rate(_ note: (Int) -> Note) throws -> Double {
                var seconds = 0.0
                for first in stride(from: 0, to: changed, by: rowsOfCommit) {
                    let notes = places[first..<min(first + rowsOfCommit, changed)].map(note)
                    seconds += try stopwatch { try write(size, notes) }
                }
                return Double(changed) / seconds
            }
            let insert = try rate { note(key($0) + 1) }
            let update = try rate { note(key($0), changed: true) }
            result.sizes[String(size)] = ScaleMeasurement.Size(read: reads.read, range: reads.range, insert: insert, update: update)
            // A figure of only one contender is not compared.
            if size <= largestOfOthers { result.checksum &+= reads.checksum }
            result.stored += try count(size)
            result.written += rows + changed
        }
        return result
    }
}
