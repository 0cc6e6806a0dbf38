// The cases in which Tarn takes part.

import Foundation
import Tarn

/// Tarn itself, through its public interface.
enum TarnCases {
    static let contenders: [Contender] = [
        Contender(name: "tarn", benchmark: "import.cold", measure: importPages),
        Contender(name: "tarn", benchmark: "read", measure: TarnReads.measure),
    ]

    /// What `Tarn.Mirror` does with the pages of a walk, without the network: every page drafted and its response's entry
    /// kept, and one commit for each group of pages.
    static func importPages(_ options: Options) throws -> Measurement {
        let pages = try Pages(in: options.pages)
        // The form in which Tarn's transport hands over a body.
        let bodies = pages.bodies.map { [UInt8]($0) }
        let store = try Store.open(
            at: options.store.path, schema: TarnModel.schema, options: Store.Options(durability: .full))
        let importer = try Importer(TarnModel.mapping, store.catalog)
        var commits = 0, unwanted = ImportReport()
        let seconds = try stopwatch {
            for first in stride(from: 0, to: bodies.count, by: options.pagesPerCommit) {
                let numbers = first..<min(first + options.pagesPerCommit, bodies.count)
                let responses = try numbers.map { number in
                    response(try importer.add(bodies[number], entity: "Issue"), page: number + 1)
                }
                let report = try store.write { writer in
                    let report = try importer.commit(into: &writer)
                    for response in responses { try writer.putResponse(response) }
                    return report
                }
                if report.diagnosticCount > 0 || !report.unmapped.isEmpty { unwanted = report }
                commits += 1
            }
        }
        guard unwanted.diagnosticCount == 0, unwanted.unmapped.isEmpty else {
            throw BenchmarkError(
                "Tarn did not understand the pages: \(unwanted.diagnostics.prefix(3)) \(unwanted.unmapped.prefix(3))")
        }
        let responses = try store.read { try $0.responseCount }
        guard responses == bodies.count else {
            throw BenchmarkError("Tarn kept \(responses) responses of \(bodies.count)")
        }
        return Measurement(
            seconds: seconds, megabytes: pages.megabytes, commits: commits, counts: try store.read(TarnModel.counts),
            durability: "full", compression: "none", storeBytes: try sizeOfFiles(in: options.store))
    }

    /// A response with the header fields that an API of this kind sends and that are needed for the next walk.
    private static func response(_ added: Importer.Added, page: Int) -> ResponseEntry {
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        return ResponseEntry(
            request: RequestKey(url: "https://api.example.org/repos/o/r/issues?page=\(page)&per_page=100", endpoint: "issues"),
            status: 200, headers: ["ETag", "W/\"page-\(page)\""], fetchedAt: now, validatedAt: now, scan: 1,
            count: added.count, listed: added.listed)
    }
}
