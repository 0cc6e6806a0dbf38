// The cases in which Tarn takes part.

import Foundation
import Tarn
import TarnInspect

/// Tarn itself, through its public interface: as it is by default, and without compression.
enum TarnCases {
    #if TYPED
        private static let typed: [Contender] = EntityDefinition.Compression.allCases.map { compression in
            Contender(name: "tarn.\(compression.rawValue)", benchmark: "typed") { try await TarnTyped.measure($0, compression) }
        }
    #else
        private static let typed: [Contender] = []
    #endif

    static let contenders: [Contender] = typed + EntityDefinition.Compression.allCases.flatMap { compression in
        let name = "tarn.\(compression.rawValue)"
        return [
            Contender(name: name, benchmark: "import") { try await importPages($0, compression) },
            Contender(name: name, benchmark: "read") { try await TarnReads.measure($0, compression) },
            Contender(name: name, benchmark: "query") { try await TarnQueries.measure($0, compression) },
            Contender(name: name, benchmark: "scale") { try TarnScale.measure($0, compression) },
            Contender(name: name, benchmark: "cache") { try await TarnCaching.measure($0, compression) },
            Contender(name: name, benchmark: "write.small") { try await TarnWrites.small($0, compression) },
            Contender(name: name, benchmark: "write.bulk") { try TarnWrites.bulk($0, compression) },
        ] + Shape.allCases.map { shape in
            Contender(name: name, benchmark: shape.benchmark) { try await TarnShapes.measure(shape, $0, compression) }
        }
    } + [
        Contender(name: "tarn.zstd", benchmark: "import.again") { try await TarnAgain.measure($0, .zstd) },
        Contender(name: "tarn.zstd", benchmark: "import.big") { try await TarnBig.measure($0, .zstd) },
        Contender(name: "tarn.none", benchmark: "cache.many", measure: TarnManyEntries.measure),
        Contender(name: "tarn.zstd", benchmark: "memory", measure: TarnMemory.measure),
        Contender(name: "tarn.none", benchmark: "slope", measure: TarnSlope.measure),
        Contender(name: "tarn.zstd", benchmark: "observe", measure: TarnObserving.measure),
        Contender(name: "tarn.zstd", benchmark: "outbox.enqueue", measure: TarnOutbox.enqueue),
        Contender(name: "tarn.zstd", benchmark: "outbox.drain", measure: TarnOutbox.drain),
        Contender(name: "tarn.zstd", benchmark: "mirror") { try await TarnMirror.measure($0, .zstd) },
        Contender(name: "tarn.zstd", benchmark: "http", measure: TarnMirror.requests),
    ]

    /// A store with the workload, after an unmeasured import.
    ///
    /// - Parameter indexed: attributes of issues that get an index.
    static func fill(
        _ options: Options, _ compression: EntityDefinition.Compression, indexed: [String] = []
    ) async throws -> Store {
        let pages = try Pages(in: options.pages), store = try open(options, compression, indexed: indexed)
        var importing = try TarnImporting(TarnModel.mapping, store, bodiesPerCommit: options.pagesPerCommit)
        _ = try await importing.importIssues(pages.bodies.map { [UInt8]($0) })
        _ = try importing.checkedReport()
        return store
    }

    static func open(
        _ options: Options, _ compression: EntityDefinition.Compression, indexed: [String] = []
    ) throws -> Store {
        try Store.open(
            at: options.store.path, schema: TarnModel.schema(compression, indexed: indexed),
            options: Store.Options(durability: .full, verifiesRows: verifiesRows))
    }

    /// `TARN_VERIFIES_ROWS=0` measures what comparing the checksum of every row costs.
    private static let verifiesRows = ProcessInfo.processInfo.environment["TARN_VERIFIES_ROWS"] != "0"

    private static func importPages(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> Measurement {
        var measurement = try await importOnly(options, compression)
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
        try Store.compact(at: options.store.path)
        measurement.compactedBytes = try sizeOfFiles(in: options.store)
        return measurement
    }

    private static func importOnly(_ options: Options, _ compression: EntityDefinition.Compression) async throws -> Measurement {
        let pages = try Pages(in: options.pages), store = try open(options, compression)
        // The form in which Tarn's transport hands over a body.
        let bodies = pages.bodies.map { [UInt8]($0) }
        var importing = try TarnImporting(TarnModel.mapping, store, bodiesPerCommit: options.pagesPerCommit)
        let seconds = try await importing.importIssues(bodies)
        _ = try importing.checkedReport()
        return Measurement(
            seconds: seconds, megabytes: pages.megabytes, commits: importing.commits, counts: try store.read(TarnModel.counts),
            durability: "full", compression: compression.rawValue, storeBytes: try sizeOfFiles(in: options.store))
    }

    /// The used part of the file: the rest is free for later writes.
    private static func usedBytes(_ options: Options) throws -> Int {
        let statistics = try StoreInspector(at: options.store.path).statistics()
        return (statistics.lastPage + 1 - statistics.freePages) * statistics.pageSize
    }
}
