// The peers in the read cases: GRDB with `Codable`, GRDB with `init(row:)`, and SQLite's own C
// interface.

import Foundation
import GRDB
import GRDBSQLite

extension Issue: Checked {
    var checksum: Int64 {
        var sum: Int64 = 0
        for text in [
            nodeId, url, repositoryUrl, labelsUrl, commentsUrl, eventsUrl, htmlUrl, timelineUrl, title, body ?? "", state,
            stateReason ?? "", activeLockReason ?? "", authorAssociation,
        ] { sum &+= Int64(text.utf8.count) }
        for date in [createdAt, updatedAt, closedAt] {
            sum &+= Int64(((date?.timeIntervalSince1970 ?? 0) * 1_000_000).rounded())
        }
        for number in [id, number, comments, userId, milestoneId ?? 0, locked ? 1 : 0] { sum &+= number }
        return sum
    }
}

/// An issue from a table whose dates are numbers, so that no text is parsed: the fastest way by
/// hand.
struct PlainIssue: FetchableRecord {
    static let table = "issue_plain"

    var id: Int64
    var nodeId: String
    var number: Int64
    var url, repositoryUrl, labelsUrl, commentsUrl, eventsUrl, htmlUrl, timelineUrl, title: String
    var body: String?
    var state: String
    var stateReason: String?
    var locked: Bool
    var activeLockReason: String?
    var comments: Int64
    var authorAssociation: String
    var createdAt, updatedAt: Int64
    var closedAt: Int64?
    var userId: Int64
    var milestoneId: Int64?

    init(row: Row) {
        id = row[0]
        nodeId = row[1]
        number = row[2]
        url = row[3]
        repositoryUrl = row[4]
        labelsUrl = row[5]
        commentsUrl = row[6]
        eventsUrl = row[7]
        htmlUrl = row[8]
        timelineUrl = row[9]
        title = row[10]
        body = row[11]
        state = row[12]
        stateReason = row[13]
        locked = row[14]
        activeLockReason = row[15]
        comments = row[16]
        authorAssociation = row[17]
        createdAt = row[18]
        updatedAt = row[19]
        closedAt = row[20]
        userId = row[21]
        milestoneId = row[22]
    }

    init(_ statement: OpaquePointer) {
        func int(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
        func text(_ column: Int32) -> String {
            guard let start = sqlite3_column_text(statement, column) else { return "" }
            return String(
                decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))), as: UTF8.self)
        }
        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
        id = int(0)
        nodeId = text(1)
        number = int(2)
        url = text(3)
        repositoryUrl = text(4)
        labelsUrl = text(5)
        commentsUrl = text(6)
        eventsUrl = text(7)
        htmlUrl = text(8)
        timelineUrl = text(9)
        title = text(10)
        body = isNull(11) ? nil : text(11)
        state = text(12)
        stateReason = isNull(13) ? nil : text(13)
        locked = int(14) != 0
        activeLockReason = isNull(15) ? nil : text(15)
        comments = int(16)
        authorAssociation = text(17)
        createdAt = int(18)
        updatedAt = int(19)
        closedAt = isNull(20) ? nil : int(20)
        userId = int(21)
        milestoneId = isNull(22) ? nil : int(22)
    }

    static func create(_ database: Database) throws {
        let dates: Set = ["created_at", "updated_at", "closed_at"]
        let columns = Issue.CodingKeys.allCases.map(\.stringValue).map { column in
            dates.contains(column)
                ? "CAST(strftime('%s', \(column)) AS INTEGER) * 1000000 AS \(column)" : column.quotedDatabaseIdentifier
        }
        // Declared types keep numbers numbers; `id` is the row's own, as in the table of the peer.
        try database.execute(
            sql: """
                CREATE TABLE \(table) (\(Issue.CodingKeys.allCases.map { key in
                    key.stringValue.quotedDatabaseIdentifier + (key == .id ? " INTEGER PRIMARY KEY" : "")
                }.joined(separator: ", ")));
                INSERT INTO \(table) SELECT \(columns.joined(separator: ", ")) FROM issue ORDER BY id;
                """)
    }
}

