import Locking
import ServiceLifecycle

/// The turns of refreshes: a number of them at once, others wait in the order of their priorities.
final class RefreshQueue: Sendable {
    private struct Waiter {
        var id: UInt64
        var priority: ScheduledRefresh.Priority
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var free: Int
        var lastID: UInt64 = 0
        var waiters: [Waiter] = []
        /// The ids of callers that have ended before they wait.
        var ended: Set<UInt64> = []
    }

    private let state: Guarded<State>

    init(_ turns: Int) { state = Guarded(State(free: max(1, turns))) }

    /// Waits for a turn, which ``release()`` ends.
    ///
    /// - Throws: `CancellationError` if the task is cancelled or the service shuts down meanwhile.
    func take(_ priority: ScheduledRefresh.Priority) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        // A caller that ends when it has its turn already leaves its id behind.
        defer { _ = state.withLock { $0.ended.remove(id) } }
        try await withTaskCancellationOrGracefulShutdownHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isDecided = state.withLock { state -> Result<Void, any Error>? in
                    // Either the handler below ran before there was a waiter, or it will find it.
                    // The group is not asked here: it calls handlers under its own lock, and they
                    // wait for this one.
                    if state.ended.contains(id) { return .failure(CancellationError()) }
                    if state.free > 0 {
                        state.free -= 1
                        return .success(())
                    }
                    let place = state.waiters.firstIndex { $0.priority < priority } ?? state.waiters.endIndex
                    state.waiters.insert(Waiter(id: id, priority: priority, continuation: continuation), at: place)
                    return nil
                }
                if let isDecided { continuation.resume(with: isDecided) }
            }
        } onCancelOrGracefulShutdown: { [state] in
            let waiter = state.withLock { state -> Waiter? in
                guard let place = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.ended.insert(id)
                    return nil
                }
                return state.waiters.remove(at: place)
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The number of waiters.
    var waiting: Int { state.withLock { $0.waiters.count } }

    /// Ends a turn: the next waiter has it.
    func release() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiters.removeFirst()
        }
        next?.continuation.resume()
    }
}
