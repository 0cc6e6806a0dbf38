// One pass over the outbox: claims operations, sends them, and applies their answers.

import Foundation
import Locking
import TarnImport
import TarnStore

/// One pass over the outbox.
///
/// One task decides what is next: it sends the operations that are claimed, several at a time, and
/// meanwhile one write after another applies the answers that have arrived and claims further
/// operations. An answer is therefore not waited for by the next operation, and the faster answers
/// arrive, the more of them share a write, and the further ahead of sending it claims.
final class OutboxDrain: Sendable {
    struct State {
        /// The operations that this pass has claimed. Others that are `sending` were left by a
        /// process that ended.
        var claimed: Set<UInt64> = []
        /// The operations up to this one were dead or had ended when an earlier claim read them.
        var front: UInt64 = 0
        /// Of each API no operation up to this one could be sent when an earlier claim looked for
        /// it.
        ///
        /// It is forgotten with the next answer of the API, with that of an operation for which one
        /// of the API waits, and after a second.
        var clear: [String: UInt64] = [:]
        /// The APIs that had operations that waited for an operation, by the latter.
        var awaited: [UInt64: Set<String>] = [:]
        var clearedAt = ContinuousClock.now
        /// The number of dead operations at the last claim.
        var dead = 0
        var report = OutboxReport()
        /// The numbers of refusals because of a record's version, by operation.
        var refusals: [UInt64: Int] = [:]
        /// The operations whose records were read for their bodies.
        var read: Set<UInt64> = []
        /// The numbers of attempts in a row that failed for a passing reason, by API.
        var failuresInARow: [String: Int] = [:]
        /// The APIs whose operations wait, by name.
        var waiting: Set<String>
    }

    let outbox: Outbox
    /// The lanes of further APIs, by name.
    private let lanes: [String: OutboxLane]
    private let firstLane: OutboxLane
    /// The most operations that are sent at a time, by API.
    private let concurrent: [String: Int]
    let state: Guarded<State>
    var client: APIClient { outbox.client }
    private var store: Store { client.store }

    /// - Parameter waiting: the names of APIs whose operations are left out.
    /// - Throws: `StoreError`.
    init(_ outbox: Outbox, concurrent: [String: Int], without waiting: Set<String> = []) async throws {
        self.outbox = outbox
        var lanes: [String: OutboxLane] = [:]
        for client in outbox.client.all.dropFirst() {
            if let name = client.apiName { lanes[name] = try await OutboxLane(outbox, client) }
        }
        self.lanes = lanes
        firstLane = try await OutboxLane(outbox, outbox.client)
        self.concurrent = concurrent
        state = Guarded(State(waiting: waiting))
    }

    /// An event that the deciding task waits for.
    private enum Event {
        case answered(SentOperation)
        case committed([ClaimedOperation])
    }

    /// Sends until nothing is left that can be sent, or until the task is cancelled: the report
    /// tells which.
    ///
    /// - Parameter countsAll: whether all waiting operations are counted, not only the first 1,000.
    func run(countsAll: Bool) async throws -> OutboxReport {
        try await withThrowingTaskGroup(of: Event.self) { group in
            var flow = OutboxFlow(concurrent: concurrent), answered: [SentOperation] = []
            // Whether an operation may be ready that no write has seen.
            var isCommitting = false, looks = true
            while true {
                while let (claimed, isReturned) = flow.next(unless: mustReturn) {
                    if isReturned {
                        answered.append(SentOperation(operation: claimed.operation, outcome: .unsent))
                        continue
                    }
                    let lane = lane(of: claimed.operation.entity)
                    group.addTask { .answered(await lane.send(claimed)) }
                }
                if !isCommitting, looks || !answered.isEmpty {
                    let batch = answered
                    let demand = flow.demand(after: counts(batch))
                    // Answers with records are applied in writes of their own: see `commit`.
                    looks = batch.contains { !$0.isPlain }
                    answered = []
                    isCommitting = true
                    group.addTask { .committed(try await self.commit(batch, claiming: demand)) }
                }
                switch try await group.next() {
                case .answered(let sent):
                    flow.ended(outbox.api(ofEntity: sent.operation.entity))
                    note(sent)
                    answered.append(sent)
                case .committed(let claimed):
                    isCommitting = false
                    for one in claimed { flow.add(one, of: outbox.api(ofEntity: one.operation.entity)) }
                case nil: return
                }
            }
        }
        let isInterrupted = Task.isCancelled
        if !isInterrupted { try await client.saveBudgets() }
        var report = state.withLock(\.report)
        report.isInterrupted = isInterrupted
        try store.read { reader in
            report.remaining = try reader.outbox.counts
            report.nextAttempt = try reader.outbox.nextBackOff(after: client.now)
        }
        // Also those that a killed process was sending: without a request they stay so.
        if report.remaining.pending > 0 || report.remaining.sending > 0 { try countWaiting(&report, countsAll) }
        return report
    }

