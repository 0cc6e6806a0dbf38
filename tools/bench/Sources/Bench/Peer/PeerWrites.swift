// GRDB in the write cases.

import Foundation
import GRDB

enum PeerWrites {
    static let table = "note"

    static func createTable(_ database: Database) throws {
        try database.create(table: table) { table in
            table.primaryKey("id", .integer)
            for column in ["title", "author", "state"] { table.column(column, .text).notNull() }
            table.column("comments", .integer).notNull()
            table.column("text", .text).notNull()
        }
    }

    /// Both ways in which a Swift program would do it, and the better one counts: 64 tasks, or one
    /// thread in a loop, since SQLite commits one after the other anyway.
    static func small(_ options: Options) async throws -> SmallWriteMeasurement {
        // Its check of `synchronous` makes the figure valid.
        let pool = try PeerDatabase(in: options.store).pool
        try await pool.write(createTable)
        _ = Note.ready(0)
        let written = Counter(), clock = ContinuousClock()
        var start = clock.now
        while (clock.now - start) / .seconds(1) < Note.seconds / 2 {
            let note = Note.ready(-1 - Int64(written.value))
            try await pool.write { try put(note, $0) }
            written.add()
        }
        let inLoop = Double(written.value) / ((clock.now - start) / .seconds(1))
        let before = written.value
        start = clock.now
        let began = start
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<Note.tasks {
                group.addTask {
                    var id = Int64(task) * 10_000_000
                    while (clock.now - began) / .seconds(1) < Note.seconds {
                        let note = Note.ready(id)
                        try await pool.write { try put(note, $0) }
                        written.add()
                        id += 1
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = written.value
        let inTasks = Double(count - before) / ((clock.now - start) / .seconds(1))
        let stored = try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") ?? 0 }
        return SmallWriteMeasurement(small: max(inLoop, inTasks), stored: stored, written: count)
    }

    static func put(_ note: Note, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO \(table) (id, title, author, state, comments, text) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (id) DO UPDATE SET title = excluded.title, author = excluded.author, state = excluded.state,
                comments = excluded.comments, text = excluded.text
                """)
        statement.setUncheckedArguments([note.id, note.title, note.author, note.state, note.comments, note.text])
        try statement.execute()
    }
}
