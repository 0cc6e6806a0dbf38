// An operation that a drain has claimed, and the outcome of its attempt.

import TarnHTTP
import TarnStore

/// An operation on its way, from task to task: a reference, since its parts are many.
private final class OperationOnItsWay: Sendable {
    let operation: OutboxOperation

    init(_ operation: OutboxOperation) { self.operation = operation }
}

/// An operation that a drain has claimed.
struct ClaimedOperation: Sendable {
    private let way: OperationOnItsWay
    /// The conflict that code has to decide before the operation is sent.
    let conflict: OpenConflict?
    /// Whether this drain has read the record for the operation's body.
    let wasRead: Bool
    /// The server's values of the record that were known when the operation was claimed, by field:
    /// conflicts are decided about these. Empty for operations that have no conflicts.
    let seen: [UInt16: [UInt8]]

    var operation: OutboxOperation { way.operation }

    init(
        operation: OutboxOperation, conflict: OpenConflict? = nil, wasRead: Bool = false, seen: [UInt16: [UInt8]]
    ) {
        way = OperationOnItsWay(operation)
        self.conflict = conflict
        self.wasRead = wasRead
        self.seen = seen
    }
}

/// The outcome of an attempt, which the next commit applies.
struct SentOperation: Sendable {
    enum Outcome: Sendable {
        /// The server has the change. The key is that of the answer.
        case done(adopting: RecordKey?)
        /// The attempt failed for a passing reason.
        case later(after: Duration?, OutboxFailure)
        /// The operation cannot be sent, or the server refuses it for good.
        case refused(OutboxFailure)
        /// The server has refused a precondition, and its record was read.
        case refreshed(OutboxFailure, Validators, isSameVersion: Bool)
        /// Nothing was sent: the record was read, because the body needs all of its values.
        case completed
        /// The server no longer has the record.
        case gone(OutboxFailure)
        /// Code has decided a conflict with the server's values that were seen.
        case decided(ConflictDecision, seen: [UInt16: [UInt8]])
        /// Nothing was sent: the rate limit of the API is used up.
        case limited(until: Timestamp, OutboxFailure)
        /// The operations of the API wait: nothing was sent, or a web page has answered.
        case stopped(OutboxReport.Stop, OutboxFailure)
        case cancelled
        /// The operation was claimed, but not sent.
        case unsent
    }

    private let way: OperationOnItsWay
    var outcome: Outcome
    /// The drafts of the answer.
    var importer: ImporterPool.Lent?
    /// The moment before the request was sent whose answer the drafts are of.
    var moment: Moment?
    /// The moment before the attempt's first request.
    var began: Moment?

    /// A moment by which answers are compared with what has happened since.
    struct Moment: Sendable {
        /// The revision of the outbox; nil if it could not be read.
        var revision: UInt64?
        /// The commit sequence of the store; nil if it could not be read.
        var sequence: UInt64?
        var time: Timestamp
    }
    /// The URLs whose stored responses are invalid now.
    var invalidated: [String] = []
    /// The reason why the answer to an operation that is done could not be read.
    var unread: OutboxFailure?
    /// The version of the record that the operation has left, or that was read with the drafts.
    /// Requests are based on the latter once these are stored: before, its values are not known
    /// here.
    var version: Version?

    struct Version: Sendable {
        var url: String
        var validators: Validators
        var at: Timestamp
    }

    /// The request that was refused as one of another version, without preconditions: one that has
    /// other values once the record was read, such as its version in a header field, is not refused
    /// for the same one.
    var refusedRequest: RefusedRequest?

    /// A reference: few operations have one.
    final class RefusedRequest: Sendable {
        let message: WriteMessage

        init(_ message: WriteMessage) { self.message = message }
    }

    /// Whether the answer may be that to an earlier attempt, repeated by the server.
    ///
    /// It may be older than what a sync has brought since.
    var isReplayed = false
    /// Whether the server has, or may have, carried out a part of an operation that has failed.
    var hasArrived = false
    /// The URL at which the server has created the record, if its key is not known yet.
    var location: String?

    var operation: OutboxOperation { way.operation }

    init(operation: OutboxOperation, outcome: Outcome) {
        way = OperationOnItsWay(operation)
        self.outcome = outcome
    }

    /// Whether nothing of an answer is imported with the outcome.
    var isPlain: Bool { importer == nil }
}

extension OutboxTable {
    /// The server's values of an operation's record, by field, with which its changes may conflict;
    /// empty for operations that have no conflicts.
    func conflictingValues(of operation: OutboxOperation) throws -> [UInt16: [UInt8]] {
        guard operation.kind == .update || operation.kind == .delete else { return [:] }
        return try valuesOfResponses(operation.entity, operation.key)
    }
}
