// One sync over a selection of endpoints, with a checkpoint of its own: a sync that was interrupted
// is continued by the next one.

import Foundation
import Synchronization
import TarnStore

/// A sync, or the rest of one that was interrupted.
///
/// Each walk's checkpoint names the sync in which the walk was completed or passed by. A sync that
/// is continued has the same id, and does not ask again for those walks: neither for finished
/// endpoints, nor for finished parents of a `for_each`, whatever their order and whichever parents
/// were added or removed meanwhile.
final class SyncRun: Sendable {
    /// Of the checkpoint: `*`, and the names of the endpoints if not all of the description's were
    /// asked for. No endpoint has such a name.
    let name: String
    let id: UInt64
    /// When the interrupted sync began; nil if this one is new.
    let resumed: Timestamp?
    private let begun: Checkpoint
    private let state = Mutex((isNoted: false, isComplete: false))

    /// For so long an interrupted sync is continued, counted from the last one that committed a
    /// page of it. In microseconds.
    private static let longestPause: Int64 = 7 * 86_400 * 1_000_000

    /// - Parameters:
    ///   - selected: names and fingerprints of the endpoints, in the order of the description.
    ///   - isAll: whether these are all endpoints of the description.
    init(
        _ mirror: Mirror, _ selected: [(name: String, fingerprint: String)], isAll: Bool, authScope: String, now: Timestamp
    ) throws {
        let name = isAll ? "*" : "* " + selected.map(\.name).sorted().joined(separator: " ")
        self.name = name
        let plan = SHA256.hexadecimal(
            authScope + "\n" + selected.map { "\($0.name) \($0.fingerprint)" }.joined(separator: "\n"))
        let old = try mirror.store.read { try $0.checkpoint(name) }
        let begins = mirror.options.restarts || mirror.options.refetches
        if let old, let id = old.sync, old.state == .underWay, old.plan == plan, !begins,
            now.microseconds.subtractingReportingOverflow((old.continuedAt ?? old.startedAt).microseconds).partialValue < SyncRun.longestPause
        {
            self.id = id
            resumed = old.startedAt
            var checkpoint = old
            checkpoint.continuedAt = now
            begun = checkpoint
        } else {
            id = UInt64.random(in: 1...UInt64.max)
            resumed = nil
            var checkpoint = Checkpoint(
                state: .underWay, plan: plan, nextURL: nil, scan: 0, pages: 0, records: 0, startedAt: now, completedAt: old?.completedAt)
            checkpoint.sync = id
            checkpoint.continuedAt = now
            begun = checkpoint
        }
    }

    /// What belongs to the next commit of a walk: that the sync is under way, unless the store has
    /// it.
    var pending: (name: String, checkpoint: Checkpoint)? {
        state.withLock { $0.isNoted ? nil : (name, begun) }
    }

    /// The checkpoint of a sync that is over.
    func completed(at now: Timestamp) -> Checkpoint {
        var checkpoint = begun
        checkpoint.state = .complete
        checkpoint.completedAt = now
        return checkpoint
    }

    /// Called after a commit with the given checkpoints.
    func committed(_ checkpoints: [String: Checkpoint]) {
        guard let own = checkpoints[name] else { return }
        state.withLock { state in
            state.isNoted = true
            state.isComplete = own.state == .complete
        }
    }

    /// Whether the store says that the sync is under way, so that the next one would continue it.
    var isOpen: Bool { state.withLock { ($0.isNoted || resumed != nil) && !$0.isComplete } }

    /// Whether a walk was completed, or passed by, in this sync.
    func hasFinished(_ checkpoint: Checkpoint?, plan: String) -> Bool {
        guard resumed != nil, let checkpoint, checkpoint.sync == id, checkpoint.plan == plan else { return false }
        return checkpoint.failure != nil || checkpoint.state == .complete
    }
}
