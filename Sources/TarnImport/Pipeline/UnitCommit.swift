// A unit on its way into the store: put into the store's queue at once, so that units get there in the order in which they were started,
// and awaited later.

import Synchronization
internal import TarnStore

/// What comes of a unit.
final class UnitCommit: Sendable {
    private struct State {
        var result: Result<ImportReport, any Error>?
        var waiting: CheckedContinuation<ImportReport, any Error>?
    }

    private let state = Mutex(State())
    let cancellation = Cancellation()

    /// Called once.
    func deliver(_ result: Result<ImportReport, any Error>) {
        let waiting = state.withLock { state in
            state.result = result
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(with: result)
    }

    /// The report, when everything is committed. Asked for once.
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
    /// Units of more than so many bytes get a transaction of their own: a shared one holds all that a unit changes in memory. Small ones that
    /// wait together share one, which saves most of what a commit costs.
    private static let largestShared = 1 << 18

    /// How much is kept of what was added.
    var byteCount: Int { drafter.list.byteCount }

    /// Puts what was added into the store's queue, as one write, behind what waits there. The importer is left alone until it is delivered.
    func enqueue(
        to store: Store, responses: [ResponseEntry], revalidated: [RevalidatedResponse], checkpoints: [String: Checkpoint], after chain: UnitChain,
        mayShare: Bool, and additions: (@Sendable (ImportReport, inout StoreWriter) throws -> Void)?
    ) -> UnitCommit {
        let commit = UnitCommit(), cancellation = commit.cancellation
        self.cancellation = cancellation
        do {
            try store.enqueue(alone: !mayShare || byteCount > Importer.largestShared) { writer in
                do {
                    if chain.hasFailed { throw UnitBeforeFailed() }
                    return try self.commit(
                        into: &writer, responses: responses, revalidated: revalidated, checkpoints: checkpoints, unless: cancellation,
                        and: additions)
                } catch {
                    // Before the next unit runs, which may be in the same transaction.
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
