// The outcomes of attempts, applied to the store.

import Foundation
import TarnHTTP
import TarnImport
import TarnStore

extension OutboxDrain {
    func apply(_ sent: SentOperation, _ effects: inout Effects, _ writer: inout StoreWriter) throws {
        let operation = sent.operation, id = operation.id
        if let location = sent.location { try writer.noteLocation(location, ofOperation: id) }
        // The answer to a first request of this attempt may have been lost.
        if operation.mayHaveArrived { try writer.noteArrival(ofOperation: id) }
        if !sent.invalidated.isEmpty {
            try ResponseStore.invalidate(sent.invalidated, &writer)
            // A transfer under way may have read the resource before the change.
            try writer.access.settings.noteUnsafeRequests(ResourceStates.digests(of: sent.invalidated))
        }
        switch sent.outcome {
        case .done(let key):
            try done(sent, adopting: key, &effects, &writer)
            effects.ended.insert(id)
            effects.report.sent += 1
        case .later(let delay, let failure):
            try later(sent, after: delay, failure, &effects, &writer)
        case .refused(let failure):
            try refuse(operation, failure, &effects, &writer)
        case .stopped(let stop, let failure):
            if case .authentication = stop {
                // Nothing is wrong with the operation.
                try writer.releaseOperations([id], mayHaveArrived: sent.hasArrived)
            } else {
                try later(sent, after: nil, failure, &effects, &writer)
            }
        case .limited(let until, let failure): try writer.postponeOperation(id, until: until, failure)
        case .cancelled: try writer.releaseOperations([id], mayHaveArrived: true)
        case .unsent: try writer.unclaimOperations([id])
        case .refreshed(let failure, let validators, let isSameVersion):
            try refreshed(sent, failure, validators, isSameVersion: isSameVersion, &effects, &writer)
        case .completed:
            if try importAnswer(sent, settled(since: sent, writer), operation.record, &effects, &writer) {
                state.withLock { _ = $0.read.insert(id) }
            }
            try writer.unclaimOperations([id])
        case .gone(let failure):
            if case .rule(.server) = policy(of: operation, writer.access) {
                try writer.discardOperation(id, evenIfSending: true)
                try deleteGone(operation.record, &writer)
                effects.ended.insert(id)
                effects.report.withdrawn += 1
                effects.report.conflicts += 1
                effects.report.note(
                    operation, withdrawn: "withdrawn by the policy: the server has deleted the record", at: client.now)
            } else {
                try refuse(operation, failure, &effects, &writer)
            }
        case .decided(let decision, let seen):
            guard try writer.outbox.conflictingValues(of: operation) == seen else {
                // A response has brought other values meanwhile: these are decided about.
                return try writer.unclaimOperations([id])
            }
            effects.report.conflicts += 1
            if var next = try carryOut(decision, operation, &effects, &writer) {
                // A closure that resolves a conflict may return fields that no request sends.
                try fitToRequest(&next, &effects, &writer)
                effects.claimed.append(
                    ClaimedOperation(operation: next, seen: try writer.outbox.conflictingValues(of: next)))
            }
        }
    }

