// The transport that limits the request rate: one budget per origin, shared by all its requests.

import Foundation
import Locking
import Metrics

/// A transport that keeps a ``Pace``. Requests to an origin are sent in their order of arrival.
///
/// A request of a higher priority is sent before those that wait already.
///
/// One instance should be shared by all clients of the same servers. The rate limits of servers can
/// be read from ``budgets``, stored, and passed to the next instance: a limit that was exhausted
/// before a restart stays exhausted.
package final class PacedTransport: DirectTransport, Sendable {
    /// A request in a queue.
    private struct Waiter {
        var ticket: UInt64
        var priority: UInt8
        var resume: @Sendable (Failure?) -> Void
    }

    /// The reason why a request is not sent.
    private enum Failure: Sendable {
        case cancelled
        case tooLong(Duration)
    }

    /// The budget and the queue of an origin.
    private struct Line {
        var budget = RateBudget()
        /// The requests that wait for their admission, in its order.
        ///
        /// A slice retains its removed elements, and they the transport: an empty one is replaced.
        var waiters: ArraySlice<Waiter> = [] {
            didSet { if waiters.isEmpty, waiters.startIndex > 0 { waiters = [] } }
        }
        /// The timer that admits requests when time has passed.
        var timer: Task<Void, Never>?
    }

    private struct State {
        var lines: [String: Line] = [:]
        var lastTicket: UInt64 = 0
        /// The tickets of requests that were cancelled before they were queued.
        var cancelled: Set<UInt64> = []
    }

    private let inner: any Transport
    private let direct: (any DirectTransport)?
    /// The user's own limits, which apply in addition to the server's.
    package let pace: Pace
    private let time: TimeSource
    private let onWait: (@Sendable (RequestWait) -> Void)?
    private let state: Guarded<State>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - budgets: the ``budgets`` of an earlier transport, by origin. Limits beyond
    ///     ``Pace/longestLimit`` are dropped.
    ///   - onWait: called when requests start to wait, and again when the wait changes.
    package init(
        _ inner: any Transport, pace: Pace = Pace(), budgets: [String: RateBudget] = [:], time: TimeSource = .system,
        onWait: (@Sendable (RequestWait) -> Void)? = nil
    ) {
        self.inner = inner
        direct = inner as? any DirectTransport
        self.pace = pace
        self.time = time
        self.onWait = onWait
        let now = time.now()
        state = Guarded(
            State(
                lines: budgets.mapValues { budget in
                    var budget = budget
                    budget.forgetLimits(beyond: pace.longestLimit, now: now)
                    return Line(budget: budget)
                }))
    }

    /// The budgets by origin (`https://api.example.org`) that are worth keeping.
    package var budgets: [String: RateBudget] {
        state.withLock { state in state.lines.mapValues(\.budget).filter(\.value.isWorthKeeping) }
    }

    /// Sends a request when the budget of its origin admits it.
    ///
    /// - Throws: ``TransportError/Kind/rateLimit`` if a server limit is exhausted for longer than
    ///   ``Pace/longestWait``, and the errors of the inner transport.
    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        // A malformed URL does not wait: the inner transport rejects it.
        guard let url = try? HTTPURL(request.url) else { return try await inner.send(request) }
        let origin = url.origin, started = time.now()
        if let failure = await turn(origin, request.priority) { throw error(failure, request, origin) }
        noteWait(since: started, url.host)
        do throws(TransportError) {
            let response = try await inner.send(request)
            leave(origin, status: response.status, response.headers)
            return response
        } catch {
            leave(origin, status: 0, nil)
            throw error
        }
    }

    /// Starts a request without a task when the budget of its origin admits it.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        guard let direct else { return false }
        let origin = request.origin, started = time.now()
        let leaving: DirectTransfer.Completion = { [self] result in
            switch result {
            case .success(let response): leave(origin, status: response.status, response.headers)
            case .failure: leave(origin, status: 0, nil)
            }
            completion(result)
        }
        let send = { @Sendable [inner] in
            if !direct.start(request, transfer, leaving) {
                transfer.resume(leaving) { () async throws(TransportError) in try await inner.send(request.request) }
            }
        }
        if isAdmittedAtOnce(origin, now: started) {
            send()
            return true
        }
        let admitted: @Sendable (Failure?) -> Void = { [self] failure in
            if let failure { return completion(.failure(error(failure, request.request, origin))) }
            noteWait(since: started, request.url.host)
            send()
        }
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        // Before the request is queued: its admission sets another one.
        transfer.onCancel { [self] in remove(ticket, origin)?.resume(.cancelled) }
        state.withLock { state in
            state.lines[origin, default: Line()].waiters.insert(
                Waiter(ticket: ticket, priority: request.request.priority, resume: admitted),
                byPriority: { $0.priority })
        }
        pump(origin)
        // The cancellation may have come before the request was queued.
        if transfer.isCancelled { remove(ticket, origin)?.resume(.cancelled) }
        return true
    }

    /// Admits a request if no other one waits, and if the budget allows it.
    private func isAdmittedAtOnce(_ origin: String, now: Date) -> Bool {
        state.withLock { state in
            guard state.lines[origin, default: Line()].waiters.isEmpty else { return false }
            return state.lines[origin, default: Line()].budget.admit(pace, now: now) == .now
        }
    }

    /// The error of a request that is not sent.
    private func error(_ failure: Failure, _ request: TransportRequest, _ origin: String) -> TransportError {
        switch failure {
        case .cancelled:
            return TransportError(
                .cancelled, method: request.method, url: request.url, detail: "the task was cancelled")
        case .tooLong(let wait):
            let end = time.now().addingTimeInterval(wait.inSeconds), until = HTTPDate.text(end)
            var limited = TransportError(
                .rateLimit, method: request.method, url: request.url,
                detail: "the rate limit of \(origin) is used up until \(until), longer than a request may wait "
                    + "(\(Int(pace.longestWait.inSeconds)) s, `pace: { longest_wait }`)")
            limited.until = end
            return limited
        }
    }

    /// Records the time for which a request has waited.
    private func noteWait(since started: Date, _ host: String) {
        let waited = time.now().timeIntervalSince(started)
        if waited > 0.001 {
            Metrics.Timer(label: "tarn_http_wait", dimensions: [("host", host)]).recordSeconds(waited)
        }
    }

    /// Waits until a request is admitted. Returns nil then, and otherwise the reason of a failure.
    private func turn(_ origin: String, _ priority: UInt8) async -> Failure? {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        // A request that is cancelled just after its admission leaves its ticket behind.
        defer { _ = state.withLock { $0.cancelled.remove(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return true }
                    state.lines[origin, default: Line()].waiters.insert(
                        Waiter(ticket: ticket, priority: priority) { continuation.resume(returning: $0) },
                        byPriority: { $0.priority })
                    return false
                }
                if isCancelled { return continuation.resume(returning: .cancelled) }
                pump(origin)
            }
        } onCancel: {
            cancel(ticket, origin)
        }
    }

    /// Removes a request from its queue, or marks it as cancelled if it is not queued yet.
    private func cancel(_ ticket: UInt64, _ origin: String) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.lines[origin]?.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                state.cancelled.insert(ticket)
                return nil
            }
            return state.lines[origin]?.waiters.remove(at: index)
        }
        // The requests behind it need no admission now: the timer or the next response triggers it.
        waiter?.resume(.cancelled)
    }

    /// Removes a request from its queue; nil if it was admitted already.
    private func remove(_ ticket: UInt64, _ origin: String) -> Waiter? {
        state.withLock { state -> Waiter? in
            guard let index = state.lines[origin]?.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                return nil
            }
            return state.lines[origin]?.waiters.remove(at: index)
        }
    }

    /// Updates the budget with a response, and admits the next requests.
    private func leave(_ origin: String, status: Int, _ headers: TransportHeaders?) {
        let now = time.now()
        let hasWaiters = state.withLock { state in
            guard let key = state.lines.index(forKey: origin) else { return false }
            state.lines.values[key].budget.answered(
                status: status, headers, now: now, longestLimit: pace.longestLimit)
            return !state.lines.values[key].waiters.isEmpty
        }
        if hasWaiters { pump(origin) }
    }

    /// Admits the requests that the budget allows, and sets a timer for the next one.
    private func pump(_ origin: String) {
        let now = time.now()
        var resumed: [(Waiter, Failure?)] = []
        state.withLock { state in
            guard var line = state.lines[origin], !line.waiters.isEmpty else { return }
            // The queue is changed in place.
            state.lines[origin]?.waiters = []
            line.timer?.cancel()
            line.timer = nil
            admission: while let first = line.waiters.first {
                switch line.budget.admit(pace, now: now) {
                case .now:
                    resumed.append((first, nil))
                    line.waiters = line.waiters.dropFirst()
                case .later(let wait, .limit) where wait > pace.longestWait:
                    resumed.append((first, .tooLong(wait)))
                    line.waiters = line.waiters.dropFirst()
                case .later(let wait, let reason):
                    let notice = RequestWait(
                        origin: origin, until: now.addingTimeInterval(wait.inSeconds),
                        reason: reason == .limit ? .limit : .pace)
                    line.timer = Task { [weak self, time, onWait] in
                        onWait?(notice)
                        guard (try? await time.sleep(wait)) != nil else { return }
                        self?.pump(origin)
                    }
                    break admission
                case .whenAnswered: break admission
                }
            }
            state.lines[origin] = line
        }
        for (waiter, failure) in resumed { waiter.resume(failure) }
    }
}
