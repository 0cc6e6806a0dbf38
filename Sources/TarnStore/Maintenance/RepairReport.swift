import Foundation

/// The changes that a repair has made, or would make.
package struct RepairReport: Sendable, Hashable {
    /// Indexes that did not match the rows, such as `Issue.author`.
    package var indexes: [Rebuilt] = []
    /// Tables of responses that did not match the responses.
    package var tables: [Rebuilt] = []
    /// Responses that were unreadable, or listed a missing record.
    ///
    /// They are removed; the next sync requests them again.
    package var responsesRemoved = 0
    /// Counters that were missing or wrong: name and new value.
    package var counters: [String: UInt64] = [:]
    /// Rows of long lists that no record refers to.
    package var listRowsRemoved = 0
    /// Unreadable checkpoints, marks, scan members and operations of the outbox, and bodies
    /// without a response.
    package var ownRowsRemoved = 0
    /// Unreadable members of scans that were stored anew, because a response lists their records.
    package var scanMembersRestored = 0
    /// Unreadable operations, with their records as far as these are known, and the consequences.
    package var lostOperations: [String] = []
    /// Whether counters or index entries of the outbox did not match its operations.
    package var rebuildsOutbox = false
    /// Unreadable rows of records, removed or left in place according to the options.
    package var damagedRows: [String] = []
    /// The unreadable rows that have local changes which were not sent, with the changed fields.
    package var damagedLocalChanges: [String] = []
    /// Whether those rows are removed.
    package var removesDamagedRows = false
    /// Whether the change log contradicted the rows.
    ///
    /// It begins anew then, and consumers have to read everything again.
    package var clearsChangeLog = false

    /// The number of rows that were read for the indexes, after all have been read once.
    var rowsReadForIndexes = 0

    /// The counts of a table that was rebuilt.
    package struct Rebuilt: Sendable, Hashable {
        /// The name of the table.
        package var name: String
        /// The number of entries before.
        package var entriesBefore: Int
        /// The number of entries after.
        package var entriesAfter: Int
    }

    /// Whether there was nothing to repair.
    package var isEmpty: Bool {
        indexes.isEmpty && tables.isEmpty && responsesRemoved == 0 && counters.isEmpty && listRowsRemoved == 0
            && ownRowsRemoved == 0 && scanMembersRestored == 0 && !rebuildsOutbox
            && damagedRows.isEmpty && !clearsChangeLog
    }

    /// Creates an empty report.
    init() {}
}