    /// Completes an operation, and imports the records of its answer.
    private func done(
        _ sent: SentOperation, adopting key: RecordKey?, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        let operation = sent.operation
        // Before the completion, which settles the operation's own record.
        var settled = try settled(since: sent, writer)
        try writer.dropOvertakenChanges(by: operation.id)
        let completion = try writer.completeOperation(operation, adopting: key, at: client.now)
        let record = OutboxRecord(operation.entity, completion?.key ?? operation.key)
        let listedAt = try writer.responses.removeValidators(
            ofResponsesListing: record.entity, record.key, at: client.now)
        let isListed = listedAt.map { $0 > sent.moment?.time ?? client.now } ?? false
        // A response that lists the record has come meanwhile: which one is newer is unknown. What
        // a response has brought before is newer than a repeated answer.
        let isKnown = sent.isReplayed && (completion.map { $0.isMerged || $0.isDeleted } ?? false)
        if isListed || isKnown, let own = record.listed(writer.access.catalog) { settled.insert(own) }
        let isCurrent = try importAnswer(sent, settled, record, &effects, &writer)
        // Earlier versions are no longer right; without one the server would notice no conflict.
        // Responses that came between the answer and this write have just lost theirs.
        var version = sent.version
        version?.at = client.now
        if let version { effects.versions.append(version) }
        if completion?.isDeleted == true { try deleteGone(record, &writer) }
        // A later change by another client may be in it.
        if sent.importer != nil, isCurrent, !sent.isReplayed {
            try noteUntakenFields(operation, record, &effects, writer)
            try rebase(operation, record.key, &writer)
        }
        try noteVersion(behind: operation, record, sent.version, &writer)
        if let failure = sent.unread {
            // The next response has the record as the server stores it.
            try writer.responses.invalidate(listing: record.entity, record.key)
            effects.report.note(operation, unread: failure, record.key)
        } else if sent.isReplayed || !isCurrent {
            try writer.responses.invalidate(listing: record.entity, record.key)
        }
        if let completion, completion.wasKnown, !isExpected(sent, completion, listedAt: listedAt) {
            // Two records may have become one: only the server knows what it has.
            try writer.responses.invalidate(listing: record.entity, record.key)
            effects.report.note(operation, mergedInto: record.key, at: client.now)
        }
        // After the responses are invalidated, which removes the versions that they name.
        try keepVersion(version, of: record, &writer)
    }

    /// Stores the version of a record that an answer has named: a later process requires it, too.
    private func keepVersion(
        _ version: SentOperation.Version?, of record: OutboxRecord, _ writer: inout StoreWriter
    ) throws {
        guard let version, !version.validators.isEmpty,
            case .success(let scope) = lane(of: record.entity).authScope,
            let listed = record.listed(writer.access.catalog)
        else { return }
        try writer.responses.noteVersion(
            version.validators.fields, of: listed, at: version.url, scope: scope, time: version.at)
    }

    /// Bases queued deletions of a record on the version that an operation before them has left: no
    /// later process would know it, and with the version before, the server refuses them.
    ///
    /// - Parameter version: the version that the operation has left; nil if it is not known.
    private func noteVersion(
        behind done: OutboxOperation, _ record: OutboxRecord, _ version: SentOperation.Version?,
        _ writer: inout StoreWriter
    ) throws {
        for deletion in try writer.outbox.operations(of: record.entity, record.key, after: done.id)
        where deletion.kind == .delete && (deletion.etag != nil || deletion.lastModified != nil) {
            // A deletion whose request cannot be made fails when it is sent.
            let message = try? lane(of: deletion.entity).builder(writer.access).message(for: deletion)
            guard let url = message?.recordURL else { continue }
            let stored = version.flatMap { $0.url == url ? (validators: $0.validators, at: $0.at) : nil }
            guard let written = stored ?? outbox.validators[url], written.at > deletion.queuedAt else { continue }
            try writer.noteVersion(
                ofOperation: deletion.id, etag: written.validators.etag, lastModified: written.validators.lastModified)
        }
    }

    /// Deletes a record that the server no longer has, unless a delete rule forbids it.
    private func deleteGone(_ record: OutboxRecord, _ writer: inout StoreWriter) throws {
        do { try writer.delete(record.entity, record.key) } catch StoreWriteError.deleteDenied {}
    }

    /// Whether the record that an answer to a creation names may be here because of the creation:
    /// an earlier attempt of it may have arrived, or a response that has come since lists it or has
    /// changed it, such as the answer to another operation, unless that is a creation with the same
    /// key.
    ///
    /// - Parameter listedAt: the time of the newest response that lists the record.
    private func isExpected(_ sent: SentOperation, _ completion: OutboxCompletion, listedAt: Timestamp?) -> Bool {
        if sent.operation.mayHaveArrived || sent.operation.location != nil { return true }
        guard let began = sent.began, !completion.isShared else { return false }
        if let version = completion.knownVersion, let sequence = began.sequence, version > sequence { return true }
        return listedAt.map { $0 > began.time } ?? false
    }

