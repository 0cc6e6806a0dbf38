// The cases in which GRDB takes part.

import Foundation
import GRDB

/// GRDB 7.10 with Foundation's `JSONDecoder`: the alternative for a Swift program.
enum PeerCases {
    static let contenders: [Contender] = [
        Contender(name: "peer", benchmark: "import", measure: importPages),
        Contender(name: "peer", benchmark: "read", measure: PeerReads.measure),
        Contender(name: "peer", benchmark: "query", measure: PeerQueries.measure),
        Contender(name: "peer", benchmark: "typed", measure: PeerTyped.measure),
        Contender(name: "peer", benchmark: "scale", measure: PeerScale.measure),
        Contender(name: "peer", benchmark: "write.small", measure: PeerWrites.small),
    ] + Shape.allCases.map { shape in
        Contender(name: "peer", benchmark: shape.benchmark) { try PeerShapes.measure(shape, $0) }
    }

    /// The database after an import, open.
    static func fill(_ options: Options) throws -> DatabasePool {
        let pages = try Pages(in: options.pages), database = try PeerDatabase(in: options.store)
        for group in pages.groups(of: options.pagesPerCommit) {
            let batch = PeerBatch(try IssueDocument.decode(group))
            try database.pool.write { try batch.write(to: $0, .byHand) }
        }
        return database.pool
    }

    private static func importPages(_ options: Options) throws -> PeerMeasurement<Measurement> {
        let pages = try Pages(in: options.pages)
        return try PeerMeasurement(in: options.store) { way, directory in
            let database = try PeerDatabase(in: directory)
            var commits = 0
            let seconds = try stopwatch {
                for group in pages.groups(of: options.pagesPerCommit) {
                    let batch = PeerBatch(try IssueDocument.decode(group))
                    try database.pool.write { try batch.write(to: $0, way) }
                    commits += 1
                }
            }
            let counts = try database.counts()
            // Closing may leave the log beside the database at its largest size; it is not part of
            // the store's size.
            _ = try database.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try database.pool.close()
            return Measurement(
                seconds: seconds, megabytes: pages.megabytes, commits: commits, counts: counts, durability: "full",
                compression: "none", storeBytes: try sizeOfFiles(in: directory))
        }
    }
}

/// The figures of one import in both ways; each into its own database, with the same content
/// afterwards.
struct PeerMeasurement<Figures: Encodable & PeerFigures>: Encodable {
    let records: Figures
    let byHand: Figures

    init(in directory: URL, _ measure: (PeerWay, URL) throws -> Figures) throws {
        records = try measure(.records, directory.appending(path: "records"))
        // The pending writes of the first must not slow the second one.
        sync()
        byHand = try measure(.byHand, directory.appending(path: "by-hand"))
        guard records.counts == byHand.counts else { throw BenchmarkError("the peer's two ways stored different records") }
    }

    private enum CodingKeys: String, CodingKey {
        case byHand = "seconds_by_hand"
    }

    func encode(to encoder: any Encoder) throws {
        try records.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(byHand.seconds, forKey: .byHand)
    }
}

protocol PeerFigures {
    var seconds: Double { get }
    var counts: [String: Int] { get }
}

extension Measurement: PeerFigures {}
extension ShapeMeasurement: PeerFigures {}
