// The peer's store: GRDB on SQLite, with the tables and indexes that the same object graph needs,
// as durable as Tarn.

import Foundation
import GRDB

/// A GRDB database of issues, open for an import.
struct PeerDatabase {
    let pool: DatabasePool

    /// Opens a new database in a directory, creates tables (by default those of issues) and makes
    /// commits survive power loss.
    ///
    /// - Throws: what GRDB throws, or `BenchmarkError` if SQLite does not confirm the durability.
    init(in directory: URL, createTables: (Database) throws -> Void = Self.createIssueTables) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var configuration = Configuration()
        // No foreign key is declared, as a record's references may arrive before their targets.
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { database in
            // The default of 2 MB spills dirty pages into the log in the middle of a transaction
            // and writes them again.
            try database.execute(sql: "PRAGMA cache_size = -262144")
        }
        pool = try DatabasePool(path: directory.appending(path: "peer.sqlite").path, configuration: configuration)
        // `DatabasePool` sets `synchronous` to NORMAL after `prepareDatabase`: with NORMAL the last
        // commits can be lost.
        let synchronous = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = FULL")
            return try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
        guard synchronous == 2 else {
            throw BenchmarkError("SQLite did not take synchronous = FULL, so the peer is less durable than the others")
        }
        try pool.write(createTables)
    }

    /// The number of rows of each table, by the names that the workload's counts have.
    func counts() throws -> [String: Int] {
        try pool.read { database in
            [
                "issues": try Issue.fetchCount(database),
                "users": try User.fetchCount(database),
                "labels": try Label.fetchCount(database),
                "milestones": try Milestone.fetchCount(database),
                "issue_labels": try Table("issue_label").fetchCount(database),
                "issue_assignees": try Table("issue_assignee").fetchCount(database),
                "issue_milestones": try Issue.filter(Column("milestone_id") != nil).fetchCount(database),
            ]
        }
    }

    /// Every relationship can be followed both ways without a scan, as in Tarn and in the floor.
    static func createIssueTables(_ database: Database) throws {
        try database.create(table: "user") { table in
            table.primaryKey("id", .integer)
            for column in User.CodingKeys.allCases where ![.id, .siteAdmin].contains(column) {
                table.column(column.rawValue, .text).notNull()
            }
            table.column("site_admin", .boolean).notNull()
        }
        try database.create(table: "label") { table in
            table.primaryKey("id", .integer)
            for column in ["node_id", "url", "name", "color"] { table.column(column, .text).notNull() }
            table.column("default", .boolean).notNull()
            table.column("description", .text)
        }
        try database.create(table: "milestone") { table in
            table.primaryKey("id", .integer)
            table.column("url", .text).notNull()
            table.column("number", .integer).notNull()
            table.column("title", .text).notNull()
            table.column("state", .text).notNull()
            table.column("created_at", .datetime).notNull()
            table.column("due_on", .datetime)
            table.column("creator_id", .integer).notNull().indexed()
        }
        try database.create(table: "issue") { table in
            table.primaryKey("id", .integer)
            table.column("node_id", .text).notNull()
            table.column("number", .integer).notNull()
            for column in ["", "repository_", "labels_", "comments_", "events_", "html_", "timeline_"].map({ $0 + "url" }) {
                table.column(column, .text).notNull()
            }
            table.column("title", .text).notNull()
            table.column("body", .text)
            table.column("state", .text).notNull()
            table.column("state_reason", .text)
            table.column("locked", .boolean).notNull()
            table.column("active_lock_reason", .text)
            table.column("comments", .integer).notNull()
            table.column("author_association", .text).notNull()
            table.column("created_at", .datetime).notNull()
            table.column("updated_at", .datetime).notNull()
            table.column("closed_at", .datetime)
            table.column("user_id", .integer).notNull().indexed()
            table.column("milestone_id", .integer).indexed()
        }
        for (name, target) in [("issue_label", "label_id"), ("issue_assignee", "user_id")] {
            try database.create(table: name, options: .withoutRowID) { table in
                table.primaryKey {
                    table.column("issue_id", .integer)
                    table.column(target, .integer)
                }
            }
            try database.create(index: "\(name)_\(target)", on: name, columns: [target, "issue_id"])
        }
    }
}