    /// Imports the version of the record that the server has after its refusal, and decides the
    /// conflict.
    private func refreshed(
        _ sent: SentOperation, _ failure: OutboxFailure, _ validators: Validators, isSameVersion: Bool,
        _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        let operation = sent.operation
        let before = try writer.outbox.serverRecord(ofDeletion: operation.id)?.record
        guard try importAnswer(sent, settled(since: sent, writer), operation.record, &effects, &writer) else {
            var failure = failure
            failure.kind = "temporary"
            return try later(sent, after: nil, failure, &effects, &writer)
        }
        let isChanged = try isChanged(operation, since: before, &writer)
        let difference: Difference = !isChanged && isSameVersion ? difference(sent, writer) : .version
        if difference == .nothing {
            // The refusal has another reason: sending it again would not help.
            guard sent.isReplayed, countRefusal(of: operation.id) < OutboxDrain.refusalLimit else {
                return try refuse(operation, failure, &effects, &writer)
            }
            // The server has perhaps repeated its refusal of an older version, for the same key.
            // With another one it decides again.
            var failure = failure
            failure.kind = "temporary"
            return try writer.requeueOperation(
                operation.id, failure, etag: operation.etag, lastModified: operation.lastModified)
        }
        // After a 428, the version is only known now: without other values there is no conflict.
        try refreshed(
            operation, failure, validators, isConflict: failure.status != 428 || isChanged,
            mayWithdraw: failure.status != 409 || difference == .version, &effects, &writer)
    }

    /// The values that a request has, now that the record was read, other than the refused one.
    private enum Difference {
        case nothing
        /// Fields that the operation does not change, in the body: a 409 may have any reason. Sent
        /// again, the request has no other values, and a refusal for such a reason is final.
        case fields
        /// The version: in a header field, in the URL, or among the forced values of the body.
        case version
    }

    private func difference(_ sent: SentOperation, _ writer: borrowing StoreWriter) -> Difference {
        guard let refused = sent.refusedRequest?.message else { return .nothing }
        // Of a request that cannot be made any more, the refusal is the outcome.
        let message = try? lane(of: sent.operation.entity).builder(writer.access).message(for: sent.operation)
        guard let message else { return .nothing }
        var next = message.message, known = refused.message
        if let name = refused.idempotencyField {
            // It may follow from the body.
            next.headers[name] = nil
            known.headers[name] = nil
        }
        guard next.url == known.url, next.headers == known.headers, message.forced == refused.forced else {
            return .version
        }
        return next.body == known.body ? .nothing : .fields
    }

    /// The records whose operations have reached the server since the request of an answer.
    private func settled(since sent: SentOperation, _ writer: borrowing StoreWriter) throws -> Set<ListedRecord> {
        guard sent.importer != nil, let revision = sent.moment?.revision else { return [] }
        return try writer.outbox.settledRecords(after: revision)
    }

