// The life of a queued operation: claimed, sent, completed, postponed, buried, retried.

import Foundation

extension StoreWriter {
    /// Claims operations for sending: their state becomes `sending`, and the attempt is counted.
    ///
    /// An operation that is `sending` already, because its sender was killed, is claimed again.
    /// Operations that are dead or no longer queued are left out. The caller respects
    /// dependencies: see ``OutboxTable/window(limit:after:now:)``.
    ///
    /// - Returns: the claimed operations, in the order of `ids`.
    package mutating func claimOperations(_ ids: [UInt64], at now: Timestamp = .now) throws -> [OutboxOperation] {
        try ids.compactMap { id in try outbox.operation(id).flatMap { try claimOperation($0, at: now) } }
    }

    /// Claims an operation that the caller has read in this transaction.
    ///
    /// The operation notes ``OutboxOperation/sentFields``, unless an earlier attempt may have
    /// arrived: the fields that it has sent stay noted then.
    ///
    /// - Returns: the claimed operation; nil if it is dead or no longer queued.
    package mutating func claimOperation(_ known: OutboxOperation, at now: Timestamp) throws -> OutboxOperation? {
        guard let stored = try outbox.stored(known.id), stored.state != .dead else { return nil }
        var operation = stored, claimed = known
        // Its sender was killed.
        if stored.state == .sending { operation.mayHaveArrived = true }
        if stored.kind == .create, !operation.mayHaveArrived || stored.sentFields == nil {
            let entity = access.catalog.entity(id: stored.entity)
            operation.sentFields = known.sentFields.map { Set($0.compactMap { entity?.field($0)?.id }) }
        }
        operation.state = .sending
        operation.attempts = stored.attempts &+ 1
        operation.attemptedAt = now
        operation.notBefore = nil
        try operations.replace(stored, by: operation)
        (claimed.state, claimed.attempts) = (operation.state, operation.attempts)
        (claimed.attemptedAt, claimed.notBefore) = (now, nil)
        claimed.mayHaveArrived = operation.mayHaveArrived
        return claimed
    }

    /// Returns an operation to the queue after a failure that may pass.
    ///
    /// - Parameter mayHaveArrived: whether the server may have carried out the operation.
    /// - Returns: false if the operation is no longer queued.
    @discardableResult
    package mutating func retryOperationLater(
        _ id: UInt64, notBefore: Timestamp?, _ failure: OutboxFailure, mayHaveArrived: Bool = false
    ) throws -> Bool {
        try change(id) { operation in
            if mayHaveArrived { operation.mayHaveArrived = true }
            operation.state = .pending
            operation.notBefore = notBefore
            operation.failure = failure.cut
        }
    }

    /// Returns an operation to the queue that the server has refused because of the record's
    /// version.
    ///
    /// It gets a new idempotency key: for the old one, the server may repeat its refusal.
    ///
    /// - Parameters:
    ///   - etag: the entity tag of the version that the server has now.
    ///   - lastModified: the date of this version.
    package mutating func requeueOperation(
        _ id: UInt64, _ failure: OutboxFailure, etag: String?, lastModified: String?
    ) throws {
        _ = try change(id) { operation in
            operation.state = .pending
            operation.notBefore = nil
            operation.failure = failure.cut
            operation.idempotencyKey = .drawn()
            operation.mayHaveArrived = false
            (operation.etag, operation.lastModified) = (etag, lastModified)
        }
    }

    /// Returns claimed operations to the queue that were not sent after all.
    ///
    /// Their attempts stay counted: nothing is folded into them.
    ///
    /// - Parameter mayHaveArrived: whether the server may have carried out the operations.
    package mutating func releaseOperations(_ ids: [UInt64], mayHaveArrived: Bool = false) throws {
        for id in ids {
            _ = try change(id) { operation in
                guard operation.state == .sending else { return }
                operation.state = .pending
                if mayHaveArrived { operation.mayHaveArrived = true }
            }
        }
    }

    /// Returns claimed operations to the queue of which nothing was sent: the claims never were.
    package mutating func unclaimOperations(_ ids: [UInt64]) throws {
        for id in ids {
            _ = try change(id) { operation in
                guard operation.state == .sending else { return }
                operation.state = .pending
                operation.attempts = max(0, operation.attempts - 1)
                if operation.attempts == 0 { operation.attemptedAt = nil }
            }
        }
    }

    /// Returns a claimed operation to the queue of which nothing was sent, for a later time: the
    /// claim is no attempt.
    package mutating func postponeOperation(_ id: UInt64, until: Timestamp, _ failure: OutboxFailure) throws {
        try unclaimOperations([id])
        _ = try change(id) { operation in
            operation.notBefore = until
            operation.failure = failure.cut
        }
    }

