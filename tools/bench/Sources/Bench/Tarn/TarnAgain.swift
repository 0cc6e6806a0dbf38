// Pages that come again: nothing changed, and a hundredth of the issues changed.

import Foundation
import Tarn

/// The figures and checks of one run of `import.again`, in MB of JSON per second.
struct AgainMeasurement: Encodable {
    /// The import of unchanged pages.
    var again: Double
    /// The import of pages with one percent of changed issues.
    var changed: Double
    /// The first import, into an empty store.
    var cold: Double
    var megabytes: Double
    /// For each of the two.
    var commits: Int
    var changedIssues: Int
    /// The records and references in the store afterwards.
    var counts: [String: Int]
    var durability = "full"
    var compression: String

    private enum CodingKeys: String, CodingKey {
        case again, changed, cold, megabytes, commits, counts, durability, compression
        case changedIssues = "changed_issues"
    }
}

enum TarnAgain {
    /// The additional comments of a changed issue: more than any issue has.
    private static let moreComments: Int64 = 1000

    static func measure(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> AgainMeasurement {
        let pages = try Pages(in: options.pages), store = try TarnCases.open(options, compression)
        let bodies = pages.bodies.map { [UInt8]($0) }
        let (changedBodies, changedIssues) = try changed(pages.bodies)
        // A process that imports again and again keeps its pipeline.
        let pipeline = try ImportPipeline(TarnModel.mapping, store.catalog, depth: 4)
        guard let digest = KeyedDigest(secret: "import.again") else { throw BenchmarkError("no memory for a digest") }
        func importing(scan: UInt64) throws -> TarnImporting {
            try TarnImporting(
                TarnModel.mapping, store, bodiesPerCommit: options.pagesPerCommit, scan: scan, trainsEarly: scan == 1, pipeline: pipeline,
                digest: digest)
        }
        var cold = try importing(scan: 1)
        let coldSeconds = try await cold.importIssues(bodies)
        _ = try cold.checkedReport()
        let before = try store.read(TarnModel.counts)

        var again = try importing(scan: 2)
        let againSeconds = try await again.importIssues(bodies)
        let unchanged = try again.checkedReport()
        guard unchanged.created + unchanged.updated + unchanged.deleted == 0, unchanged.unchanged > 0,
            try store.read(highest) < moreComments
        else { throw BenchmarkError("Tarn changed something when the same pages came again: \(unchanged.entities)") }

        var third = try importing(scan: 3)
        let changedSeconds = try await third.importIssues(changedBodies)
        let report = try third.checkedReport()
        guard report.created + report.deleted == 0, report.updated == changedIssues, third.commits == again.commits,
            try store.read(stored) == changedIssues
        else { throw BenchmarkError("Of \(changedIssues) changed issues Tarn stored others: \(report.entities)") }
        let counts = try store.read(TarnModel.counts)
        guard counts == before else { throw BenchmarkError("Tarn has other records when the same pages came again") }
        return AgainMeasurement(
            again: pages.megabytes / againSeconds, changed: pages.megabytes / changedSeconds, cold: pages.megabytes / coldSeconds,
            megabytes: pages.megabytes, commits: again.commits, changedIssues: changedIssues, counts: counts,
            compression: compression.rawValue)
    }

    private static func highest(_ reader: StoreReader) throws -> Int64 {
        var most: Int64 = 0
        try reader.forEach(TarnIssue.self) { row in most = max(most, try row.get(.comments)) }
        return most
    }

    /// The number of changed issues in the store.
    private static func stored(_ reader: StoreReader) throws -> Int {
        var count = 0
        let date = Timestamp(changedDate)
        try reader.forEach(TarnIssue.self) { (row: Row<TarnIssue>) throws -> Void in
            let comments: Int64 = try row.get(.comments), updatedAt: Timestamp = try row.get(.updatedAt)
            guard (comments >= moreComments) == (updatedAt == date) else { throw BenchmarkError("half of a change is stored") }
            if comments >= moreComments { count += 1 }
        }
        return count
    }

    private static let date = "2024-12-31T23:59:59Z", changedDate = "2025-01-01T08:00:00Z"

    /// The pages with other values in one of a hundred issues, spread over all pages: other
    /// comments, and another date of the last change.
    private static func changed(_ bodies: [Data]) throws -> (bodies: [[UInt8]], issues: Int) {
        // Both values occur in this order, separated only by the date of creation.
        let comments = Data("\"comments\":".utf8), updated = Data("\"updated_at\":\"\(date)".utf8)
        let with = Data("\"updated_at\":\"\(changedDate)".utf8)
        var issue = 0, changes = 0
        let changed = bodies.map { (body: Data) -> [UInt8] in
            var result: [UInt8] = [], start = body.startIndex, place = body.startIndex
            while let found = body.range(of: comments, in: place..<body.endIndex) {
                guard let date = body.range(of: updated, in: found.upperBound..<body.endIndex) else { break }
                place = date.upperBound
                defer { issue += 1 }
                // A different one of each hundred, so that it is not always at the same position of
                // a page.
                guard issue % 100 == issue / 100 * 37 % 100 else { continue }
                changes += 1
                result += body[start..<found.upperBound]
                // 7 becomes 1007, and 49 becomes 1049.
                let digits = body[found.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                result += Array("\(moreComments + (Int64(String(decoding: digits, as: UTF8.self)) ?? 0))".utf8)
                result += body[digits.endIndex..<date.lowerBound]
                result += with
                start = date.upperBound
            }
            return result + body[start...]
        }
        guard changes > 0 else { throw BenchmarkError("import.changed needs at least 100 issues") }
        return (changed, changes)
    }
}
