// The stored responses of the peer in `import.small`, as Tarn keeps them in all cases: the
// validators, and the listed records. With a hundred records per response this hardly counts, and
// the peer is spared it.

import Foundation
import GRDB

/// A response: its validators and times.
struct PeerResponse: Codable, PersistableRecord {
    static let databaseTableName = "response"

    var id: Int64
    var url: String
    var endpoint: String
    var status: Int64
    var etag: String
    var fetchedAt: Date
    var validatedAt: Date
    var scan: Int64
    var count: Int64

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, url, endpoint, status, etag
        case fetchedAt = "fetched_at"
        case validatedAt = "validated_at"
        case scan, count
    }

    init(_ number: Int, count: Int) {
        id = Int64(number)
        url = "https://api.example.org/harbours?page=\(number)"
        endpoint = "issues"
        status = 200
        etag = "W/\"page-\(number)\""
        fetchedAt = Date()
        validatedAt = fetchedAt
        scan = 1
        self.count = Int64(count)
    }

    var arguments: StatementArguments { [id, url, endpoint, status, etag, fetchedAt, validatedAt, scan, count] }
}

/// That a response lists a record, at which place.
struct PeerListing: Codable, PersistableRecord {
    static let databaseTableName = "listing"

    var responseId: Int64
    var position: Int64
    var recordId: Int64

    enum CodingKeys: String, CodingKey {
        case responseId = "response_id"
        case position
        case recordId = "record_id"
    }

    enum Columns {
        static let responseId = Column(CodingKeys.responseId)
    }
}

enum PeerResponses {
    static func createTables(_ database: Database) throws {
        try database.create(table: "response") { table in
            table.primaryKey("id", .integer)
            table.column("url", .text).notNull().unique()
            table.column("endpoint", .text).notNull()
            table.column("status", .integer).notNull()
            table.column("etag", .text)
            table.column("fetched_at", .datetime).notNull()
            table.column("validated_at", .datetime).notNull()
            table.column("scan", .integer).notNull()
            table.column("count", .integer).notNull()
        }
        try database.create(table: "listing", options: .withoutRowID) { table in
            table.primaryKey {
                table.column("response_id", .integer)
                table.column("position", .integer)
            }
            table.column("record_id", .integer).notNull().indexed()
        }
    }

    /// Writes responses that list a record each.
    ///
    /// - Parameter first: the number of the first one.
    static func write(_ records: [Int64], first: Int, to database: Database, _ way: PeerWay) throws {
        switch way {
        case .records:
            for (offset, record) in records.enumerated() {
                let response = PeerResponse(first + offset, count: 1)
                try response.upsert(database)
                try PeerListing.filter { $0.responseId == response.id }.deleteAll(database)
                try PeerListing(responseId: response.id, position: 0, recordId: record).insert(database)
            }
        case .byHand:
            let upsert = try database.upsertStatement(into: PeerResponse.databaseTableName, PeerResponse.CodingKeys.allCases.map(\.stringValue))
            let delete = try database.cachedStatement(sql: "DELETE FROM listing WHERE response_id = ?")
            let insert = try database.cachedStatement(sql: "INSERT INTO listing (response_id, position, record_id) VALUES (?, 0, ?)")
            for (offset, record) in records.enumerated() {
                let response = PeerResponse(first + offset, count: 1)
                upsert.setUncheckedArguments(response.arguments)
                try upsert.execute()
                delete.setUncheckedArguments([response.id])
                try delete.execute()
                insert.setUncheckedArguments([response.id, record])
                try insert.execute()
            }
        }
    }
}