    /// Makes an operation dead: the server refused it for good.
    ///
    /// - Returns: false if the operation is no longer queued.
    @discardableResult
    package mutating func buryOperation(_ id: UInt64, _ failure: OutboxFailure) throws -> Bool {
        try change(id) { operation in
            operation.state = .dead
            operation.notBefore = nil
            operation.failure = failure.cut
        }
    }

    /// Notes the URL at which the server has created the record of an operation.
    ///
    /// From then on, attempts read the record there instead of creating it again.
    package mutating func noteLocation(_ location: String, ofOperation id: UInt64) throws {
        _ = try change(id) { $0.location = location }
    }

    /// Notes that the server may have carried out an operation whose answer is not known.
    package mutating func noteArrival(ofOperation id: UInt64) throws {
        _ = try change(id) { $0.mayHaveArrived = true }
    }

    /// Notes the version of the record on which an operation is based.
    package mutating func noteVersion(ofOperation id: UInt64, etag: String?, lastModified: String?) throws {
        _ = try change(id) { ($0.etag, $0.lastModified) = (etag, lastModified) }
    }

    /// Queues a dead operation again, or ends the back-off of a pending one.
    ///
    /// The idempotency key stays: the payload is the same. Only an update or a deletion that the
    /// server has refused because of the record's version gets a new one: for the old key, the
    /// server may repeat its refusal.
    ///
    /// - Parameters:
    ///   - evenIfSending: whether an operation is queued again that a sender has claimed, because
    ///     that was killed.
    ///   - evenIfAccepted: whether a creation is queued again that the server has accepted.
    /// - Returns: the operation; nil if it was withdrawn, because later operations have replaced
    ///   all of its changes: see ``dropOvertakenChanges(by:)``.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongState` if it is being sent, `.accepted`.
    @discardableResult
    package mutating func retryOperation(
        _ id: UInt64, evenIfSending: Bool = false, evenIfAccepted: Bool = false
    ) throws -> OutboxOperation? {
        let known = try outbox.queued(id)
        guard evenIfSending || known.state != .sending else {
            throw OutboxError.wrongState(id: id, state: known.state, expected: [.pending, .dead])
        }
        guard evenIfAccepted || !known.isAccepted else { throw OutboxError.accepted(id: id) }
        if known.isOvertaken {
            try operations.remove(known)
            return nil
        }
        if known.isOfEarlierRecord {
            _ = try discard(id)
            return nil
        }
        var operation = known
        if known.state == .sending || known.isAccepted { operation.mayHaveArrived = true }
        let isOfVersion = known.failure?.status.map { [409, 412, 428].contains($0) } ?? false
        // A creation with another key could have a second effect.
        if known.state == .dead, isOfVersion, known.kind == .update || known.kind == .delete {
            operation.idempotencyKey = .drawn()
            operation.mayHaveArrived = false
        }
        operation.state = .pending
        operation.notBefore = nil
        operation.failure = nil
        try operations.replace(known, by: operation)
        return try outbox.decoded(operation)
    }

    /// Takes fields out of a creation or an update whose request does not send them: they stay
    /// local changes.
    ///
    /// An update that was attempted gets a new idempotency key, because its payload differs. A
    /// creation keeps its key: another one could create the record twice.
    ///
    /// - Returns: the operation; nil if none of the fields was to be sent until now.
    /// - Throws: `OutboxError.unknownOperation`.
    package mutating func keepLocal(_ names: Set<String>, ofOperation id: UInt64) throws -> OutboxOperation? {
        let known = try outbox.queued(id)
        guard let entity = access.catalog.entity(id: known.entity) else { return nil }
        let fields = Set(names.compactMap { entity.field($0)?.id }).subtracting(entity.key)
        var operation = known
        switch known.kind {
        case .create: operation.unsent.formUnion(fields)
        // The marks stay, also those of records that have lost a reference to one of the fields.
        case .update: operation.changes.removeAll { fields.contains($0.field) }
        case .delete, .add, .remove: return nil
        }
        guard operation != known else { return nil }
        if known.kind == .update, known.attempts > 0 { operation.idempotencyKey = .drawn() }
        try operations.replace(known, by: operation)
        return try outbox.decoded(operation)
    }

