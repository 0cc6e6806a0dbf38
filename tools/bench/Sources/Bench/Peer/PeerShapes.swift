// GRDB in `import.wide`, `import.deep` and `import.small`.

import Foundation
import GRDB

/// A record as it is decoded from JSON, and its values in the order of its table's columns.
protocol ShapeDocument: Codable, Sendable {
    associatedtype CodingKeys: CodingKey, CaseIterable
    var id: Int64 { get }
    var arguments: StatementArguments { get }
}

/// A record of `import.deep` and `import.small`: 10 attributes, and the records that are nested in
/// it.
struct PeerTreeRecord: Decodable, Sendable {
    var id: Int64
    var name: String
    var description: String
    var url: String
    var state: String
    var position: Int64
    var score: Double
    var isArchived: Bool
    var createdAt: Date
    var updatedAt: Date
    var children: [PeerTreeRecord]?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, description, url, state, position, score
        case isArchived = "is_archived"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case children
    }

    func arguments(parent: Int64?) -> StatementArguments {
        [id, name, description, url, state, position, score, isArchived, createdAt, updatedAt, parent]
    }
}

enum PeerShapes {
    static func measure(_ shape: Shape, _ options: Options) throws -> PeerMeasurement<ShapeMeasurement> {
        let bodies = try Shape.bodies(in: options.pages)
        return try PeerMeasurement(in: options.store) { try measure(shape, bodies, options.pagesPerCommit, $0, in: $1) }
    }

    private static func measure(
        _ shape: Shape, _ bodies: [Data], _ bodiesPerCommit: Int, _ way: PeerWay, in directory: URL
    ) throws -> ShapeMeasurement {
        let pool = try PeerDatabase(in: directory) { try createTables(shape, $0) }.pool
        var commits = 0
        let seconds = try stopwatch {
            for first in stride(from: 0, to: bodies.count, by: bodiesPerCommit) {
                let group = bodies[first..<min(first + bodiesPerCommit, bodies.count)]
                switch shape {
                case .wide: try importWide(group, pool, way)
                case .deep: try importTrees(decodeOnAllCores([PeerTreeRecord].self, group).flatMap(\.self), shape, pool, way)
                // A run of them: one alone is decoded sooner than it is handed to another core.
                case .small: try importTrees(decodeOnAllCores(PeerTreeRecord.self, group, run: 16), shape, pool, way, firstResponse: first + 1)
                }
                commits += 1
            }
        }
        let counts = try pool.read { try counted(shape, $0) }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try pool.close()
        return ShapeMeasurement(
            seconds: seconds, bodies: bodies, commits: commits, counts: counts, compression: "none",
            storeBytes: try sizeOfFiles(in: directory))
    }

    /// Every response lists records of the next table.
    private static func importWide(_ group: ArraySlice<Data>, _ pool: DatabasePool, _ way: PeerWay) throws {
        var tables: [String: [PeerWideRecord]] = [:]
        for (offset, records) in try decodeOnAllCores([PeerWideRecord].self, group).enumerated() {
            tables[Shape.wide.entity(ofBody: group.startIndex + offset), default: []] += records
        }
        let columns = PeerWideRecord.CodingKeys.allCases.map(\.stringValue), batch = tables
        try pool.write { database in
            for (table, records) in batch {
                // In key order, so that new rows are appended. Places are sorted: a record takes
                // kilobytes.
                let places = records.indices.sorted { records[$0].id < records[$1].id }
                switch way {
                case .records:
                    let upsert = try PeerTable.upsert(PeerWideRecord.self, into: table)
                    for place in places { try upsert(records[place], database) }
                case .byHand:
                    let statement = try database.upsertStatement(into: table, columns)
                    for place in places {
                        statement.setUncheckedArguments(records[place].arguments)
                        try statement.execute()
                    }
                }
            }
        }
    }

    /// - Parameter firstResponse: the number of the response that the first tree is, if they are
    ///   kept.
    private static func importTrees(
        _ trees: [PeerTreeRecord], _ shape: Shape, _ pool: DatabasePool, _ way: PeerWay, firstResponse: Int? = nil
    ) throws {
        let columns = PeerTreeRecord.CodingKeys.allCases.dropLast().map(\.stringValue) + ["parent_id"]
        try pool.write { database in
            if let firstResponse { try PeerResponses.write(trees.map(\.id), first: firstResponse, to: database, way) }
            // Level by level, so that the records of a table follow each other, in key order.
            var level = trees.map { (record: $0, parent: Int64?.none) }
            for table in shape.entities {
                level.sort { $0.record.id < $1.record.id }
                switch way {
                case .records:
                    let upsert = try PeerTable.upsert(PeerTreeRow.self, into: table)
                    for (record, parent) in level { try upsert(PeerTreeRow(record, parent: parent), database) }
                case .byHand:
                    let statement = try database.upsertStatement(into: table, columns)
                    for (record, parent) in level {
                        statement.setUncheckedArguments(record.arguments(parent: parent))
                        try statement.execute()
                    }
                }
                level = level.flatMap { record, _ in (record.children ?? []).map { ($0, record.id) } }
            }
        }
    }

    private static func createTables(_ shape: Shape, _ database: Database) throws {
        if shape == .small { try PeerResponses.createTables(database) }
        for entity in shape.entities {
            try database.create(table: entity) { table in
                table.primaryKey("id", .integer)
                for attribute in shape.attributes {
                    switch attribute.kind {
                    case .text: table.column(attribute.key, .text).notNull()
                    case .optionalText: table.column(attribute.key, .text)
                    case .int: table.column(attribute.key, .integer).notNull()
                    case .double: table.column(attribute.key, .double).notNull()
                    case .bool: table.column(attribute.key, .boolean).notNull()
                    case .date: table.column(attribute.key, .datetime).notNull()
                    }
                }
                // Every relationship can be followed both ways without a scan.
                switch shape {
                case .wide: break
                case .deep: table.column("parent_id", .integer).indexed()
                case .small: table.column("parent_id", .integer)
                }
            }
        }
    }

    private static func counted(_ shape: Shape, _ database: Database) throws -> [String: Int] {
        var counts: [String: Int] = [:], checksum = ShapeChecksum()
        for entity in shape.entities {
            let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \(entity.quotedDatabaseIdentifier)")
            while let row = try rows.next() {
                counts[entity, default: 0] += 1
                checksum.add(row["id"] as Int64)
                for attribute in shape.attributes {
                    switch attribute.kind {
                    case .text: checksum.add(text: row[attribute.key])
                    case .optionalText: checksum.add(text: row[attribute.key] ?? "")
                    case .int: checksum.add(row[attribute.key] as Int64)
                    case .double: checksum.add(row[attribute.key] as Double)
                    case .bool: checksum.add(row[attribute.key] as Bool)
                    case .date: checksum.add(Int64((row[attribute.key] as Date).timeIntervalSince1970))
                    }
                }
                if shape != .wide, let parent = row["parent_id"] as Int64? {
                    checksum.add(parent)
                    counts["children", default: 0] += 1
                }
            }
        }
        counts["checksum"] = Int(checksum.value)
        if shape == .small {
            let responses = try PeerResponse.fetchCount(database), listed = try PeerListing.fetchCount(database)
            guard responses == counts["Item"], listed == responses else { throw BenchmarkError("the peer kept \(responses) responses") }
        }
        return counts
    }
}
