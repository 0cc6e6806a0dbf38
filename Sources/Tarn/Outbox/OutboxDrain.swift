// One pass over the outbox: claims operations, sends them, and applies their answers.

import Foundation
import Locking
import TarnHTTP
import TarnImport
import TarnStore

/// One pass over the outbox.
///
/// Each attempt ends with one write that applies its answer and claims the next operations. Writes
/// of several lanes share a commit (see `Store.write`), and one that fails is rolled back alone.
final class OutboxDrain: Sendable {
    private struct State {
        /// The operations that this pass has claimed. Others that are `sending` were left by a
        /// process that ended.
        var claimed: Set<UInt64> = []
        /// Lanes without an operation.
        var idle: Int
        var report = OutboxReport()
        var failuresInARow = 0
    }

    private let outbox: Outbox
    /// The lanes of further APIs, by name.
    private let lanes: [String: OutboxLane]
    private let firstLane: OutboxLane
    private let state: Guarded<State>
    private var client: APIClient { outbox.client }
    private var store: Store { client.store }

    init(_ outbox: Outbox, concurrent: Int) async {
        self.outbox = outbox
        var lanes: [String: OutboxLane] = [:]
        for client in outbox.client.all.dropFirst() {
            if let name = client.apiName { lanes[name] = await OutboxLane(outbox, client) }
        }
        self.lanes = lanes
        firstLane = await OutboxLane(outbox, outbox.client)
        state = Guarded(State(idle: max(1, concurrent)))
    }

    /// Sends until nothing is left that can be sent.
    func run() async throws -> OutboxReport {
        try await withThrowingTaskGroup(of: [ClaimedOperation].self) { group in
            while true {
                var ready = try await commit(nil)
                while true {
                    for claimed in ready {
                        let lane = lane(of: claimed.operation.entity)
                        group.addTask { try await self.commit(await lane.send(claimed)) }
                    }
                    guard let next = try await group.next() else { break }
                    ready = next
                }
                if ready.isEmpty { break }
            }
        }
        try Task.checkCancellation()
        try await client.saveBudgets()
        var report = state.withLock(\.report)
        try store.read { reader in
            report.remaining = try reader.outbox.counts
            report.nextAttempt = try reader.outbox.nextBackOff(after: client.now)
        }
        return report
    }

    /// The lane of the API that has the records of an entity.
    private func lane(of entity: String) -> OutboxLane {
        client.description.furtherAPI(ofEntity: entity).flatMap { lanes[$0] } ?? firstLane
    }

    // MARK: Commits

    /// The effects of a write, which count once it is committed.
    private struct Effects: Sendable {
        var claimed: [ClaimedOperation] = []
        var report = OutboxReport()
    }

    /// Applies the outcome of an attempt, and claims operations for the lanes that are idle.
    private func commit(_ sent: SentOperation?) async throws -> [ClaimedOperation] {
        defer { if let lent = sent?.importer { outbox.importers.give(back: lent) } }
        if let sent { note(sent) }
        let wanted = state.withLock { state in
            let wanted = state.idle + (sent == nil ? 0 : 1)
            state.idle = 0
            return wanted
        }
        let mayClaim = state.withLock { $0.report.stop == nil } && !Task.isCancelled
        let effects: Effects
        do {
            effects = try await store.write { writer in
                var effects = Effects()
                if let sent { try self.apply(sent, &effects, &writer) }
                if mayClaim { try self.claim(wanted, &effects, &writer) }
                try self.client.saveBudgets(&writer)
                return effects
            }
        } catch {
            guard let sent, OutboxDrain.isAnswers(error) else { throw error }
            effects = try await bury(sent, error)
        }
        return state.withLock { state in
            if let id = sent?.operation.id, !effects.claimed.contains(where: { $0.operation.id == id }) {
                state.claimed.remove(id)
            }
            state.idle += wanted - effects.claimed.count
            state.report.add(effects.report)
            return effects.claimed
        }
    }

    /// Whether the answer is the reason of a failed write, and not the store.
    private static func isAnswers(_ error: any Error) -> Bool {
        switch error {
        case is OutboxError, is ImportError: true
        case let error as StoreError:
            switch error {
            case .lmdb: false
            default: true
            }
        case let error as StoreWriteError: if case .notUnique = error { true } else { false }
        default: false
        }
    }

