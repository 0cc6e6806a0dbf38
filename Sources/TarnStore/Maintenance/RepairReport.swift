import Foundation
internal import LMDB

/// What a repair has changed, or would change.
public struct RepairReport: Sendable, Hashable {
    /// Indexes that did not have the entries that the rows make: `Issue.author`, and how many entries they had and have.
    public var indexes: [Rebuilt] = []
    /// Tables of responses that did not have the entries that the responses make.
    public var tables: [Rebuilt] = []
    /// Responses that could not be read, or list a record that is not there: they are taken out, and asked for again by the next sync.
    public var responsesRemoved = 0
    /// Counters that lagged behind what they count: name and new value.
    public var counters: [String: UInt64] = [:]
    /// Rows of long lists that no record has.
    public var listRowsRemoved = 0
    /// Checkpoints, marks and entries of scans that could not be read, and bodies of no response.
    public var ownRowsRemoved = 0
    /// Rows of records that cannot be read: left as they are, or taken out, as was asked for.
    public var damagedRows: [String] = []
    /// Whether those rows are taken out.
    public var removesDamagedRows = false
    /// Whether the change log contradicted the rows: then it begins anew, and consumers are told to read everything again.
    public var clearsChangeLog = false

    /// What stands in a table that was made anew.
    public struct Rebuilt: Sendable, Hashable {
        /// The table's name.
        public var name: String
        /// How many entries it had.
        public var entriesBefore: Int
        /// How many it has now.
        public var entriesAfter: Int
    }

    /// Whether there was nothing to repair.
    public var isEmpty: Bool {
        indexes.isEmpty && tables.isEmpty && responsesRemoved == 0 && counters.isEmpty && listRowsRemoved == 0 && ownRowsRemoved == 0
            && damagedRows.isEmpty && !clearsChangeLog
    }

    public init() {}
}
