// GRDB in the cases of typed records: `Codable` records, an association, and `JSONEncoder`.

import Foundation
import GRDB

/// An issue with its author, as GRDB's documentation recommends it.
private struct IssueWithAuthor: Decodable, FetchableRecord {
    var issue: Issue
    var author: User
}

enum PeerTyped {
    static func measure(_ options: Options) throws -> TypedMeasurement {
        let pool = try PeerCases.fill(options)
        try pool.write { database in
            try database.create(index: "issue_created_at", on: "issue", columns: ["created_at"])
            try database.execute(sql: "ANALYZE")
        }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        return try pool.read { database in
            let picks = Reads.picks(try Int64.fetchAll(database, sql: "SELECT id FROM issue ORDER BY id"))
            let seconds = try Int64.fetchAll(database, sql: "SELECT CAST(strftime('%s', created_at) AS INTEGER) FROM issue ORDER BY id")
            let starts = Queries.starts(seconds.map { $0 * 1_000_000 }).map { Date(timeIntervalSince1970: Double($0) / 1e6) }
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            var total: Int64 = 0
            let fetch = try Reads.rate(picks) { picks in
                for key in picks { total &+= try Issue.fetchOne(database, key: key)?.comments ?? 0 }
            }
            let query = try Queries.rate { number in
                let found = try withAuthors(starts[number & 1023]).fetchAll(database)
                total &+= found.last?.author.id ?? 0
                return found.count
            }
            let json = try Reads.rate(picks) { picks in
                for key in picks {
                    guard let issue = try Issue.fetchOne(database, key: key) else { continue }
                    total &+= Int64(try encoder.encode(issue).count)
                }
            }
            guard total != 0 else { throw BenchmarkError("The peer read nothing") }
            var sum: Int64 = 0
            for key in picks.prefix(Queries.checked) {
                guard let issue = try Issue.fetchOne(database, key: key) else { throw BenchmarkError("no issue \(key)") }
                sum &+= issue.checksum &+ (try Typed.checksum(ofJSON: encoder.encode(issue)))
            }
            for start in starts.prefix(Queries.checked) {
                for (place, found) in try withAuthors(start).fetchAll(database).enumerated() {
                    sum &+= found.issue.id &* Int64(place + 1) &+ found.author.id &+ Int64(found.author.login.utf8.count)
                }
            }
            return TypedMeasurement(fetch: fetch, query: query, json: json, checksum: sum)
        }
    }

    private static func withAuthors(_ date: Date) -> QueryInterfaceRequest<IssueWithAuthor> {
        Issue.filter(Column("created_at") >= date).order(Column("created_at"), Column("id")).limit(Queries.limit)
            .including(required: Issue.author).asRequest(of: IssueWithAuthor.self)
    }
}
