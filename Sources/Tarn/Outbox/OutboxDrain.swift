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
    struct State {
        /// The operations that this pass has claimed. Others that are `sending` were left by a
        /// process that ended.
        var claimed: Set<UInt64> = []
        /// Lanes without an operation.
        var idle: Int
        var report = OutboxReport()
        /// The numbers of attempts in a row that failed for a passing reason, by API.
        var failuresInARow: [String: Int] = [:]
        /// The APIs whose operations wait, by name.
        var waiting: Set<String>
    }

    let outbox: Outbox
    /// The lanes of further APIs, by name.
    private let lanes: [String: OutboxLane]
    private let firstLane: OutboxLane
    let state: Guarded<State>
    var client: APIClient { outbox.client }
    private var store: Store { client.store }

    /// - Parameter waiting: the names of APIs whose operations are left out.
    /// - Throws: `StoreError`.
    init(_ outbox: Outbox, concurrent: Int, without waiting: Set<String> = []) async throws {
        self.outbox = outbox
        var lanes: [String: OutboxLane] = [:]
        for client in outbox.client.all.dropFirst() {
            if let name = client.apiName { lanes[name] = try await OutboxLane(outbox, client) }
        }
        self.lanes = lanes
        firstLane = try await OutboxLane(outbox, outbox.client)
        state = Guarded(State(idle: max(1, concurrent), waiting: waiting))
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
    private func lane(of entity: String) -> OutboxLane { lanes[outbox.api(ofEntity: entity)] ?? firstLane }

    // MARK: Commits

    /// The effects of a write, which count once it is committed.
    struct Effects: Sendable {
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
        let apis = client.all.count
        let mayClaim = state.withLock { $0.waiting.count < apis } && !Task.isCancelled
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
            if let location = sent.location { try writer.noteLocation(location, ofOperation: sent.operation.id) }
            if try writer.buryOperation(sent.operation.id, failure) {
                effects.report.note(sent.operation, failure, isDead: true)
            }
            return effects
        }
    }

    private func note(_ sent: SentOperation) {
        let api = outbox.api(ofEntity: sent.operation.entity)
        state.withLock { state in
            switch sent.outcome {
            case .later(_, let failure):
                state.failuresInARow[api, default: 0] += 1
                if state.failuresInARow[api, default: 0] >= outbox.options.failureLimit {
                    state.stop(api, .failing(failure.message))
                }
            case .stopped(let stop, _): state.stop(api, stop)
            case .cancelled: break
            default: state.failuresInARow[api] = 0
            }
        }
    }
}

extension OutboxDrain.State {
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
        warnings += other.warnings.prefix(max(0, OutboxReport.problemLimit - warnings.count))
        problems += other.problems.prefix(max(0, OutboxReport.problemLimit - problems.count))
    }
}
