import Locking

/// The loads of a list in this process, and the observers of the list.
final class ListActivity: Sendable {
    /// The load under way, and the outcome of the last one.
    struct Status: Sendable {
        var loading: ListLoad?
        var failure: (any Error)?
        var failed: ListLoad?
        /// The number of changes.
        var version = 0
    }

    private struct State {
        var status = Status()
        var observers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Guarded(State())

    var status: Status { state.withLock(\.status) }

    func begin(_ load: ListLoad) { change { $0.loading = load } }

    /// Notes the end of a load.
    ///
    /// - Parameter load: the load; nil if it was cancelled: neither a success nor a failure.
    func end(_ load: ListLoad?, _ failure: (any Error)?) {
        change { status in
            status.loading = nil
            guard let load else { return }
            status.failure = failure
            status.failed = failure == nil ? nil : load
        }
    }

    private func change(_ body: (inout Status) -> Void) {
        let observers = state.withLock { state in
            body(&state.status)
            state.status.version += 1
            return Array(state.observers.values)
        }
        for observer in observers { observer.yield() }
    }

    func add(_ observer: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            state.observers[state.lastID] = observer
            return state.lastID
        }
    }

    func remove(_ id: UInt64) { state.withLock { $0.observers[id] = nil } }
}
