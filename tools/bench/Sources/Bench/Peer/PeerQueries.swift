// GRDB in the query cases: with its own requests and `Codable`, and by hand with cached statements
// and `init(row:)`.

import Foundation
import GRDB

enum PeerQueries {
    static func measure(_ options: Options) throws -> QueryMeasurement {
        let pool = try PeerCases.fill(options)
        try pool.write { database in
            try PlainIssue.create(database)
            for table in [Issue.databaseTableName, PlainIssue.table] {
                for column in ["created_at", "state"] {
                    try database.create(index: "\(table)_\(column)", on: table, columns: [column])
                }
            }
            try database.execute(sql: "ANALYZE")
        }
        _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        return try pool.read { database in
            let starts = Queries.starts(try Int64.fetchAll(database, sql: "SELECT created_at FROM \(PlainIssue.table) ORDER BY id"))
            let dates = starts.map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
            let issues = try Issue.fetchCount(database), open = try isOpen.fetchCount(database)
            var total: Int64 = 0, ways: [String: [String: Double]] = [:]
            let byHand = "by hand"
            /// Measures every way and takes the best, but for that by hand.
            func rate(_ name: String, _ tried: [(String, (Int) throws -> Int)]) throws -> Double {
                let rates = try Dictionary(uniqueKeysWithValues: tried.map { way in (way.0, try Queries.rate(way.1).rounded()) })
                ways[name] = rates
                return rates.filter { $0.key != byHand }.values.max() ?? 0
            }
            func statement(_ sql: String) throws -> Statement { try database.cachedStatement(sql: sql) }
            let plain = try statement(PlainIssue.since), codable = try statement(Self.since)
            _ = try rate(
                "index",
                [
                    ("request", { number in
                        let found = try Self.since(dates[number & 1023]).fetchAll(database)
                        total &+= found.last?.comments ?? 0
                        return found.count
                    }),
                    ("statement", { number in
                        codable.setUncheckedArguments([dates[number & 1023]])
                        let found = try Issue.fetchAll(codable)
                        total &+= found.last?.comments ?? 0
                        return found.count
                    }),
                    (byHand, { number in
                        plain.setUncheckedArguments([starts[number & 1023]])
                        let found = try PlainIssue.fetchAll(plain)
                        total &+= found.last?.comments ?? 0
                        return found.count
                    }),
                ])
            let numbers = try statement("SELECT number FROM issue WHERE comments > ?")
            let sum = try statement("SELECT sum(number) FROM issue WHERE comments > ?")
            let scan = try rate(
                "scan",
                [
                    ("request", { _ in
                        let found = try Int64.fetchCursor(database, Issue.select(Column("number")).filter(Column("comments") > Queries.comments))
                        while let number = try found.next() { total &+= number }
                        return issues
                    }),
                    ("statement", { _ in
                        numbers.setUncheckedArguments([Queries.comments])
                        let found = try Int64.fetchCursor(numbers)
                        while let number = try found.next() { total &+= number }
                        return issues
                    }),
                    ("sum", { _ in
                        sum.setUncheckedArguments([Queries.comments])
                        total &+= try Int64.fetchOne(sum) ?? 0
                        return issues
                    }),
                ])
            let targets = try PlainTargets(database)
            let include = try rate(
                "include",
                [
                    ("associations", { number in
                        let found = try Self.withTargets(dates[number & 1023]).fetchAll(database)
                        total &+= Int64(found[0].labels.count)
                        return found.count
                    }),
                    (byHand, { number in
                        let found = try targets.fetch(starts[number & 1023])
                        total &+= Int64(found[0].labels.count)
                        return found.count
                    }),
                ])
            let counted = try statement("SELECT count(*) FROM issue WHERE state = ?")
            let count = try rate(
                "count",
                [
                    ("request", { _ in
                        total &+= Int64(try isOpen.fetchCount(database))
                        return open
                    }),
                    ("statement", { _ in
                        counted.setUncheckedArguments([Queries.state])
                        total &+= try Int64.fetchOne(counted) ?? 0
                        return open
                    }),
                ])
            let grouped = try statement(groups)
            let group = try rate(
                "group",
                [
                    ("statement", { _ in
                        total &+= Int64(try Row.fetchAll(grouped).count)
                        return issues
                    })
                ])
            guard total != 0 else { throw BenchmarkError("The peer found nothing") }
            return QueryMeasurement(
                index: ways["index"]?["request"] ?? 0, scan: scan, include: include, count: count, group: group,
                checksum: try checksum(database, starts, targets), index_by_hand: [ways["index"]?[byHand], ways["index"]?["statement"]].compactMap { $0 }.max(),
                include_by_hand: ways["include"]?[byHand], ways: ways)
        }
    }