enum PeerReads {
    static func measure(_ options: Options) throws -> ReadMeasurement {
        let pool = try PeerCases.fill(options)
        try pool.write(PlainIssue.create)
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        let (issues, users) = try pool.read { database in
            (try Int64.fetchAll(database, sql: "SELECT id FROM issue"), try Int64.fetchAll(database, sql: "SELECT id FROM user"))
        }
        let picks = Reads.picks(issues), owners = Reads.picks(users)
        var total: Int64 = 0
        let field = try pool.read { database in
            let statement = try database.cachedStatement(sql: "SELECT comments FROM issue WHERE id = ?")
            return try Reads.rate(picks) { picks in
                for key in picks {
                    statement.setUncheckedArguments([key])
                    total &+= try Int64.fetchOne(statement) ?? 0
                }
            }
        }
        let record = try pool.read { database in
            try Reads.rate(picks) { picks in
                for key in picks { total &+= try Issue.fetchOne(database, key: key)?.comments ?? 0 }
            }
        }
        let each = try Reads.rate(picks) { picks in
            for key in picks { total &+= try pool.read { try Issue.fetchOne($0, key: key) }?.comments ?? 0 }
        }
        var visited = 0, visitedUsers = 0
        let related = try pool.read { database in
            let statement = try database.cachedStatement(sql: "SELECT comments FROM issue WHERE user_id = ?")
            return try Reads.rate(owners) { owners in
                for key in owners {
                    visitedUsers += 1
                    statement.setUncheckedArguments([key])
                    let found = try Int64.fetchCursor(statement)
                    while let comments = try found.next() {
                        total &+= comments
                        visited += 1
                    }
                }
            }
        }
        let select = "SELECT * FROM \(PlainIssue.table) WHERE id = ?"
        let rowRecord = try pool.read { database in
            let statement = try database.cachedStatement(sql: select)
            return try Reads.rate(picks) { picks in
                for key in picks {
                    statement.setUncheckedArguments([key])
                    total &+= try PlainIssue.fetchOne(statement)?.comments ?? 0
                }
            }
        }
        let rowEach = try Reads.rate(picks) { picks in
            for key in picks {
                total &+= try pool.read { database in
                    let statement = try database.cachedStatement(sql: select)
                    statement.setUncheckedArguments([key])
                    return try PlainIssue.fetchOne(statement)?.comments ?? 0
                }
            }
        }
        let raw = try RawConnection(options.store.appending(path: "peer.sqlite").path, select)
        let rawRecord = try raw.transaction { try Reads.rate(picks) { picks in for key in picks { total &+= try raw.fetch(key) } } }
        let rawEach = try Reads.rate(picks) { picks in for key in picks { total &+= try raw.fetch(key) } }
        let checksum = try pool.read { try Issue.fetchAll($0) }.reduce(Int64(0)) { $0 &+ $1.checksum }
        guard total != 0 else { throw BenchmarkError("The peer read nothing") }
        return ReadMeasurement(
            field: field, record: record, each: each, related: related * Double(visited) / Double(visitedUsers),
            recordByHand: max(rowRecord, rawRecord), eachByHand: max(rowEach, rawEach), checksum: checksum)
    }
}

/// SQLite without GRDB: one connection, one prepared statement.
private final class RawConnection {
    private var connection: OpaquePointer?
    private var statement: OpaquePointer?

    init(_ path: String, _ select: String) throws {
        guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite cannot open \(path)")
        }
        try execute("PRAGMA cache_size = -262144")
        guard sqlite3_prepare_v2(connection, select, -1, &statement, nil) == SQLITE_OK else {
            throw BenchmarkError("SQLite cannot prepare \(select)")
        }
    }

    deinit {
        sqlite3_finalize(statement)
        sqlite3_close(connection)
    }

    /// One read transaction around everything.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN")
        defer { try? execute("COMMIT") }
        return try body()
    }

    /// Reads an issue with all its fields, in a separate transaction unless there is one.
    func fetch(_ key: Int64) throws -> Int64 {
        guard let statement else { return 0 }
        sqlite3_bind_int64(statement, 1, key)
        defer { sqlite3_reset(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else { throw BenchmarkError("SQLite does not find issue \(key)") }
        return PlainIssue(statement).comments
    }

    private func execute(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw BenchmarkError("SQLite fails at \(sql)") }
    }
}