    /// The number of operations that are counted in one snapshot.
    private static let countedAtOnce = 1000

    /// Counts the operations that wait for a dead one, and those without a request.
    private func countWaiting(_ report: inout OutboxReport, _ countsAll: Bool) throws {
        var last: UInt64 = 0, hasMore = true
        while hasMore {
            try store.read { reader in
                let builder = outbox.builder(reader.access)
                let window = try reader.outbox.window(limit: Self.countedAtOnce, after: last, now: client.now)
                for entry in window {
                    let entity = entry.operation.entity
                    if entry.waitsFor.contains(where: \.isDead) { report.blocked += 1 }
                    if builder.requests(of: entity) == nil { report.undeclared[entity, default: 0] += 1 }
                }
                last = window.last?.operation.id ?? last
                hasMore = countsAll && window.count == Self.countedAtOnce
            }
        }
    }

    /// Whether a claimed operation is not to be sent after all: its API waits, or the pass ends.
    private func mustReturn(_ claimed: ClaimedOperation) -> Bool {
        Task.isCancelled || isWaiting(claimed.operation)
    }

    /// The numbers of answers by API.
    private func counts(_ batch: [SentOperation]) -> [String: Int] {
        batch.reduce(into: [:]) { $0[outbox.api(ofEntity: $1.operation.entity), default: 0] += 1 }
    }

    /// Whether the API of an operation waits.
    func isWaiting(_ operation: OutboxOperation) -> Bool {
        state.withLock { state in
            !state.waiting.isEmpty && state.waiting.contains(outbox.api(ofEntity: operation.entity))
        }
    }

    /// The lane of the API that has the records of an entity.
    func lane(of entity: String) -> OutboxLane {
        lanes.isEmpty ? firstLane : lanes[outbox.api(ofEntity: entity)] ?? firstLane
    }

    // MARK: Commits

    /// The effects of a write, which count once it is committed.
    struct Effects: Sendable {
        var claimed: [ClaimedOperation] = []
        var report = OutboxReport()
        /// The versions of records whose values are stored.
        var versions: [SentOperation.Version] = []
        /// The operations that are not sent again, unless a dead one is retried.
        var ended: Set<UInt64> = []
    }