    private func bury(_ sent: SentOperation, _ error: any Error) async throws -> Effects {
        let failure = OutboxFailure(
            kind: "answer", message: "the answer cannot be stored: \(error)".printable(OutboxFailure.longestText),
            at: client.now)
        return try await store.write { writer in
            var effects = Effects()
            if try writer.buryOperation(sent.operation.id, failure) {
                effects.report.note(sent.operation, failure, isDead: true)
            }
            return effects
        }
    }

    private func note(_ sent: SentOperation) {
        state.withLock { state in
            switch sent.outcome {
            case .later(_, let failure):
                state.failuresInARow += 1
                if state.failuresInARow >= outbox.options.failureLimit, state.report.stop == nil {
                    state.report.stop = .failing(failure.message)
                }
            case .stopped(let stop, _): state.report.stop = state.report.stop ?? stop
            case .cancelled: break
            default: state.failuresInARow = 0
            }
        }
    }

    // MARK: Outcomes

    private func apply(_ sent: SentOperation, _ effects: inout Effects, _ writer: inout StoreWriter) throws {
        let operation = sent.operation, id = operation.id
        switch sent.outcome {
        case .done(let key):
            let completion = try writer.completeOperation(id, adopting: key, at: client.now)
            if let importer = sent.importer?.value {
                _ = try importer.commit(into: &writer)
                try rebase(operation, completion?.key ?? operation.key, &writer)
            }
            if !sent.invalidated.isEmpty { try ResponseStore.invalidate(sent.invalidated, &writer) }
            effects.report.sent += 1
        case .later(let delay, let failure):
            try later(operation, after: delay, failure, &effects, &writer)
        case .refused(let failure):
            try refuse(operation, failure, &effects, &writer)
        case .stopped(let stop, let failure):
            if case .authentication = stop {
                // Nothing is wrong with the operation.
                try writer.releaseOperations([id])
            } else {
                try later(operation, after: nil, failure, &effects, &writer)
            }
        case .cancelled: try writer.releaseOperations([id])
        case .refreshed(let failure, let isSameVersion):
            if let importer = sent.importer?.value { _ = try importer.commit(into: &writer) }
            try refreshed(operation, failure, isSameVersion, &effects, &writer)
        case .gone(let failure):
            if case .rule(.server) = policy(of: operation, writer.access) {
                try writer.discardOperation(id, evenIfSending: true)
                _ = try writer.delete(operation.entity, operation.key)
                effects.report.withdrawn += 1
                effects.report.conflicts += 1
            } else {
                try refuse(operation, failure, &effects, &writer)
            }
        case .decided(let decision):
            effects.report.conflicts += 1
            if let next = try carryOut(decision, operation, &effects, &writer) {
                effects.claimed.append(ClaimedOperation(operation: next))
            }
        }
    }

