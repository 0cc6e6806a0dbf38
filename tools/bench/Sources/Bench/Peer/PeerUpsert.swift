// Prepared upserts. GRDB's own `record.upsert(db)` encodes every record into a container of named
// columns and fetches the row back with RETURNING: with it the whole import took five times as
// long.

import GRDB

/// A record that lists its values in the order of its coding keys.
protocol PeerRow: TableRecord {
    associatedtype CodingKeys: CodingKey, CaseIterable
    var arguments: StatementArguments { get }
}

/// A statement that writes records of one type: new ones are inserted, known ones updated.
struct UpsertStatement<Record: PeerRow> {
    fileprivate let statement: Statement

    func execute(_ record: Record) throws {
        // Unchecked: the number of arguments is fixed by the type, and a wrong one fails in SQLite.
        statement.setUncheckedArguments(record.arguments)
        try statement.execute()
    }
}

extension Database {
    /// The prepared upsert of a record type, whose primary key is `id`.
    func upsertStatement<Record: PeerRow>(for type: Record.Type) throws -> UpsertStatement<Record> {
        let columns = Record.CodingKeys.allCases.map(\.stringValue)
        return UpsertStatement(statement: try upsertStatement(into: Record.databaseTableName, columns))
    }

    /// The prepared upsert of a table, whose primary key is the first column, `id`.
    func upsertStatement(into table: String, _ columns: [String]) throws -> Statement {
        let columns = columns.map(\.quotedDatabaseIdentifier)
        let updates = columns.dropFirst().map { "\($0) = excluded.\($0)" }
        return try cachedStatement(
            sql: """
                INSERT INTO \(table.quotedDatabaseIdentifier) (\(columns.joined(separator: ", ")))
                VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))
                ON CONFLICT (id) DO UPDATE SET \(updates.joined(separator: ", "))
                """)
    }
}

extension User: PeerRow {
    var arguments: StatementArguments {
        [
            id, login, nodeId, avatarUrl, gravatarId, url, htmlUrl, followersUrl, followingUrl, gistsUrl, starredUrl,
            subscriptionsUrl, organizationsUrl, reposUrl, eventsUrl, receivedEventsUrl, type, siteAdmin,
        ]
    }
}

extension Label: PeerRow {
    var arguments: StatementArguments { [id, nodeId, url, name, color, isDefault, description] }
}

extension Milestone: PeerRow {
    var arguments: StatementArguments { [id, url, number, title, state, createdAt, dueOn, creatorId] }
}

extension Issue: PeerRow {
    var arguments: StatementArguments {
        [
            id, nodeId, number, url, repositoryUrl, labelsUrl, commentsUrl, eventsUrl, htmlUrl, timelineUrl, title, body,
            state, stateReason, locked, activeLockReason, comments, authorAssociation, createdAt, updatedAt, closedAt,
            userId, milestoneId,
        ]
    }
}
