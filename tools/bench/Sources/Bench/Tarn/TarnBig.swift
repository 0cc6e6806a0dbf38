// An import of pages that come as a stream: how fast, and in how much memory.

import Foundation
import Tarn

/// The figures and checks of one run of `import.big`.
struct BigMeasurement: Encodable {
    /// While Tarn works: waiting for the stream is not counted.
    var seconds: Double
    var megabytes: Double
    var commits: Int
    /// The most RssAnon of the process, in MB, looked at every 5 ms.
    var anonymous: Double
    /// The memory before the first page.
    var anonymousBefore: Double
    var counts: [String: Int]
    /// The counts that the stream declares.
    var expected: [String: Int]
    var durability = "full"
    var compression: String

    private enum CodingKeys: String, CodingKey {
        case seconds, megabytes, commits, anonymous, counts, expected, durability, compression
        case anonymousBefore = "anonymous_before"
    }
}

enum TarnBig {
    /// Standard input has one page per line, and then the expected counts of a complete import.
    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> BigMeasurement {
        let store = try TarnCases.open(options, compression)
        var importing = try TarnImporting(TarnModel.mapping, store, bodiesPerCommit: options.pagesPerCommit)
        var lines = StandardInputLines()
        let clock = ContinuousClock()
        var seconds = 0.0, bytes = 0, page = 0, expected: [String: Int]?
        let before = try TarnMemory.resident("RssAnon"), peak = MemoryPeak()
        while let line = try lines.next() {
            if line.first == UInt8(ascii: "{") {
                expected = try JSONDecoder().decode([String: Int].self, from: Data(line))
                break
            }
            page += 1
            bytes += line.count
            let path = TarnImporting.path(ofPage: page)
            let start = clock.now
            try await importing.add(line, entity: "Issue", path: path)
            seconds += (clock.now - start) / .seconds(1)
        }
        let start = clock.now
        try await importing.finish()
        seconds += (clock.now - start) / .seconds(1)
        let anonymous = try peak.end()
        guard let expected else { throw BenchmarkError("The stream of pages ended after \(page) of them") }
        _ = try importing.checkedReport()
        return BigMeasurement(
            seconds: seconds, megabytes: Double(bytes) / 1e6, commits: importing.commits, anonymous: anonymous,
            anonymousBefore: before, counts: try store.read(TarnModel.counts), expected: expected, compression: compression.rawValue)
    }
}

/// Reads standard input line by line, with no more in memory than the line and a piece of the next.
private struct StandardInputLines {
    private var rest: [UInt8] = []
    private var piece = [UInt8](repeating: 0, count: 1 << 16)

    mutating func next() throws -> [UInt8]? {
        if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            defer { rest.removeSubrange(...end) }
            return Array(rest[..<end])
        }
        var line = rest
        rest = []
        while true {
            let count = read(0, &piece, piece.count)
            guard count >= 0 else { throw BenchmarkError("standard input: \(String(cString: strerror(errno)))") }
            if count == 0 { return line.isEmpty ? nil : line }
            if let end = piece[..<count].firstIndex(of: UInt8(ascii: "\n")) {
                line += piece[..<end]
                rest = Array(piece[(end + 1)..<count])
                return line
            }
            line += piece[..<count]
        }
    }
}
