import Locking

/// The mark of one observer that a change concerns it, and the task that waits for the mark.
final class ObserverSignal: Sendable {
    private struct State: Sendable {
        var interest: ObserverHub.Interest
        /// The generation of the store that the interest belongs to.
        var generation: UInt64
        /// Marked at first, so that the current state is delivered.
        var isMarked = true
        var isEnded = false
        var waiter: CheckedContinuation<Bool, Never>?
        /// The commits after `from` up to `to` do not concern the observer.
        var passed: (from: UInt64, to: UInt64)?
    }

    private let resolve: @Sendable (StoreState) throws -> ObserverHub.Interest
    private let state: Guarded<State>

    /// Creates a signal for an interest that depends on the catalog.
    init(in current: StoreState, _ resolve: @escaping @Sendable (StoreState) throws -> ObserverHub.Interest) throws {
        self.resolve = resolve
        state = Guarded(State(interest: try resolve(current), generation: current.generation))
    }

    /// The changes that concern the observer.
    var interest: ObserverHub.Interest { state.withLock { $0.interest } }

    /// Whether the interest may be another one in a state of the store.
    func isOutdated(in current: StoreState) -> Bool {
        state.withLock { $0.generation } < current.generation
    }

    /// Sets the interest for another catalog. If it has none, the evaluation reports the error.
    func renew(in current: StoreState) {
        let interest = try? resolve(current)
        state.withLock { state in
            state.generation = current.generation
            if let interest { state.interest = interest }
        }
    }

    func mark() {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.isMarked = state.waiter == nil
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: true)
    }

    /// Notes that commits do not concern the observer, which need not read them.
    func pass(from: UInt64, to: UInt64) {
        state.withLock { state in
            // If commits in between are missing, the earlier ones stay: they have not been used.
            guard let passed = state.passed else { return state.passed = (from, to) }
            if passed.to == from { state.passed = (passed.from, to) }
        }
    }

    /// Returns the last of the commits after a position that do not concern the observer.
    func takePassed(after sequence: UInt64) -> UInt64? {
        state.withLock { state in
            defer { state.passed = nil }
            guard let passed = state.passed, passed.from <= sequence, passed.to > sequence else { return nil }
            return passed.to
        }
    }

    func end() {
        let waiter: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.isEnded = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: false)
    }

    /// Waits for the mark; false if the waiting task is cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.isEnded { return false }
                    if state.isMarked {
                        state.isMarked = false
                        return true
                    }
                    state.waiter = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            end()
        }
    }
}
