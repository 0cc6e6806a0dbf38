// One sync over a selection of endpoints, with a checkpoint of its own for its continuation.

import Foundation
import Locking
import TarnStore

/// A sync, or the rest of one that was interrupted.
///
/// Each scan's checkpoint names the sync in which the scan was completed or passed by. A continued
/// sync has the same id and does not repeat those scans: neither of finished endpoints, nor of
/// finished parents of a `for_each`. Their order does not matter, nor do parents that were added or
/// removed meanwhile.
///
/// With several APIs, the sync has an id for each of them. If it ends by itself and only some APIs
/// were cut off, those keep their ids, and the others get new ones: the next sync scans them again.
///
/// In a watch, each endpoint has a sync of its own, since each has its own schedule.
final class SyncRun: Sendable {
    /// The name of the checkpoint; no endpoint has such a name.
    ///
    /// It is `*`, followed by the names of the endpoints if not all of the description's are
    /// selected. That of a watched endpoint has `(watch)` before its name.
    let name: String
    private let id: UInt64
    /// The ids by API; empty for a single API.
    private let ids: [String: UInt64]
    /// The time when the interrupted sync began; nil for a new sync.
    let resumed: Timestamp?
    /// The time when the complete sync before this one began; nil if this one continues another.
    let previous: Timestamp?
    private let begun: Checkpoint
    /// The time when the last run began that has committed a page of the interrupted sync.
    private let continuedBefore: Timestamp?
    /// The names of the endpoints.
    private let endpoints: Set<String>
    private let state: Guarded<State>
    /// The responses of mirrors with other mappings, as far as they were examined.
    private let others = Guarded<OtherMirrors?>(nil)

    private struct State {
        /// Whether the store has the checkpoint of this sync.
        var isNoted = false
        var isComplete = false
        /// The endpoints whose scans are not over.
        var unfinished: Set<String>
        var wasInterrupted = false
    }

    /// The time during which an interrupted sync can be continued, in microseconds.
    ///
    /// It is counted from the beginning of the last run that committed a page of the sync.
    static let longestPause: Int64 = 7 * 86_400 * 1_000_000

    /// Continues the interrupted sync of the selection, or begins a new one.
    ///
    /// - Parameters:
    ///   - selected: names and fingerprints of the endpoints, in the order of the description.
    ///   - isAll: whether these are all endpoints of the description.
    ///   - apis: the names of their APIs; empty for a single API.
    init(
        _ mirror: APIMirror, _ selected: [(name: String, fingerprint: String)], isAll: Bool, apis: Set<String>,
        authScope: String
    ) throws {
        endpoints = Set(selected.map(\.name))
        state = Guarded(State(unfinished: endpoints))
        let now = mirror.client.now
        let names = selected.map(\.name).sorted().joined(separator: " ")
        let name = mirror.options.isScheduled ? "* (watch) " + names : isAll ? "*" : "* " + names
        self.name = name
        let plan = SHA256.hexadecimal(
            authScope + "\n" + selected.map { "\($0.name) \($0.fingerprint)" }.joined(separator: "\n"))
        let old = try mirror.store.read { try $0.checkpoint(name) }
        let begins = mirror.options.beginsAnew
        if let old, let id = old.sync, old.state == .underWay, old.plan == plan, !begins,
            now.microseconds.subtractingReportingOverflow((old.continuedAt ?? old.startedAt).microseconds).partialValue
                < SyncRun.longestPause
        {
            self.id = id
            resumed = old.startedAt
            continuedBefore = old.continuedAt ?? old.startedAt
            previous = nil
            var checkpoint = old
            checkpoint.continuedAt = now
            checkpoint.syncs = Dictionary(apis.map { ($0, old.syncs[$0] ?? id) }) { first, _ in first }
            ids = checkpoint.syncs
            begun = checkpoint
        } else {
            id = SyncRun.newID(at: now)
            resumed = nil
            continuedBefore = nil
            previous = old?.state == .complete ? old?.startedAt : nil
            var checkpoint = Checkpoint(
                state: .underWay, plan: plan, scan: 0, startedAt: now, completedAt: old?.completedAt)
            checkpoint.sync = id
            for api in apis { checkpoint.syncs[api] = SyncRun.newID(at: now, unlike: checkpoint.syncs) }
            checkpoint.continuedAt = now
            ids = checkpoint.syncs
            begun = checkpoint
        }
    }