    /// Imports the records of an answer.
    ///
    /// - Parameters:
    ///   - settled: the records that keep their values: the answer may be older than these.
    ///   - record: the record of the operation.
    /// - Returns: whether the record is none of them.
    private func importAnswer(
        _ sent: SentOperation, _ settled: Set<ListedRecord>, _ record: OutboxRecord, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws -> Bool {
        guard let importer = sent.importer?.value else { return true }
        importer.unit.overtaken = settled
        _ = try importer.commit(into: &writer)
        let isCurrent = settled.isEmpty || record.listed(writer.access.catalog).map { !settled.contains($0) } ?? true
        if isCurrent, let version = sent.version { effects.versions.append(version) }
        return isCurrent
    }

    func refuse(
        _ operation: OutboxOperation, _ failure: OutboxFailure, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        effects.ended.insert(operation.id)
        if try writer.buryOperation(operation.id, failure) {
            effects.report.note(operation, failure, isDead: true)
        }
    }

    private func later(
        _ sent: SentOperation, after delay: Duration?, _ failure: OutboxFailure, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws {
        let operation = sent.operation
        let backOff = outbox.options.backOff.delay(afterAttempt: operation.attempts, client.options.time.random())
        // Some servers name a date that is far away.
        let wait = max(min(delay ?? .zero, client.api.pace.longestLimit), backOff)
        let notBefore = Timestamp(client.options.time.now().addingTimeInterval(wait.inSeconds))
        if try writer.retryOperationLater(
            operation.id, notBefore: notBefore, failure, mayHaveArrived: failure.mayHaveArrived || sent.hasArrived)
        {
            effects.report.note(operation, failure, isDead: false)
        }
    }

    /// Whether the server's record has other values than those on which an operation is based.
    ///
    /// - Parameter before: the server's record of a deletion, as it was known before it was read.
    private func isChanged(
        _ operation: OutboxOperation, since before: Record?, _ writer: inout StoreWriter
    ) throws -> Bool {
        let server = try serverValues(of: operation, &writer)
        let unordered = writer.access.catalog.unorderedLists(of: operation.entity)
        guard operation.kind == .delete else {
            return ConflictDecision.decide(.client, operation.changes, server: server, unordered: unordered) != .send
        }
        return server.contains { name, value in
            !value.isSame(as: before?[name] ?? .null, isUnordered: unordered.contains(name))
        }
    }

    /// The most times that a drain sends an operation again because of the record's version.
    ///
    /// A server may give each answer another validator.
    private static let refusalLimit = 8

    private func countRefusal(of id: UInt64) -> Int {
        state.withLock { state in
            let count = (state.refusals[id] ?? 0) + 1
            state.refusals[id] = count
            return count
        }
    }

    /// Continues after the server's record was read because of a conflict, and is another version.
    ///
    /// - Parameters:
    ///   - isConflict: whether a policy decides; otherwise the operation is sent with the version
    ///     that was read.
    ///   - mayWithdraw: whether the server has refused the version.
    private func refreshed(
        _ operation: OutboxOperation, _ known: OutboxFailure, _ validators: Validators, isConflict: Bool,
        mayWithdraw: Bool, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        var failure = known
        if !isConflict { failure.kind = "temporary" }
        let rule = policy(of: operation, writer.access), server = try serverValues(of: operation, &writer)
        let unordered = writer.access.catalog.unorderedLists(of: operation.entity)
        if isConflict, mayWithdraw, case .rule(.server) = rule, !isSettled(operation, server, unordered) {
            noteWithdrawal(of: operation, server, unordered, &effects)
            try writer.discardOperation(operation.id, evenIfSending: true)
            effects.ended.insert(operation.id)
            effects.report.withdrawn += 1
            effects.report.conflicts += 1
            return
        }
        let count = countRefusal(of: operation.id)
        guard count < OutboxDrain.refusalLimit else {
            failure.message = (failure.message + "; the record was another version \(count) times in a row").printable(
                OutboxFailure.longestText)
            return try refuse(operation, failure, &effects, &writer)
        }
        let isDeletion = operation.kind == .delete
        try writer.requeueOperation(
            operation.id, failure, etag: isDeletion ? validators.etag : nil,
            lastModified: isDeletion ? validators.lastModified : nil)
    }

    /// Whether the server has all changes of an update already.
    ///
    /// - Parameter unordered: the relationships whose order has no meaning.
    func isSettled(_ operation: OutboxOperation, _ server: [String: Value], _ unordered: Set<String>) -> Bool {
        operation.kind == .update
            && operation.changes.allSatisfy { change in
                server[change.name]?.isSame(as: change.after, isUnordered: unordered.contains(change.name)) ?? false
            }
    }

    /// Bases later changes of the fields that an operation has changed on the server's answer.
    ///
    /// The server may have stored another value than it was sent, which is no conflict.
    private func rebase(_ done: OutboxOperation, _ key: RecordKey, _ writer: inout StoreWriter) throws {
        guard done.kind == .create || done.kind == .update else { return }
        try writer.rebaseOperations(after: done, key)
    }
}

extension OutboxFailure {
    /// Whether the server may have carried out the operation in spite of the failure.
    ///
    /// A gateway answers 502 and 504 if it does not know (RFC 9110 §15.6.3, §15.6.5), and some
    /// answer 503, or a status of their own such as 524, if the connection to the server has ended.
    fileprivate var mayHaveArrived: Bool {
        if let status { return (500..<600).contains(status) }
        guard let kind = TransportError.Kind(rawValue: kind) else { return false }
        return [.timeout, .tooLarge, .cutShort, .protocol, .cancelled].contains(kind)
    }
}

extension OutboxRecord {
    /// The record in the tables of the store; nil if its entity is unknown.
    fileprivate func listed(_ catalog: Catalog) -> ListedRecord? {
        catalog.entity(entity).map { ListedRecord(entity: $0.root, storageKey: key.storageKey) }
    }
}
