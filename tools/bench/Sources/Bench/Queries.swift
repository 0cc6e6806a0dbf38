// Shared parts of the query cases: the queries, their duration, and the reports.

import Foundation

/// The figures and checks of one run of the query cases, per second. For the peer, the best of its
/// ways.
struct QueryMeasurement: Encodable {
    /// Issues of 23 fields, by a range of dates, in the order of the index, 50 a query: issues.
    var index: Double
    /// Every issue is looked at, one field of those that meet a condition is summed up: issues
    /// looked at.
    var scan: Double
    /// 50 issues with their authors and their labels a query: issues.
    var include: Double
    /// Counting by an index: records counted.
    var count: Double
    /// Counting in groups by an index: records counted.
    var group: Double
    /// A checksum of all results: it proves that the contenders found the same.
    var checksum: Int64
    /// With the peer: by hand, with statements and `init(row:)` on a table whose dates are numbers;
    /// the others are by GRDB's own means.
    var index_by_hand: Double?
    var include_by_hand: Double?
    /// With the peer: how every way did that was tried, for each case.
    var ways: [String: [String: Double]]?
    var durability = "full"
    var compression = "none"
}

enum Queries {
    /// The limit of a query for the first records.
    static let limit = 50
    /// Four of 50 equally frequent numbers of comments are above it: 8 of 100 issues meet the
    /// condition.
    static let comments: Int64 = 45
    static let state = "open"
    /// The number of results in the checksum.
    static let checked = 16

    /// The starts of ranges: random existing dates.
    static func starts(_ dates: [Int64]) -> [Int64] { Array(Reads.picks(dates, seed: 5).prefix(1024)) }

    /// Runs a query again and again for at least `seconds` of the thread's own time; returns how
    /// many records a second it went through. All is in memory and one thread works, so on a quiet
    /// machine that is the time that passes; on a busy one it leaves out when others had the
    /// processor.
    ///
    /// - Parameter work: is given the number of the query and returns how many records it went
    ///   through.
    static func rate(seconds: Double = 1, _ work: (Int) throws -> Int) rethrows -> Double {
        // Once without the clock: statements are prepared, caches are warm for everybody.
        _ = try work(0)
        let start = processorTime()
        var done = 0, number = 1
        while true {
            done += try work(number)
            number += 1
            let elapsed = processorTime() - start
            if elapsed >= seconds { return Double(done) / elapsed }
        }
    }

    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
