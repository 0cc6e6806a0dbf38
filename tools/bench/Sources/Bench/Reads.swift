// Shared parts of the read cases: the records, their duration, and the reports.

import Foundation

/// The figures and checks of one run of the read cases, per second; nil if a contender does not
/// take part.
struct ReadMeasurement: Encodable {
    /// One field of a random record, in one transaction.
    var field: Double?
    /// A random record as a struct of 23 fields, in one transaction.
    var record: Double
    /// With a transaction for each.
    var each: Double
    /// From random users to their issues, one field of each issue: issues.
    var related: Double?
    /// `record` and `each` as the quickest that can be written by hand with the peer.
    var recordByHand: Double?
    var eachByHand: Double?
    /// A checksum of all fields of all records: it proves that the contenders read the same.
    var checksum: Int64
    var durability = "full"
    var compression = "none"

    private enum CodingKeys: String, CodingKey {
        case field, record, each, related, checksum, durability, compression
        case recordByHand = "record_by_hand"
        case eachByHand = "each_by_hand"
    }
}

/// A digest of the text lengths and numbers read, so that no field can be skipped.
protocol Checked {
    var checksum: Int64 { get }
}

enum Reads {
    /// All random picks, made before the clock starts.
    static func picks(_ keys: [Int64], seed: UInt64 = 1) -> [Int64] {
        var state = seed
        return (0..<(1 << 18)).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return keys[Int((state >> 33) % UInt64(keys.count))]
        }
    }

    /// Runs the work over picks, again and again, for at least `seconds` of the thread's own time;
    /// returns how many a second.
    static func rate(_ picks: [Int64], seconds: Double = 1, _ work: (ArraySlice<Int64>) throws -> Void) rethrows -> Double {
        // Once without the clock: caches are warm for everybody.
        try work(picks.prefix(1000))
        let start = Queries.processorTime()
        var done = 0
        while true {
            for first in stride(from: 0, to: picks.count, by: 4096) {
                try work(picks[first..<first + 4096])
                done += 4096
                let elapsed = Queries.processorTime() - start
                if elapsed >= seconds { return Double(done) / elapsed }
            }
        }
    }
}
