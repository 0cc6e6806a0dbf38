import Foundation
import GRDB

/// The service's records in GRDB: records, associations, and `JSONEncoder`.
struct Peer: Sendable {
    struct IssueRow: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "issue"
        static let author = belongsTo(UserRow.self, key: "author", using: ForeignKey(["authorId"]))
        static let issueLabels = hasMany(IssueLabelRow.self, using: ForeignKey(["issueId"]))
        static let labels = hasMany(LabelRow.self, through: issueLabels, using: IssueLabelRow.label, key: "labels")
        var id: Int64
        var number: Int
        var title: String
        var body: String?
        var state: String
        var comments: Int
        var createdAt: Date
        var updatedAt: Date
        var milestone: Int64?
        var authorId: Int64
    }
    struct UserRow: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "user"
        var id: Int64
        var login: String
        var name: String?
        var avatarUrl: String?
    }
    struct LabelRow: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "label"
        var id: Int64
        var name: String
        var color: String
    }
    struct IssueLabelRow: Codable, PersistableRecord {
        static let databaseTableName = "issueLabel"
        static let label = belongsTo(LabelRow.self, using: ForeignKey(["labelId"]))
        var issueId: Int64
        var labelId: Int64
    }
    private struct IssueInfo: Decodable, FetchableRecord {
        var issue: IssueRow
        var author: UserRow
        var labels: [LabelRow]
    }

    let pool: DatabasePool

    init(path: String) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -262144") }
        pool = try DatabasePool(path: path, configuration: configuration)
    }

    /// Creates the tables, and stores what the service answers.
    func fill(_ issues: [IssueAnswer]) throws {
        try pool.write { database in
            try database.create(table: "user") { table in
                table.primaryKey("id", .integer)
                table.column("login", .text).notNull().unique()
                table.column("name", .text)
                table.column("avatarUrl", .text)
            }
            try database.create(table: "label") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("color", .text).notNull()
            }
            try database.create(table: "issue") { table in
                table.primaryKey("id", .integer)
                table.column("number", .integer).notNull().indexed()
                table.column("title", .text).notNull()
                table.column("body", .text)
                table.column("state", .text).notNull().indexed()
                table.column("comments", .integer).notNull()
                table.column("createdAt", .datetime).notNull()
                table.column("updatedAt", .datetime).notNull().indexed()
                table.column("milestone", .integer)
                table.column("authorId", .integer).notNull().indexed()
            }
            try database.create(table: "issueLabel", options: .withoutRowID) { table in
                table.primaryKey {
                    table.column("issueId", .integer)
                    table.column("labelId", .integer)
                }
            }
            for issue in issues {
                try UserRow(id: issue.author.id, login: issue.author.login, name: issue.author.name, avatarUrl: issue.author.avatarUrl)
                    .upsert(database)
                try IssueRow(
                    id: issue.id, number: issue.number, title: issue.title, body: issue.body, state: issue.state,
                    comments: issue.comments, createdAt: issue.createdAt, updatedAt: issue.updatedAt, milestone: issue.milestone,
                    authorId: issue.author.id
                ).insert(database)
                for label in issue.labels {
                    try LabelRow(id: label.id, name: label.name, color: label.color).upsert(database)
                    try IssueLabelRow(issueId: issue.id, labelId: label.id).insert(database)
                }
            }
            try database.execute(sql: "ANALYZE")
        }
    }

    /// One issue with its author and its labels; nil if there is none.
    func answer(_ id: Int64) async throws -> IssueAnswer? {
        let found = try await pool.read { database in
            try IssueRow.filter(key: id).including(required: IssueRow.author).including(all: IssueRow.labels)
                .asRequest(of: IssueInfo.self).fetchOne(database)
        }
        return found.map { found in
            IssueAnswer(
                id: found.issue.id, number: found.issue.number, title: found.issue.title, body: found.issue.body,
                state: found.issue.state, comments: found.issue.comments, createdAt: found.issue.createdAt,
                updatedAt: found.issue.updatedAt, milestone: found.issue.milestone,
                author: UserAnswer(
                    id: found.author.id, login: found.author.login, name: found.author.name, avatarUrl: found.author.avatarUrl),
                labels: found.labels.map { LabelAnswer(id: $0.id, name: $0.name, color: $0.color) })
        }
    }
}
