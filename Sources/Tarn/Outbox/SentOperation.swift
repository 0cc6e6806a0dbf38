// An operation that a drain has claimed, and the outcome of its attempt.

import TarnHTTP
import TarnImport
import TarnStore

/// An operation that a drain has claimed.
struct ClaimedOperation: Sendable {
    var operation: OutboxOperation
    /// The conflict that code has to decide before the operation is sent.
    var conflict: OpenConflict?
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
        case refreshed(OutboxFailure, isSameVersion: Bool)
        /// The server no longer has the record.
        case gone(OutboxFailure)
        /// Code has decided a conflict.
        case decided(ConflictDecision)
        /// Nothing was sent: the operations of the API wait.
        case stopped(OutboxReport.Stop, OutboxFailure)
        case cancelled
        /// The operation was claimed, but not sent.
        case unsent
    }

    var operation: OutboxOperation
    var outcome: Outcome
    /// The drafts of the answer.
    var importer: ImporterPool.Lent?
    /// The URLs whose stored responses are invalid now.
    var invalidated: [String] = []
    /// The reason why the answer to an operation that is done could not be read.
    var unread: OutboxFailure?
    /// The URL at which the server has created the record, if its key is not known yet.
    var location: String?

    /// Whether nothing of an answer is imported with the outcome.
    var isPlain: Bool { importer == nil }
}