    private func refuse(
        _ operation: OutboxOperation, _ failure: OutboxFailure, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws {
        if try writer.buryOperation(operation.id, failure) {
            effects.report.note(operation, failure, isDead: true)
        }
    }

    private func later(
        _ operation: OutboxOperation, after delay: Duration?, _ failure: OutboxFailure, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws {
        let backOff = outbox.options.backOff.delay(afterAttempt: operation.attempts, client.options.time.random())
        let wait = max(delay ?? .zero, backOff)
        let notBefore = Timestamp(client.options.time.now().addingTimeInterval(wait.inSeconds))
        if try writer.retryOperationLater(operation.id, notBefore: notBefore, failure) {
            effects.report.note(operation, failure, isDead: false)
        }
    }

    /// Continues after the server's record was read because of a conflict.
    private func refreshed(
        _ operation: OutboxOperation, _ failure: OutboxFailure, _ isSameVersion: Bool, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws {
        let rule = policy(of: operation, writer.access), server = try serverValues(of: operation, &writer)
        let isChanged: Bool
        if let deleted = operation.deleted {
            isChanged = server.contains { $0.value != deleted[$0.key] ?? .null }
        } else {
            isChanged = ConflictDecision.decide(.client, operation.changes, server: server) != .send
        }
        // The refusal has another reason: sending it again would not help.
        guard isChanged || !isSameVersion else {
            return try refuse(operation, failure, &effects, &writer)
        }
        if case .rule(.server) = rule, !isSettled(operation, server) {
            try writer.discardOperation(operation.id, evenIfSending: true)
            effects.report.withdrawn += 1
            effects.report.conflicts += 1
            return
        }
        try writer.retryOperationLater(operation.id, notBefore: nil, failure)
    }

    /// Whether the server has all changes of an update already.
    private func isSettled(_ operation: OutboxOperation, _ server: [String: Value]) -> Bool {
        operation.kind == .update && operation.changes.allSatisfy { server[$0.name] == $0.after }
    }

    /// Bases later changes of the fields that an operation has changed on the server's answer.
    ///
    /// The server may have stored another value than it was sent, which is no conflict.
    private func rebase(_ done: OutboxOperation, _ key: RecordKey, _ writer: inout StoreWriter) throws {
        guard done.kind == .create || done.kind == .update else { return }
        let later = try writer.outbox.operations(of: done.entity, key).filter { $0.kind == .update && $0.id > done.id }
        guard !later.isEmpty else { return }
        let server = try serverValues(of: done.entity, key, &writer)
        var left = Set(done.changes.map(\.name))
        for operation in later {
            var changes = operation.changes
            for index in changes.indices where left.remove(changes[index].name) != nil {
                if let value = server[changes[index].name] { changes[index].before = value }
            }
            if changes != operation.changes, operation.state == .pending {
                try writer.replaceChanges(ofOperation: operation.id, changes)
            }
        }
    }

    // MARK: Claims

    /// Claims operations that can be sent, from the front of the queue.
    private func claim(_ wanted: Int, _ effects: inout Effects, _ writer: inout StoreWriter) throws {
        var last: UInt64 = 0, ready: [(OutboxOperation, OpenConflict?)] = [], seen: Set<UInt64> = []
        let known = state.withLock(\.claimed), now = client.now, most = wanted - effects.claimed.count
        var revision = try writer.outbox.revision
        while ready.count < most {
            let size = max(64, known.count + most)
            let window = try writer.outbox.window(limit: size, after: last, now: now)
            for entry in window where ready.count < most {
                last = entry.operation.id
                guard entry.isReady, !known.contains(last) || entry.operation.state == .pending else { continue }
                guard seen.insert(last).inserted else { continue }
                guard let (operation, conflict) = try prepared(entry.operation, &effects, &writer) else { continue }
                ready.append((operation, conflict))
            }
            guard window.count < size else { continue }
            // A decided conflict may have ended the wait of a later operation.
            let changed = try writer.outbox.revision
            if changed == revision { break }
            (revision, last) = (changed, 0)
        }
        guard !ready.isEmpty else { return }
        let claimed = try writer.claimOperations(ready.map(\.0.id), at: now)
        for operation in claimed {
            let conflict = ready.first { $0.0.id == operation.id }?.1
            effects.claimed.append(ClaimedOperation(operation: operation, conflict: conflict))
        }
        // Other writes of the same commit must not claim them as well.
        state.withLock { $0.claimed.formUnion(claimed.map(\.id)) }
    }

    /// Prepares an operation for its attempt: its request is declared, and conflicts are decided.
    ///
    /// - Returns: nil if it is not sent now.
    private func prepared(
        _ operation: OutboxOperation, _ effects: inout Effects, _ writer: inout StoreWriter
    ) throws -> (OutboxOperation, OpenConflict?)? {
        // The operations of another API in the same store are not this outbox's.
        guard let requests = outbox.builder(writer.access).requests(of: operation.entity) else { return nil }
        guard requests.request(for: operation.kind, relationship: operation.relationship) != nil else {
            let error = WriteError.noRequest(entity: operation.entity, operation: operation.declaration)
            let failure = OutboxFailure(kind: "request", message: error.description, at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        }
        let isRefused = operation.failure?.kind == "conflict"
        let server = try serverValues(of: operation, &writer)
        switch (operation.kind, policy(of: operation, writer.access)) {
        case (.update, .rule(let rule)):
            let decision = ConflictDecision.decide(rule, operation.changes, server: server)
            if decision != .send { effects.report.conflicts += 1 }
            return try carryOut(decision, operation, &effects, &writer).map { ($0, nil) }
        case (.update, .code(let code)):
            let differs = ConflictDecision.decide(.client, operation.changes, server: server) != .send
            guard differs || isRefused else { return (operation, nil) }
            if isSettled(operation, server) {
                return try carryOut(.replace([]), operation, &effects, &writer).map { ($0, nil) }
            }
            return (operation, try conflict(operation, server, code, &writer))
        case (.delete, .rule(let rule)) where isRefused:
            effects.report.conflicts += 1
            switch rule {
            case .client, .perField(.local): return (operation, nil)
            case .server, .perField(.server):
                return try carryOut(.withdraw, operation, &effects, &writer).map { ($0, nil) }
            case .perField(.hold):
                let fields = server.filter { $0.value != operation.deleted?[$0.key] ?? .null }.keys.sorted()
                if fields.isEmpty { return (operation, nil) }
                return try carryOut(.hold([], fields: fields), operation, &effects, &writer).map { ($0, nil) }
            }
        case (.delete, .code(let code)) where isRefused:
            return (operation, try conflict(operation, server, code, &writer))
        default: return (operation, nil)
        }
    }

    /// Carries out a decision.
    ///
    /// - Returns: the operation if it is to be sent.
    private func carryOut(
        _ decision: ConflictDecision, _ operation: OutboxOperation, _ effects: inout Effects,
        _ writer: inout StoreWriter
    ) throws -> OutboxOperation? {
        let id = operation.id
        switch decision {
        case .send: return operation
        case .replace(let changes):
            guard let next = try writer.replaceChanges(ofOperation: id, changes) else {
                // The server has everything that was to be sent.
                effects.report.sent += 1
                return nil
            }
            return operation.state == .sending ? try writer.claimOperations([next.id], at: client.now).first : next
        case .withdraw:
            try writer.discardOperation(id, evenIfSending: true)
            effects.report.withdrawn += 1
            return nil
        case .hold(let changes, let fields):
            if operation.kind == .update { try writer.replaceChanges(ofOperation: id, changes) }
            let failure = OutboxFailure(
                kind: "conflict", status: operation.failure?.status,
                message: "changed both here and at the server: \(fields.joined(separator: ", ")); "
                    + "retry to send the local values, or discard to take the server's",
                at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        case .failed(let message):
            let failure = OutboxFailure(
                kind: "conflict", message: message.printable(OutboxFailure.longestText), at: client.now)
            try refuse(operation, failure, &effects, &writer)
            return nil
        }
    }

    // MARK: Conflicts

    private func policy(of operation: OutboxOperation, _ access: StoreAccess) -> ConflictPolicy.Decision {
        outbox.builder(access).requests(of: operation.entity)?.conflicts.map { .rule($0) } ?? outbox.policy.decision
    }

    private func serverValues(
        of operation: OutboxOperation, _ writer: inout StoreWriter
    ) throws -> [String: Value] {
        guard operation.kind == .update || operation.kind == .delete else { return [:] }
        return try serverValues(of: operation.entity, operation.key, &writer)
    }

    /// The server's values of changed fields, as far as responses have brought them.
    private func serverValues(
        of entity: String, _ key: RecordKey, _ writer: inout StoreWriter
    ) throws -> [String: Value] {
        let change = try writer.reader().localChange(entity, key)
        return Dictionary(change?.server.map { ($0.name, $0.value) } ?? []) { $1 }
    }

    private func conflict(
        _ operation: OutboxOperation, _ server: [String: Value], _ resolution: @escaping ConflictPolicy.Resolution,
        _ writer: inout StoreWriter
    ) throws -> OpenConflict {
        let empty = Record(entity: operation.entity, key: operation.key, fields: [])
        let stored = try writer.reader().record(operation.entity, operation.key)
        let local = stored ?? operation.deleted ?? empty
        var base = local, remote = local
        for change in operation.changes { base.set(change.name, change.before) }
        for (name, value) in server { remote.set(name, value) }
        for change in operation.changes where server[change.name] == nil { remote.set(change.name, change.before) }
        return OpenConflict(base: base, local: local, remote: remote, resolution: resolution, kind: operation.kind)
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
        problems += other.problems.prefix(max(0, OutboxReport.problemLimit - problems.count))
    }
}
