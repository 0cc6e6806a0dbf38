// The cases in which GRDB takes part.

import Foundation
import GRDB

/// GRDB 7.10 with Foundation's `JSONDecoder`: what a Swift program would use instead of Tarn.
enum PeerCases {
    static let contenders: [Contender] = [
        Contender(name: "peer", benchmark: "import", measure: importPages),
        Contender(name: "peer", benchmark: "read", measure: PeerReads.measure),
        Contender(name: "peer", benchmark: "query", measure: PeerQueries.measure),
        Contender(name: "peer", benchmark: "scale", measure: PeerScale.measure),
        Contender(name: "peer", benchmark: "write.small", measure: PeerWrites.small),
    ] + Shape.allCases.map { shape in
        Contender(name: "peer", benchmark: shape.benchmark) { try PeerShapes.measure(shape, $0) }
    }

    /// The database after an import, open.
    static func fill(_ options: Options) throws -> DatabasePool {
        let pages = try Pages(in: options.pages), database = try PeerDatabase(in: options.store)
        for group in pages.groups(of: options.pagesPerCommit) { try database.pool.write(PeerBatch(try IssueDocument.decode(group)).write) }
        return database.pool
    }

    private static func importPages(_ options: Options) throws -> Measurement {
        let pages = try Pages(in: options.pages)
        let database = try PeerDatabase(in: options.store)
        var commits = 0
        let seconds = try stopwatch {
            for group in pages.groups(of: options.pagesPerCommit) {
                let batch = PeerBatch(try IssueDocument.decode(group))
                try database.pool.write(batch.write)
                commits += 1
            }
        }
        let counts = try database.counts()
        // Closing may leave the log beside the database, as large as it ever was; it is no part of the store's size.
        _ = try database.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try database.pool.close()
        return Measurement(
            seconds: seconds, megabytes: pages.megabytes, commits: commits, counts: counts, durability: "full",
            compression: "none", storeBytes: try sizeOfFiles(in: options.store))
    }
}
