public import TarnStore

/// The result of sending an outbox.
public struct OutboxReport: Sendable, Hashable {
    /// Operations that reached the server.
    public var sent = 0
    /// Attempts that failed for a passing reason.
    public var failed = 0
    /// Operations that the server refused for good, or that cannot be sent.
    public var dead = 0
    /// Conflicts that a policy has decided.
    public var conflicts = 0
    /// Operations that a policy has withdrawn.
    public var withdrawn = 0
    /// The first ``problemLimit`` failures.
    public var problems: [Problem] = []
    /// The number of operations that reached the server, but whose answers could not be read.
    ///
    /// They are also counted in ``sent``.
    public var unread = 0
    /// The first ``problemLimit`` answers that could not be read, fields that were not sent or that
    /// the server has not taken, changes that a policy has withdrawn, and created records that were
    /// merged into other ones.
    ///
    /// The server has the changes whose answers could not be read; what it has made of them is
    /// unknown until the records are fetched. Stored responses with the records are not used before
    /// that. A field that the description does not send any more stays a local change. A field of
    /// which an answer has the value from before the change has that value here, too. A creation
    /// whose answer has the key of a record that was here before becomes one record with it.
    public var warnings: [Problem] = []
    /// The first reason for which operations wait although they could be sent; nil if none does.
    public var stop: Stop?
    /// The reasons for which operations wait, by the name of their API; empty for the only one.
    public var stops: [String: Stop] = [:]
    /// The operations that are left.
    public var remaining = OutboxCounts()
    /// The next end of a back-off; nil if no operation waits for one.
    public var nextAttempt: Timestamp?

    /// Whether the task was cancelled before everything was sent.
    package var isInterrupted = false
    /// Whether the rate limit of a server was used up.
    package var isLimited = false
    /// The number of creations whose answers have the key of a record that was here before.
    package var merged = 0
    /// The number of fields that were not sent, and stay local changes.
    package var unsentFields = 0
    /// The number of fields of which an answer has the value from before the change.
    package var untakenFields = 0
    /// The number of changes that a conflict policy has withdrawn, or of which it has withdrawn
    /// fields.
    package var withdrawnParts = 0
    /// The number of operations that wait for a dead one; of the first 1,000 in `Outbox.run`.
    package var blocked = 0
    /// The entities of operations for which the description declares no requests, with the numbers
    /// of operations; of the first 1,000 in `Outbox.run`. These wait.
    package var undeclared: [String: Int] = [:]

    /// Creates an empty report.
    package init() {}

    /// The maximum number of reported failures.
    public static let problemLimit = 100

    /// The failure of an operation.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// The operation.
        public var operation: UInt64
        /// The kind of the operation.
        public var kind: OutboxOperation.Kind
        /// The record.
        public var record: OutboxRecord
        /// The failure.
        public var failure: OutboxFailure
        /// Whether the operation is dead.
        public var isDead: Bool

        /// One line.
        public var description: String {
            "operation \(operation), \(kind.rawValue) \(record): \(failure.message)"
        }
    }

    /// The reason for which a drain sends no more operations of an API.
    public enum Stop: Sendable, Hashable {
        /// The server cannot be reached, or a web page has answered in its place.
        case unreachable(String)
        /// The server demands other credentials.
        case authentication(String)
        /// Several attempts in a row have failed for a passing reason.
        case failing(String)

        /// The failure.
        public var message: String {
            switch self {
            case .unreachable(let text), .authentication(let text), .failing(let text): text
            }
        }
    }

    mutating func note(_ operation: OutboxOperation, _ failure: OutboxFailure, isDead: Bool) {
        if isDead { dead += 1 } else { failed += 1 }
        guard problems.count < OutboxReport.problemLimit else { return }
        problems.append(
            Problem(
                operation: operation.id, kind: operation.kind, record: operation.record, failure: failure,
                isDead: isDead))
    }

    /// Notes an answer that could not be read to an operation that is done.
    mutating func note(_ operation: OutboxOperation, unread failure: OutboxFailure, _ key: RecordKey) {
        unread += 1
        warn(operation, OutboxRecord(operation.entity, key), failure)
    }

    /// Notes a creation whose answer has the key of a record that was here before.
    mutating func note(_ operation: OutboxOperation, mergedInto key: RecordKey, at time: Timestamp) {
        merged += 1
        let text =
            "the server answered the creation with the key of a record that was here before, and both are one record "
            + "now; fetch it, and create the record again if the server lacks it"
        warn(
            operation, OutboxRecord(operation.entity, key),
            OutboxFailure(kind: OutboxReport.merged, message: text, at: time))
    }

    private mutating func warn(_ operation: OutboxOperation, _ record: OutboxRecord, _ failure: OutboxFailure) {
        guard warnings.count < OutboxReport.problemLimit else { return }
        warnings.append(
            Problem(
                operation: operation.id, kind: operation.kind, record: record, failure: failure, isDead: false))
    }

    /// Notes a field of an operation that stays a local change.
    mutating func note(_ operation: OutboxOperation, unsent field: UnsentField, at time: Timestamp) {
        unsentFields += 1
        let text = field.warning("entities.\(operation.entity).write.\(operation.kind.rawValue)")
        warn(
            operation, operation.record,
            OutboxFailure(kind: OutboxReport.unsent, message: text.printable(OutboxFailure.longestText), at: time))
    }

    /// Notes fields of which the answer has the value from before the change.
    mutating func note(_ operation: OutboxOperation, untaken fields: [String], _ key: RecordKey, at time: Timestamp) {
        untakenFields += fields.count
        let text =
            "the answer has the earlier value of \(fields.sorted().joined(separator: ", ")), which is the value here "
            + "now: the server may not know the member of the request; its names follow from `naming`, `from` and `places`"
        warn(
            operation, OutboxRecord(operation.entity, key),
            OutboxFailure(kind: OutboxReport.untaken, message: text.printable(OutboxFailure.longestText), at: time))
    }

    /// Notes a change, or a part of one, that a conflict policy has withdrawn: no operation has it
    /// any more.
    mutating func note(_ operation: OutboxOperation, withdrawn reason: String, at time: Timestamp) {
        withdrawnParts += 1
        let text = reason.printable(OutboxFailure.longestText)
        warn(operation, operation.record, OutboxFailure(kind: OutboxReport.withdrawal, message: text, at: time))
    }

    /// The kind of the warnings of changes that a policy has withdrawn.
    package static let withdrawal = "withdrawn"
    /// The kind of the failures of fields that the server has not taken.
    package static let untaken = "untaken"
    /// The kind of the failures of fields that are not sent.
    package static let unsent = "unsent"
    /// The kind of the failures of creations that were merged into known records.
    package static let merged = "merged"
}
