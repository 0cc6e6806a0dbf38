// The loads of one list: one at a time, decided by rules, each call resolved exactly once.

import Locking

/// Jobs that run one after the other. A job lives as long as a caller waits for it.
final class LoadQueue<Job: Hashable & Sendable, Output: Sendable>: Sendable {
    typealias Body = @Sendable (Job) async throws -> Output
    private typealias Waiter = CheckedContinuation<Output?, any Error>

    private struct Entry {
        var id: UInt64
        var job: Job
        var body: Body
        var waiters: [UInt64: Waiter]
        var task: Task<Void, Never>?
        /// Whether the job ends without its effect: calls must not join it.
        var isCancelled = false
    }

    private struct State {
        var running: Entry?
        var waiting: [Entry] = []
        /// The number of calls about which a rule has decided.
        var decisions = 0
        /// The last id of an entry or a waiter.
        var lastID: UInt64 = 0

        mutating func newID() -> UInt64 {
            lastID += 1
            return lastID
        }
    }

    /// The actions to run after the lock is released.
    private struct Effects {
        var resumed: [(Waiter, Result<Output?, any Error>)] = []
        var cancelled: Task<Void, Never>?

        func perform() {
            cancelled?.cancel()
            for (waiter, result) in resumed { waiter.resume(with: result) }
        }

        mutating func resume(_ waiters: [UInt64: Waiter], _ result: Result<Output?, any Error>) {
            resumed += waiters.values.map { ($0, result) }
        }
    }

    private let state = Guarded(State())

    /// The number of calls about which a rule has decided, for tests of races.
    var decisions: Int { state.withLock(\.decisions) }

    /// The number of calls that wait for the job under way, for tests of races.
    var callers: Int { state.withLock { $0.running?.waiters.count ?? 0 } }

    /// Runs a job by a rule.
    ///
    /// - Returns: the result of the job; nil if the rule skips it, or a later job replaces it.
    /// - Throws: what the job throws; `CancellationError` if the caller is cancelled, or the job by
    ///   a later one. A job ends with its last caller.
    func run(_ job: Job, rule: ConcurrentLoads, _ body: @escaping Body) async throws -> Output? {
        let id = state.withLock { $0.newID() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in
                let effects = state.withLock { state -> Effects in
                    // Either the handler below ran before there was a waiter, or it finds this one.
                    guard !Task.isCancelled else { return Effects(resumed: [(waiter, .failure(CancellationError()))]) }
                    return submit(job, rule, body, id, waiter, &state)
                }
                effects.perform()
            }
        } onCancel: {
            leave(id)
        }
    }

    private func submit(
        _ job: Job, _ rule: ConcurrentLoads, _ body: @escaping Body, _ id: UInt64, _ waiter: Waiter,
        _ state: inout State
    ) -> Effects {
        var effects = Effects()
        state.decisions += 1
        let isRunning = state.running.map { !$0.isCancelled } ?? false
        let isRunningSame = isRunning && state.running?.job == job
        let same = state.waiting.firstIndex { $0.job == job }
        switch rule {
        case .queue: break
        case .replaceQueue:
            for entry in state.waiting { effects.resume(entry.waiters, .success(nil)) }
            state.waiting = []
        case .cancelOthers:
            for entry in state.waiting { effects.resume(entry.waiters, .failure(CancellationError())) }
            state.waiting = []
            state.running?.isCancelled = true
            effects.cancelled = state.running?.task
        case .skip where isRunning || !state.waiting.isEmpty, .skipSame where isRunningSame || same != nil:
            effects.resumed.append((waiter, .success(nil)))
            return effects
        case .join where isRunningSame:
            state.running?.waiters[id] = waiter
            return effects
        case .join:
            guard let same else { break }
            state.waiting[same].waiters[id] = waiter
            return effects
        case .skip, .skipSame: break
        }
        state.waiting.append(Entry(id: state.newID(), job: job, body: body, waiters: [id: waiter]))
        startNext(&state)
        return effects
    }

    private func startNext(_ state: inout State) {
        guard state.running == nil, !state.waiting.isEmpty else { return }
        var entry = state.waiting.removeFirst()
        entry.task = Task { [id = entry.id, job = entry.job, body = entry.body] in
            let result: Result<Output?, any Error>
            do {
                result = .success(try await body(job))
            } catch {
                result = .failure(Task.isCancelled ? CancellationError() : error)
            }
            self.end(id, result)
        }
        state.running = entry
    }

    private func end(_ id: UInt64, _ result: Result<Output?, any Error>) {
        let effects = state.withLock { state -> Effects in
            var effects = Effects()
            guard let entry = state.running, entry.id == id else { return effects }
            effects.resume(entry.waiters, result)
            state.running = nil
            startNext(&state)
            return effects
        }
        effects.perform()
    }

    private func leave(_ id: UInt64) {
        let effects = state.withLock { state -> Effects in
            var effects = Effects()
            if let waiter = state.running?.waiters.removeValue(forKey: id) {
                effects.resumed.append((waiter, .failure(CancellationError())))
                if state.running?.waiters.isEmpty ?? false {
                    state.running?.isCancelled = true
                    effects.cancelled = state.running?.task
                }
            }
            for index in state.waiting.indices {
                guard let waiter = state.waiting[index].waiters.removeValue(forKey: id) else { continue }
                effects.resumed.append((waiter, .failure(CancellationError())))
                if state.waiting[index].waiters.isEmpty { state.waiting.remove(at: index) }
                break
            }
            return effects
        }
        effects.perform()
    }
}
