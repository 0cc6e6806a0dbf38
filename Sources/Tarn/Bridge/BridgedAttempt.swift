import TarnStore

/// An attempt of a change through a bridge: what is still to be sent, and what has come back.
struct BridgedAttempt {
    var steps: [ChangeBridge.Step] = []
    var sent: SentOperation
    /// The declared request, without preconditions.
    let declared: WriteMessage
    /// The number of operations that were sent, or are about to be.
    var count = 0
    /// The key of the first record of the operation's entity.
    var key: RecordKey?
    /// The URL at which the server has created a record.
    var location: String?
    /// Whether an answer had the operation's own record.
    var hasOwn = false
    /// The warning about answers that have other records of its entity only.
    var others: OutboxFailure?

    var operation: OutboxOperation { sent.operation }

    init(_ operation: OutboxOperation, _ declared: WriteMessage) {
        self.declared = declared
        sent = SentOperation(operation: operation, outcome: .done(adopting: nil))
        // The answer may be that to an earlier attempt.
        sent.isReplayed = operation.mayHaveArrived && operation.kind != .delete
    }

    /// Notes a warning, if there is none yet.
    mutating func warn(_ warning: OutboxFailure) { sent.unread = sent.unread ?? warning }

    /// The result of an attempt that has ended before its last operation was done.
    ///
    /// A refusal tells what the server has carried out by then.
    ///
    /// - Parameter mayHaveArrived: whether the server may have carried out the last operation.
    func ended(
        _ outcome: SentOperation.Outcome, at now: Timestamp, mayHaveArrived: Bool = false
    ) -> SentOperation {
        var sent = sent
        sent.outcome = count > 1 ? outcome.afterSending(at: now) : outcome
        sent.hasArrived = count > 1 || mayHaveArrived
        guard case .refused(var failure) = outcome, count > 1 else { return sent }
        // A change of the record does not correct an operation that is carried out in part.
        failure.kind = OutboxFailure.partial
        var reason =
            "the server has carried out \(count == 2 ? "the operation" : "the \(count - 1) operations") before it"
        if operation.kind == .create {
            reason += key.map { ": it has \(operation.entity) \($0)" } ?? ""
            reason += "; discard the operation, and fetch the record"
        }
        sent.outcome = .refused(failure.adding(reason))
        return sent
    }
}