    /// Applies the outcomes of attempts, and claims further operations.
    ///
    /// Those without records of an answer are applied together. The others have writes of their
    /// own, which share the commit: one that fails is rolled back alone.
    private func commit(
        _ batch: [SentOperation], claiming demand: OutboxDemand
    ) async throws -> [ClaimedOperation] {
        guard batch.contains(where: { !$0.isPlain }) else { return try await commit(together: batch, claiming: demand) }
        let plain = batch.filter(\.isPlain), others = batch.filter { !$0.isPlain }
        return try await withThrowingTaskGroup(of: [ClaimedOperation].self) { group in
            group.addTask { try await self.commit(together: plain, claiming: demand) }
            for sent in others {
                group.addTask {
                    defer { if let lent = sent.importer { self.outbox.importers.give(back: lent) } }
                    return try await self.commit(together: [sent], claiming: .nothing)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    private func commit(
        together batch: [SentOperation], claiming demand: OutboxDemand
    ) async throws -> [ClaimedOperation] {
        let waiting = state.withLock(\.waiting)
        let mayClaim = demand.wanted.keys.contains { !waiting.contains($0) } && !Task.isCancelled
        let effects: Effects
        do {
            effects = try await write(batch, claiming: mayClaim ? demand : nil)
        } catch {
            guard OutboxDrain.isAnswers(error) else { throw error }
            guard let sent = batch.first else {
                guard mayClaim else { throw error }
                return try await claimOneByOne(demand)
            }
            guard !mayClaim else {
                // The reason may be an operation to claim: no answer is to blame for that. After
                // the answers: the claim finds what waited for them.
                let claimed = try await commit(together: batch, claiming: .nothing)
                return try await claimed + commit(together: [], claiming: demand)
            }
            guard batch.count == 1 else {
                // One by one: only the one whose answer is the reason is buried.
                var claimed: [ClaimedOperation] = []
                for sent in batch { claimed += try await commit(together: [sent], claiming: .nothing) }
                return claimed
            }
            let failure = failure(ofStoring: sent, error)
            return note(try await bury(sent.operation, failure, location: sent.location), of: batch)
        }
        return note(effects, of: batch)
    }

    /// Applies outcomes and claims operations in one write.
    ///
    /// - Parameter checksEach: whether unique values are checked after each operation to claim.
    /// - Throws: `UnclaimableOperation` if each is checked; the errors of the store.
    private func write(
        _ batch: [SentOperation], claiming demand: OutboxDemand?, checksEach: Bool = false
    ) async throws -> Effects {
        try await store.write { writer in
            var effects = Effects()
            for sent in batch { try self.apply(sent, &effects, &writer) }
            if let demand { try self.claim(demand, after: batch, checksEach: checksEach, &effects, &writer) }
            try self.client.saveBudgets(&writer)
            return effects
        }
    }

    /// Claims operations after the store has refused to claim some of them together.
    ///
    /// An operation that the store refuses for itself, such as a conflict whose decision would give
    /// two records a unique value, is buried: it would stop each pass.
    private func claimOneByOne(_ demand: OutboxDemand) async throws -> [ClaimedOperation] {
        while true {
            // The write that was rolled back has noted that nothing is left to claim.
            state.withLock { ($0.clear, $0.awaited) = ([:], [:]) }
            do {
                return note(try await write([], claiming: demand, checksEach: true), of: [])
            } catch let error as UnclaimableOperation {
                let failure = failure(ofClaiming: error)
                _ = note(try await bury(error.operation, failure), of: [])
            }
        }
    }

    /// Counts what a write has committed.
    ///
    /// - Returns: The operations that it has claimed.
    private func note(_ effects: Effects, of batch: [SentOperation]) -> [ClaimedOperation] {
        for version in effects.versions { outbox.validators.set(version.url, version.validators, at: version.at) }
        return state.withLock { state in
            let again = Set(effects.claimed.map(\.operation.id))
            for sent in batch {
                state.forgetClear(after: sent.operation.id, of: outbox.api(ofEntity: sent.operation.entity))
                if !again.contains(sent.operation.id) { state.claimed.remove(sent.operation.id) }
            }
            // While changes are queued faster than they are sent, a pass has no end.
            for id in effects.ended {
                state.refusals[id] = nil
                state.read.remove(id)
            }
            state.claimed.formUnion(again)
            state.report.add(effects.report)
            return effects.claimed
        }
    }

    /// Whether the data of an answer, or of an operation, is the reason of a failed write, and not
    /// the store.
    static func isAnswers(_ error: any Error) -> Bool {
        switch error {
        case let error as ImportError: error != .outOfMemory
        case is OutboxError: true
        case let error as StoreError: !StoreError.isOfLMDB(error)
        case let error as StoreWriteError:
            switch error {
            case .notUnique, .keyCollision, .deleteDenied: true
            case .storeFull, .schemaChanged, .versionMismatch: false
            }
        default: false
        }
    }

    /// The failure of an operation whose outcome the store refuses.
    private func failure(ofStoring sent: SentOperation, _ error: any Error) -> OutboxFailure {
        if case .decided = sent.outcome {
            return failure(ofClaiming: UnclaimableOperation(operation: sent.operation, reason: error))
        }
        return OutboxFailure(
            kind: OutboxFailure.answer,
            message: "the answer cannot be stored: \(error)".printable(OutboxFailure.longestText),
            at: client.now)
    }

    /// The failure of an operation that the store refuses to claim.
    ///
    /// If values are the reason, the conflict is not decided yet: a later change of the record is
    /// not based on the value before.
    private func failure(ofClaiming unclaimable: UnclaimableOperation) -> OutboxFailure {
        let isConflict = unclaimable.reason is StoreWriteError
        return OutboxFailure(
            kind: isConflict ? "conflict" : "store",
            message: ((isConflict ? "the decision of its conflict cannot be stored: " : "it cannot be sent: ")
                + "\(unclaimable.reason)").printable(OutboxFailure.longestText),
            at: client.now)
    }

    private func bury(
        _ operation: OutboxOperation, _ failure: OutboxFailure, location: String? = nil
    ) async throws -> Effects {
        try await store.write { writer in
            var effects = Effects()
            if let location { try writer.noteLocation(location, ofOperation: operation.id) }
            effects.ended.insert(operation.id)
            if try writer.buryOperation(operation.id, failure) {
                effects.report.note(operation, failure, isDead: true)
            }
            return effects
        }
    }

    private func note(_ sent: SentOperation) {
        let api = outbox.api(ofEntity: sent.operation.entity)
        state.withLock { state in
            switch sent.outcome {
            case .later(_, let failure):
                if failure.status == 429 { state.report.isLimited = true }
                state.failuresInARow[api, default: 0] += 1
                if state.failuresInARow[api, default: 0] >= outbox.options.failureLimit {
                    state.stop(api, .failing(failure.message))
                }
            case .stopped(let stop, _): state.stop(api, stop)
            case .limited(_, let failure):
                state.report.isLimited = true
                state.stop(api, .failing(failure.message))
            case .cancelled, .unsent: break
            default: state.failuresInARow[api] = 0
            }
        }
    }
}

extension OutboxDrain.State {
    /// Forgets that nothing can be sent of an API whose operation has been answered, and of those
    /// whose operations have waited for it.
    mutating func forgetClear(after id: UInt64, of api: String) {
        clear[api] = nil
        for waiting in awaited.removeValue(forKey: id) ?? [] { clear[waiting] = nil }
    }

    /// Stops the operations of an API.
    fileprivate mutating func stop(_ api: String, _ stop: OutboxReport.Stop) {
        waiting.insert(api)
        report.stop = report.stop ?? stop
        if report.stops[api] == nil { report.stops[api] = stop }
    }
}

extension Outbox {
    /// The name of the API that has the records of an entity; empty for the only one.
    func api(ofEntity entity: String) -> String {
        client.description.furtherAPI(ofEntity: entity) ?? client.apiName ?? ""
    }
}

extension OutboxReport {
    /// Adds the counts of a write.
    fileprivate mutating func add(_ other: OutboxReport) {
        sent += other.sent
        failed += other.failed
        dead += other.dead
        conflicts += other.conflicts
        withdrawn += other.withdrawn
        unread += other.unread
        merged += other.merged
        unsentFields += other.unsentFields
        untakenFields += other.untakenFields
        withdrawnParts += other.withdrawnParts
        warnings += other.warnings.prefix(max(0, OutboxReport.problemLimit - warnings.count))
        problems += other.problems.prefix(max(0, OutboxReport.problemLimit - problems.count))
    }
}
