internal import LMDB

/// The counters of the outbox, a system row of the table `outbox`.
package struct OutboxCounters: Sendable, Hashable {
    /// The id of the last queued operation. It never decreases.
    var lastOperation: UInt64 = 0
    /// The number of the last temporary integer key. It never decreases.
    var lastTemporary: UInt64 = 0
    /// The number of changes of the outbox.
    var revision: UInt64 = 0
    /// The number of aliases.
    var aliases: UInt64 = 0
    /// The numbers of operations by state.
    package internal(set) var counts = OutboxCounts()

    private enum ID {
        static let lastOperation: UInt16 = 1, lastTemporary: UInt16 = 2, revision: UInt16 = 3, aliases: UInt16 = 4
        static let pending: UInt16 = 5, sending: UInt16 = 6, failed: UInt16 = 7, dead: UInt16 = 8
    }

    init() {}

    /// Decodes an entry. Nil if a counter is missing or malformed.
    package init?(_ row: EncodedRow) {
        func count(_ id: UInt16) -> Int? { row.number(id).flatMap { $0 >= 0 ? $0 : nil } }
        guard let lastOperation = row.unsigned(ID.lastOperation), let lastTemporary = row.unsigned(ID.lastTemporary),
            let revision = row.unsigned(ID.revision), let aliases = row.unsigned(ID.aliases),
            let pending = count(ID.pending), let sending = count(ID.sending), let failed = count(ID.failed),
            let dead = count(ID.dead)
        else { return nil }
        (self.lastOperation, self.lastTemporary) = (lastOperation, lastTemporary)
        (self.revision, self.aliases) = (revision, aliases)
        counts.pending = pending
        counts.sending = sending
        counts.failed = failed
        counts.dead = dead
    }

    func store(_ raw: RawTransaction, _ table: Table, sequence: UInt64) throws {
        var row = SystemRowBuilder()
        row.field(ID.lastOperation, lastOperation)
        row.field(ID.lastTemporary, lastTemporary)
        row.field(ID.revision, revision)
        row.field(ID.aliases, aliases)
        row.field(ID.pending, counts.pending)
        row.field(ID.sending, counts.sending)
        row.field(ID.failed, counts.failed)
        row.field(ID.dead, counts.dead)
        try OutboxEntryKey.counters.withUnsafeBytes { try row.store(raw, table, $0, sequence: sequence) }
    }

    /// Counts an operation that enters or leaves a state.
    mutating func count(_ operation: StoredOperation, by difference: Int) { counts.count(operation, by: difference) }
}

extension OutboxCounts {
    /// Counts an operation that enters or leaves a state. A damaged counter does not trap.
    package mutating func count(_ operation: StoredOperation, by difference: Int) {
        switch operation.state {
        case .pending:
            pending = max(0, pending &+ difference)
            if operation.failure != nil { failed = max(0, failed &+ difference) }
        case .sending: sending = max(0, sending &+ difference)
        case .dead: dead = max(0, dead &+ difference)
        }
    }
}