    /// An id with the time in its upper bits: a later sync has a larger one, by which the lists of
    /// limited syncs take turns.
    ///
    /// - Parameter others: the ids of other APIs.
    private static func newID(at now: Timestamp, unlike others: [String: UInt64] = [:]) -> UInt64 {
        let time = UInt64(clamping: now.microseconds / 1000) << 22
        while true {
            let id = time | UInt64.random(in: 1..<1 << 22)
            if !others.values.contains(id) { return id }
        }
    }

    /// The id of the sync in the checkpoints of an API's scans.
    func id(of api: String?) -> UInt64 { api.flatMap { ids[$0] } ?? id }

    /// The checkpoint that the next commit must contain; nil if the store has it.
    var pending: (name: String, checkpoint: Checkpoint)? {
        state.withLock { $0.isNoted ? nil : (name, begun) }
    }

    /// The checkpoint of a completed sync.
    func completed(at now: Timestamp) -> Checkpoint {
        var checkpoint = begun
        checkpoint.state = .complete
        checkpoint.completedAt = now
        checkpoint.syncs = [:]
        return checkpoint
    }

    /// The checkpoint of a sync that the next one continues for some of several APIs only.
    ///
    /// It is nil if the next sync continues this one for all of them.
    ///
    /// - Parameter hasProgress: whether this run has pages of these APIs. Without one, the time in
    ///   which the sync can be continued does not begin again.
    func continued(for apis: Set<String?>, hasProgress: Bool) -> Checkpoint? {
        let over = ids.keys.filter { !apis.contains($0) }
        guard !over.isEmpty else { return nil }
        var checkpoint = begun
        if !hasProgress, let continuedBefore { checkpoint.continuedAt = continuedBefore }
        let time = begun.continuedAt ?? begun.startedAt
        for api in over {
            // A later id than the present one, which may have the same time.
            let id = SyncRun.newID(at: time, unlike: checkpoint.syncs), present = checkpoint.syncs[api] ?? 0
            checkpoint.syncs[api] = id > present ? id : present &+ 1
        }
        return checkpoint
    }

    /// Records that checkpoints were committed.
    func committed(_ checkpoints: [ExactText: Checkpoint]) {
        guard let own = checkpoints[ExactText(name)] else { return }
        state.withLock { state in
            state.isNoted = true
            state.isComplete = own.state == .complete
        }
    }

    /// Notes that the scan of an endpoint is over.
    func ended(_ endpoint: String, isInterrupted: Bool) {
        state.withLock { state in
            state.unfinished.remove(endpoint)
            state.wasInterrupted = state.wasInterrupted || isInterrupted
        }
    }

    /// Whether the sync is complete with an endpoint: no other is left, and none was interrupted.
    func isLast(_ endpoint: String) -> Bool {
        state.withLock { $0.unfinished == [endpoint] && !$0.wasInterrupted }
    }

    /// Whether the sync has a page of the last seconds: of its own beginning, or of what it
    /// continues. One of the future is from when the clock was ahead: its age is unknown.
    func hasProgress(within seconds: Int64, of now: Timestamp) -> Bool {
        let last = continuedBefore ?? now
        return !last.isAhead(of: now) && now.elapsed(since: last) <= seconds * 1_000_000
    }

    /// Whether an endpoint is the only one of the sync.
    func isOf(_ endpoint: String) -> Bool { endpoints == [endpoint] }

    /// Whether the scan of an endpoint was interrupted, or has not begun.
    var wasInterrupted: Bool { state.withLock { $0.wasInterrupted || !$0.unfinished.isEmpty } }

    /// Whether the stored checkpoint is under way, so that the next sync would continue this one.
    var isOpen: Bool { state.withLock { ($0.isNoted || resumed != nil) && !$0.isComplete } }

    /// The committed responses of mirrors with other mappings than the description's.
    func otherMirrors(_ client: APIClient) throws -> OtherMirrors {
        try others.withLock { known in
            var others = known ?? OtherMirrors(than: client)
            try client.store.read { try others.examine($0.access.responses) }
            known = others
            return others
        }
    }

    /// Whether a scan was completed or passed by in this sync.
    func hasFinished(_ checkpoint: Checkpoint?, plan: String) -> Bool {
        guard resumed != nil, let checkpoint, let sync = checkpoint.sync, checkpoint.plan == plan,
            ids.isEmpty ? sync == id : ids.values.contains(sync)
        else { return false }
        return checkpoint.failure != nil || checkpoint.state == .complete
    }
}