    /// Makes fields of a creation that were to stay local changes a part of it: its request sends
    /// them now, and no earlier attempt can have reached the server.
    ///
    /// A field that was changed since stays a local change: the creation has the earlier value.
    ///
    /// - Throws: `OutboxError.unknownOperation`.
    package mutating func sendFields(_ names: Set<String>, ofCreation id: UInt64) throws {
        let known = try outbox.queued(id), row = try access.wholeRow(known.record(access.catalog))
        guard let entity = access.catalog.entity(id: known.entity) else { return }
        let fields = Set(names.compactMap { entity.field($0)?.id })
        let sent = known.changes.filter { change in
            change.record == nil && fields.contains(change.field) && change.after == row?.value(of: change.field)
        }
        var operation = known
        operation.unsent.subtract(sent.map(\.field))
        if operation != known { try operations.replace(known, by: operation) }
    }

    /// Replaces the changes of an update or a creation after a conflict, and queues it again.
    ///
    /// `changes` has the new base values and the values to send. Fields that it lacks are
    /// withdrawn: their visible value becomes the server's. Later operations continue from the new
    /// values. The operation gets a new idempotency key. An update without changes is withdrawn.
    ///
    /// - Returns: the operation; nil if it was withdrawn.
    /// - Throws: `OutboxError.unknownOperation`, `.wrongKind`; otherwise as `put`.
    @discardableResult
    package mutating func replaceChanges(
        ofOperation id: UInt64, _ changes: [OutboxOperation.Change]
    ) throws -> OutboxOperation? {
        let known = try outbox.queued(id), record = known.record(access.catalog)
        guard known.kind == .update || known.kind == .create, let entity = access.catalog.entity(id: known.entity)
        else { throw OutboxError.wrongKind(id: id, kind: known.kind) }
        let after = try outbox.encoded(changes.map { Record.Field($0.name, $0.after) }, known.key, entity)
        let bases = try outbox.encoded(
            changes.compactMap { change in change.before.map { Record.Field(change.name, $0) } }, known.key, entity)
        let own = known.changes.filter { $0.record == nil }
        let dropped = own.filter { after[$0.field] == nil && !entity.key.contains($0.field) }
        for change in dropped {
            let place = RecordFieldPlace(record: change.record ?? record, field: change.field)
            _ = try rollBack(place, of: try outbox.queued(id))
            var operation = try outbox.queued(id)
            let before = operation
            operation.changes.removeAll { $0.isOf(place, record) }
            try operations.replace(before, by: operation)
        }
        let before = try releaseOwners(of: outbox.queued(id), Set(dropped.map(\.field)))
        var operation = before
        operation.changes.removeAll { $0.record == nil && after[$0.field] != nil }
        operation.changes += after.map { field, value in
            StoredOperation.FieldChange(kind: known.entity, field: field, before: bases[field], after: value)
        }
        operation.changes.sort { $0.field < $1.field }
        if known.kind == .update, operation.changes.isEmpty {
            try operations.remove(before)
            try renewMark(record, after: known)
            // The server has it all: responses from before may not.
            try operations.noteSettled([record], at: .now)
            try deleteGone()
            return nil
        }
        operation.sendAnew()
        try operations.replace(before, by: operation)
        beginClearing()
        for (field, value) in after {
            try continueFrom(value, RecordFieldPlace(record: record, field: field), after: id)
        }
        let cleared = endClearing(), changed = own.filter { after[$0.field] != $0.after }
        operation = try releaseOwners(of: operation, Set(changed.map(\.field)))
        let stored = operation
        operation.changes += cleared
        try operations.replace(stored, by: operation)
        var gone = known
        gone.id = 0
        gone.changes = dropped
        if !dropped.isEmpty, known.kind == .update { try renewMark(record, after: gone) }
        try mark(operation)
        return try outbox.decoded(operation)
    }

    private mutating func change(_ id: UInt64, _ body: (inout StoredOperation) -> Void) throws -> Bool {
        guard let known = try outbox.stored(id) else { return false }
        var operation = known
        body(&operation)
        try operations.replace(known, by: operation)
        return true
    }
}

extension OutboxFailure {
    /// The kind of failure of a dead deletion whose record was created again since.
    static let recreated = "recreated"

    /// The failure with texts of at most the kept size. A cut ends with `…`.
    fileprivate var cut: OutboxFailure {
        func cut(_ text: String) -> String {
            guard text.utf8.count > OutboxFailure.longestText else { return text }
            let mark = "…"
            var end = text.utf8.index(text.startIndex, offsetBy: OutboxFailure.longestText - mark.utf8.count)
            // Never within a character.
            while String.Index(end, within: text) == nil { end = text.utf8.index(before: end) }
            return text[..<end] + mark
        }
        var failure = self
        failure.kind = cut(kind)
        failure.message = cut(message)
        failure.excerpt = excerpt.map(cut)
        return failure
    }
}
