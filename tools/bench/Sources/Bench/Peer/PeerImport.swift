// How the peer writes what it decoded: upserts of every record, once in each transaction and in key order.

import Foundation
import GRDB

/// What the pages of one transaction hold, every record once.
struct PeerBatch {
    private var issues: [Int64: IssueDocument] = [:]
    private var users: [Int64: User] = [:]
    private var labels: [Int64: Label] = [:]
    private var milestones: [Int64: Milestone] = [:]

    /// Takes the issues apart. What comes later replaces what came before.
    init(_ documents: [IssueDocument]) {
        for document in documents {
            issues[document.issue.id] = document
            users[document.user.id] = document.user
            for label in document.labels { labels[label.id] = label }
            for assignee in document.assignees { users[assignee.id] = assignee }
            if let nested = document.milestone {
                milestones[nested.milestone.id] = nested.milestone
                users[nested.creator.id] = nested.creator
            }
        }
    }

    /// Writes the batch in key order, so that new rows are appended instead of splitting pages.
    func write(to database: Database) throws {
        try users.upsert(into: database)
        try labels.upsert(into: database)
        try milestones.upsert(into: database)

        let upsert = try database.upsertStatement(for: Issue.self)
        let labels = try JoinTable(database, "issue_label", target: "label_id")
        let assignees = try JoinTable(database, "issue_assignee", target: "user_id")
        for (id, document) in issues.sorted(by: { $0.key < $1.key }) {
            try upsert.execute(document.issue)
            try labels.replace(document.labels.map(\.id), of: id)
            try assignees.replace(document.assignees.map(\.id), of: id)
        }
    }
}

/// A to-many relationship's rows: an import replaces those of an owner with the ones that the answer lists.
private struct JoinTable {
    let delete: Statement
    let insert: Statement

    init(_ database: Database, _ table: String, target: String) throws {
        delete = try database.cachedStatement(sql: "DELETE FROM \(table) WHERE issue_id = ?")
        insert = try database.cachedStatement(
            sql: "INSERT INTO \(table) (issue_id, \(target)) VALUES (?, ?) ON CONFLICT DO NOTHING")
    }

    func replace(_ targets: [Int64], of owner: Int64) throws {
        delete.setUncheckedArguments([owner])
        try delete.execute()
        for target in targets {
            insert.setUncheckedArguments([owner, target])
            try insert.execute()
        }
    }
}

extension Dictionary where Key == Int64, Value: PeerRow {
    fileprivate func upsert(into database: Database) throws {
        let statement = try database.upsertStatement(for: Value.self)
        for (_, record) in sorted(by: { $0.key < $1.key }) { try statement.execute(record) }
    }
}
