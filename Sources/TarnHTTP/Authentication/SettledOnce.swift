// A value for which one task waits, and of which only the first counts.

import Locking

/// A value that is settled once, by whoever is first.
package final class SettledOnce<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiter: CheckedContinuation<Value, Never>?
    }

    private let state = Guarded(State())

    package init() {}

    /// Settles the value, unless it is settled already.
    package func settle(_ value: Value) {
        let waiter = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard state.value == nil else { return nil }
            state.value = value
            let waiter = state.waiter
            state.waiter = nil
            return waiter
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value. Only one task may wait.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let settled = state.withLock { state -> Value? in
                if state.value == nil { state.waiter = continuation }
                return state.value
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }
}
