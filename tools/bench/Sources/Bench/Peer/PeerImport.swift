// The writes of the peer: upserts of every record, once in each transaction and in key order. There
// are two ways: that of a user of GRDB, and the fastest one.

import Foundation
import GRDB

/// The way of the peer's records into the database.
enum PeerWay: CaseIterable {
    /// `record.upsert(db)` of `Codable` records, and requests: what GRDB is used for.
    case records
    /// Prepared statements with arguments in the order of the columns.
    case byHand
}

/// The content of one transaction's pages, every record once.
struct PeerBatch {
    private var issues: [Int64: IssueDocument] = [:]
    private var users: [Int64: User] = [:]
    private var labels: [Int64: Label] = [:]
    private var milestones: [Int64: Milestone] = [:]

    /// Splits the issues into records. Later ones replace earlier ones.
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
    func write(to database: Database, _ way: PeerWay) throws {
        switch way {
        case .records: try writeRecords(to: database)
        case .byHand: try writeByHand(to: database)
        }
    }

    private func writeRecords(to database: Database) throws {
        for user in users.inKeyOrder { try user.upsert(database) }
        for label in labels.inKeyOrder { try label.upsert(database) }
        for milestone in milestones.inKeyOrder { try milestone.upsert(database) }
        for document in issues.inKeyOrder {
            let id = document.issue.id
            try document.issue.upsert(database)
            try IssueLabel.filter { $0.issueId == id }.deleteAll(database)
            for label in document.labels { try IssueLabel(issueId: id, labelId: label.id).insert(database) }
            try IssueAssignee.filter { $0.issueId == id }.deleteAll(database)
            for user in document.assignees { try IssueAssignee(issueId: id, userId: user.id).insert(database) }
        }
    }

    private func writeByHand(to database: Database) throws {
        try users.upsert(into: database)
        try labels.upsert(into: database)
        try milestones.upsert(into: database)

        let upsert = try database.upsertStatement(for: Issue.self)
        let labels = try JoinTable(database, "issue_label", target: "label_id")
        let assignees = try JoinTable(database, "issue_assignee", target: "user_id")
        for document in issues.inKeyOrder {
            let id = document.issue.id
            try upsert.execute(document.issue)
            try labels.replace(document.labels.map(\.id), of: id)
            try assignees.replace(document.assignees.map(\.id), of: id)
        }
    }
}

/// A to-many relationship's rows: an import replaces those of an owner with the ones that the
/// answer lists.
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
        for record in inKeyOrder { try statement.execute(record) }
    }
}

extension Dictionary where Key == Int64 {
    fileprivate var inKeyOrder: [Value] { sorted { $0.key < $1.key }.map(\.value) }
}
