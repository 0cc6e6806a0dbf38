// The asynchronous commit of a unit: enqueued at once, so that units are committed in the order in
// which they were started, and awaited later.

import Synchronization
internal import TarnStore

/// The pending result of a unit's commit.
final class UnitCommit: Sendable {
    private struct State {
        var result: Result<ImportReport, any Error>?
        var waiting: CheckedContinuation<ImportReport, any Error>?
    }

    private let state = Mutex(State())
    let cancellation = Cancellation()

    /// Delivers the result. Must be called once.
    func deliver(_ result: Result<ImportReport, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(with: result)
    }

    /// Waits for the commit and returns its report. Must be called once.
    func report() async throws -> ImportReport {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }
}

extension Importer {
    /// The size in bytes up to which waiting units share a transaction.
    ///
    /// Sharing saves most of the cost of a small commit. A larger unit gets its own transaction: a
    /// shared one keeps all changes of a unit in memory.
    private static let largestShared = 1 << 18

    /// The bytes that the current unit keeps in memory.
    var byteCount: Int { drafter.list.byteCount }

    /// Enqueues the unit as one write behind the waiting ones.
    ///
    /// The importer must not be used until the result is delivered.
    func enqueue(
        to store: Store, responses: [ResponseEntry], revalidated: [RevalidatedResponse],
        checkpoints: [String: Checkpoint], after chain: UnitChain,
        mayShare: Bool, and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)?
    ) -> UnitCommit {
        let commit = UnitCommit(), cancellation = commit.cancellation
        self.cancellation = cancellation
        do {
            try store.enqueue(alone: !mayShare || byteCount > Importer.largestShared) { writer in
                do {
                    if chain.hasFailed { throw UnitBeforeFailed() }
                    return try self.commit(
                        into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints,
                        unless: cancellation,
                        and: additions)
                } catch {
                    // Before the next unit runs, possibly in the same transaction.
                    chain.fail()
                    throw error
                }
            } deliver: { result in
                if case .failure = result { chain.fail() }
                commit.deliver(result)
            }
        } catch {
            chain.fail()
            commit.deliver(.failure(error))
        }
        return commit
    }
}
