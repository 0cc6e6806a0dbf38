// The cases in which Tarn takes part.

import Foundation
import Tarn
import TarnInspect

/// Tarn itself, through its public interface: as it is by default, and without compression.
enum TarnCases {
    static let contenders: [Contender] = EntityDefinition.Compression.allCases.flatMap { compression in
        let name = "tarn.\(compression.rawValue)"
        return [
            Contender(name: name, benchmark: "import") { try importPages($0, compression) },
            Contender(name: name, benchmark: "read") { try TarnReads.measure($0, compression) },
            Contender(name: name, benchmark: "query") { try TarnQueries.measure($0, compression) },
            Contender(name: name, benchmark: "scale") { try TarnScale.measure($0, compression) },
            Contender(name: name, benchmark: "write.small") { try await TarnWrites.small($0, compression) },
            Contender(name: name, benchmark: "write.bulk") { try TarnWrites.bulk($0, compression) },
        ]
    } + [
        Contender(name: "tarn.zstd", benchmark: "memory", measure: TarnMemory.measure),
        Contender(name: "tarn.zstd", benchmark: "observe", measure: TarnObserving.measure),
    ]

    /// A store with the workload, after an import that nobody measures.
    ///
    /// - Parameter indexed: attributes of issues that get an index.
    static func fill(
        _ options: Options, _ compression: EntityDefinition.Compression, indexed: [String] = []
    ) throws -> Store {
        let pages = try Pages(in: options.pages), store = try open(options, compression, indexed: indexed)
        _ = try importPages(pages, into: store, options)
        return store
    }

    private static func open(
        _ options: Options, _ compression: EntityDefinition.Compression, indexed: [String] = []
    ) throws -> Store {
        try Store.open(
            at: options.store.path, schema: TarnModel.schema(compression, indexed: indexed),
            options: Store.Options(durability: .full))
    }

    private static func importPages(_ options: Options, _ compression: EntityDefinition.Compression) throws -> Measurement {
        var measurement = try importOnly(options, compression)
        // The inspector opens the store itself, read-only.
        measurement.usedBytes = try usedBytes(options)
        guard compression == .zstd else { return measurement }
        do {
            let store = try Store.open(at: options.store.path)
            measurement.rewriteSeconds = try stopwatch { try store.rewrite() }
            measurement.rewrittenBytes = try sizeOfFiles(in: options.store)
            guard try store.read(TarnModel.counts) == measurement.counts else {
                throw BenchmarkError("a rewrite changed what is in the store")
            }
        }
        measurement.usedBytesRewritten = try usedBytes(options)
        return measurement
    }

    private static func importOnly(_ options: Options, _ compression: EntityDefinition.Compression) throws -> Measurement {
        let pages = try Pages(in: options.pages), store = try open(options, compression)
        let (seconds, commits) = try importPages(pages, into: store, options)
        let responses = try store.read { try $0.responseCount }
        guard responses == pages.bodies.count else {
            throw BenchmarkError("Tarn kept \(responses) responses of \(pages.bodies.count)")
        }
        return Measurement(
            seconds: seconds, megabytes: pages.megabytes, commits: commits, counts: try store.read(TarnModel.counts),
            durability: "full", compression: compression.rawValue, storeBytes: try sizeOfFiles(in: options.store))
    }

    /// What is in use of the file: the rest is free for later writes.
    private static func usedBytes(_ options: Options) throws -> Int {
        let environment = try StoreStatistics(ofStoreAt: options.store.path).environment
        return (environment.lastPage + 1 - environment.freePages) * environment.pageSize
    }

    /// What `Tarn.Mirror` does with the pages of a walk, without the network: every page drafted and its response's entry
    /// kept, one commit for each group of pages, and a dictionary trained when there is enough to train it from. So that it
    /// does not come after a large commit, there is one of the first 1,000 issues besides.
    private static func importPages(
        _ pages: Pages, into store: Store, _ options: Options
    ) throws -> (seconds: Double, commits: Int) {
        // The form in which Tarn's transport hands over a body.
        let bodies = pages.bodies.map { [UInt8]($0) }
        let importer = try Importer(TarnModel.mapping, store.catalog)
        var commits = 0, unwanted = ImportReport()
        let seconds = try stopwatch {
            var first = 0
            while first < bodies.count {
                let count = first == 0 ? min(pagesToTrain, options.pagesPerCommit) : options.pagesPerCommit
                let numbers = first..<min(first + count, bodies.count)
                first = numbers.upperBound
                let responses = try numbers.map { number in
                    response(try importer.add(bodies[number], entity: "Issue"), page: number + 1)
                }
                let report = try store.write(alone: true) { writer in
                    let report = try importer.commit(into: &writer)
                    for response in responses { try writer.putResponse(response) }
                    return report
                }
                try store.trainDictionaries()
                if report.diagnosticCount > 0 || !report.unmapped.isEmpty { unwanted = report }
                commits += 1
            }
        }
        guard unwanted.diagnosticCount == 0, unwanted.unmapped.isEmpty else {
            throw BenchmarkError(
                "Tarn did not understand the pages: \(unwanted.diagnostics.prefix(3)) \(unwanted.unmapped.prefix(3))")
        }
        return (seconds, commits)
    }

    private static let pagesToTrain = 10

    /// A response with the header fields that an API of this kind sends and that are needed for the next walk.
    private static func response(_ added: Importer.Added, page: Int) -> ResponseEntry {
        let now = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
        return ResponseEntry(
            request: RequestKey(url: "https://api.example.org/repos/o/r/issues?page=\(page)&per_page=100", endpoint: "issues"),
            status: 200, headers: ["ETag", "W/\"page-\(page)\""], fetchedAt: now, validatedAt: now, scan: 1,
            count: added.count, listed: added.listed)
    }
}
