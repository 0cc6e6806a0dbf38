import Locking

/// The calls under way, by domain.
final class RequestDomains: Sendable {
    private struct State {
        var calls: [String: [UInt64: DomainCall.State]] = [:]
        var lastID: UInt64 = 0
    }

    private let state = Guarded(State())

    /// A call in some domains, registered as long as it exists; nil without domains.
    func call(in domains: Set<String>) -> DomainCall? {
        guard !domains.isEmpty else { return nil }
        let call = DomainCall.State()
        let id = state.withLock { state in
            state.lastID += 1
            for domain in domains { state.calls[domain, default: [:]][state.lastID] = call }
            return state.lastID
        }
        return DomainCall(call) { [weak self] in self?.remove(id, from: domains) }
    }

    private func remove(_ id: UInt64, from domains: Set<String>) {
        state.withLock { state in
            for domain in domains {
                state.calls[domain]?[id] = nil
                if state.calls[domain]?.isEmpty ?? false { state.calls[domain] = nil }
            }
        }
    }

    /// Cancels the calls in a domain.
    ///
    /// - Returns: their number.
    func cancel(_ domain: String) -> Int {
        let calls = state.withLock { state in state.calls[domain].map { Array($0.values) } ?? [] }
        for call in calls { call.cancel() }
        return calls.count
    }
}

/// A call that its domain can cancel: a request, a sequence of pages, or a batch.
final class DomainCall: Sendable {
    /// The tasks of a call.
    final class State: Sendable {
        private struct Tasks {
            var isCancelled = false
            var cancel: [UInt64: @Sendable () -> Void] = [:]
            var lastID: UInt64 = 0
        }

        private let tasks = Guarded(Tasks())

        func cancel() {
            let cancel = tasks.withLock { tasks in
                tasks.isCancelled = true
                return Array(tasks.cancel.values)
            }
            for cancel in cancel { cancel() }
        }

        var isCancelled: Bool { tasks.withLock(\.isCancelled) }

        /// Registers a task, and cancels it at once if the call is cancelled.
        func add(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
            let (id, isCancelled) = tasks.withLock { tasks in
                tasks.lastID += 1
                tasks.cancel[tasks.lastID] = cancel
                return (tasks.lastID, tasks.isCancelled)
            }
            if isCancelled { cancel() }
            return id
        }

        func remove(_ id: UInt64) { tasks.withLock { $0.cancel[id] = nil } }
    }

    private let state: State
    private let onEnd: @Sendable () -> Void

    init(_ state: State, onEnd: @escaping @Sendable () -> Void) {
        self.state = state
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    /// Runs a part of the call, which is cancelled with its domain and with the calling task.
    ///
    /// - Throws: what the closure throws; `CacheError` if the domain was cancelled before.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        // Before the task begins: it would send its request.
        guard !state.isCancelled else { throw CacheError.request(.cancelled, nil) }
        let task = Task { try await body() }
        let id = state.add { task.cancel() }
        defer { state.remove(id) }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

extension DomainCall? {
    /// Runs a part of the call, if it is in a domain, and otherwise the closure alone.
    func run<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let call = self else { return try await body() }
        return try await call.run(body)
    }
}