    private static let since = "SELECT * FROM issue WHERE created_at >= ? ORDER BY created_at, id LIMIT \(Queries.limit)"
    private static let groups = "SELECT state, count(*) FROM issue GROUP BY state"

    private static var isOpen: QueryInterfaceRequest<Issue> { Issue.filter(Column("state") == Queries.state) }

    private static func since(_ date: Date) -> QueryInterfaceRequest<Issue> {
        Issue.filter(Column("created_at") >= date).order(Column("created_at"), Column("id")).limit(Queries.limit)
    }

    private static func withTargets(_ date: Date) -> QueryInterfaceRequest<IssueWithTargets> {
        since(date).including(required: Issue.author).including(all: Issue.labels).asRequest(of: IssueWithTargets.self)
    }

    /// From both ways of including, which must agree.
    private static func checksum(_ database: Database, _ starts: [Int64], _ targets: PlainTargets) throws -> Int64 {
        var sum = try Int64.fetchOne(database, sql: "SELECT sum(number) FROM issue WHERE comments > ?", arguments: [Queries.comments]) ?? 0
        for start in starts.prefix(Queries.checked) {
            let found = try withTargets(Date(timeIntervalSince1970: Double(start) / 1_000_000)).fetchAll(database)
            let plain = try targets.fetch(start)
            guard found.map(\.issue.id) == plain.map(\.issue.id), found.map(\.author.id) == plain.map(\.author.id),
                found.map({ $0.labels.map(\.id).sorted() }) == plain.map({ $0.labels.map(\.id).sorted() })
            else { throw BenchmarkError("the peer does not find by hand what it finds with associations") }
            for (number, one) in found.enumerated() {
                sum &+= one.issue.checksum &* Int64(number + 1)
                sum &+= one.author.checksum
                for label in one.labels { sum &+= label.checksum }
            }
        }
        sum &+= Int64(try isOpen.fetchCount(database))
        for row in try Row.fetchAll(database, sql: groups) {
            let state: String = row[0], count: Int = row[1]
            sum &+= Int64(count * state.utf8.count)
        }
        return sum
    }
}

extension PlainIssue {
    fileprivate static let since = "SELECT * FROM \(table) WHERE created_at >= ? ORDER BY created_at, id LIMIT \(Queries.limit)"
}

/// Issues with their authors from one statement, the labels of all of them from another.
private struct PlainTargets {
    private static let columnsOfIssue = Issue.CodingKeys.allCases.count
    private let issues: Statement
    private let labels: Statement

    init(_ database: Database) throws {
        issues = try database.cachedStatement(
            sql: """
                SELECT i.*, u.* FROM \(PlainIssue.table) i JOIN user u ON u.id = i.user_id
                WHERE i.created_at >= ? ORDER BY i.created_at, i.id LIMIT \(Queries.limit)
                """)
        labels = try database.cachedStatement(
            sql: """
                SELECT il.issue_id, l.* FROM issue_label il JOIN label l ON l.id = il.label_id
                WHERE il.issue_id IN (\(Array(repeating: "?", count: Queries.limit).joined(separator: ", ")))
                """)
    }

    func fetch(_ start: Int64) throws -> [PlainIssueWithTargets] {
        issues.setUncheckedArguments([start])
        var found: [PlainIssueWithTargets] = []
        found.reserveCapacity(Queries.limit)
        let rows = try Row.fetchCursor(issues)
        while let row = try rows.next() {
            found.append(PlainIssueWithTargets(issue: PlainIssue(row: row), author: User(row, from: Self.columnsOfIssue)))
        }
        var places: [Int64: Int] = [:]
        for (place, one) in found.enumerated() { places[one.issue.id] = place }
        let keys = found.map(\.issue.id)
        labels.setUncheckedArguments(StatementArguments(keys + Array(repeating: -1, count: Queries.limit - keys.count)))
        let labelRows = try Row.fetchCursor(labels)
        while let row = try labelRows.next() {
            if let place = places[row[0]] { found[place].labels.append(Label(row, from: 1)) }
        }
        return found
    }
}
