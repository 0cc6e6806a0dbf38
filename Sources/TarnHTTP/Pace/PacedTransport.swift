// The transport that limits the request rate: one budget per origin, shared by all its requests.

import Foundation
import Locking
import Metrics

/// A transport that keeps a ``Pace``. Requests to an origin are sent in their order of arrival.
///
/// A request of a higher priority is sent before those that wait already, and one that was refused
/// before those of its priority.
///
/// One instance should be shared by all clients of the same servers. The rate limits of servers can
/// be read from ``budgets``, stored, and passed to the next instance: a limit that was exhausted
/// before a restart stays exhausted.
package final class PacedTransport: DirectTransport, Sendable {
    /// A request in a queue.
    private struct Waiter {
        var ticket: UInt64
        var rank: Rank
        var resume: @Sendable (Turn) -> Void
    }

    /// The place of a request among those that wait.
    private struct Rank: Comparable {
        var priority: UInt8
        /// A server refuses requests when they are too many: they must not lose again.
        var isRetry: Bool

        init(_ request: TransportRequest) { (priority, isRetry) = (request.priority, request.isRetry) }

        static func < (a: Rank, b: Rank) -> Bool {
            a.priority == b.priority ? !a.isRetry && b.isRetry : a.priority < b.priority
        }
    }

    /// The end of a wait: the step of the admission, see ``RateBudget/step``, or a failure.
    private typealias Turn = Result<UInt64, Failure>

    /// The reason why a request is not sent.
    private enum Failure: Error {
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
        /// The number of lines at which those are removed that a new one would equal.
        var nextCleaning = 64

        /// Removes lines without requests whose limits are over and whose pace allows a burst.
        ///
        /// Redirects and links may lead to ever-changing servers.
        mutating func removeUnusedLines(_ pace: Pace, now: Date) {
            for (origin, line) in lines where line.waiters.isEmpty && line.budget.equalsNew(pace, now: now) {
                line.timer?.cancel()
                lines[origin] = nil
            }
            nextCleaning = 64 + 2 * lines.count
        }
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

    /// The number of origins that are kept, for tests.
    var originCount: Int { state.withLock { $0.lines.count } }

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
        let origin = url.origin, started = time.now(), progress = RequestProgress.current
        let admitted: UInt64
        if !Task.isCancelled, let step = admitAtOnce(origin, now: started) {
            admitted = step
        } else {
            progress?.waits()
            switch await turn(origin, Rank(request)) {
            case .success(let step): admitted = step
            case .failure(let failure): throw error(failure, request, origin)
            }
            noteWait(since: started, url.host)
        }
        progress?.transfers()
        do throws(TransportError) {
            let response = try await inner.send(request).statingWait(now: time.now())
            leave(origin, response, admitted)
            return response
        } catch {
            leave(origin, nil, admitted)
            throw error
        }
    }

    /// Starts a request without a task when the budget of its origin admits it.
    func start(
        _ request: DirectRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        guard let direct else { return false }
        let origin = request.origin, started = time.now()
        let send = { @Sendable [self] (step: UInt64) in
            let leaving: DirectTransfer.Completion = { [self] result in
                let stated = result.map { $0.statingWait(now: time.now()) }
                leave(origin, try? stated.get(), step)
                completion(stated)
            }
            if !direct.start(request, transfer, leaving) {
                transfer.resume(leaving) { [inner] () async throws(TransportError) in
                    try await inner.send(request.request)
                }
            }
        }
        if let step = admitAtOnce(origin, now: started) {
            send(step)
            return true
        }
        let admitted: @Sendable (Turn) -> Void = { [self] turn in
            switch turn {
            case .success(let step):
                noteWait(since: started, request.url.host)
                send(step)
            case .failure(let failure): completion(.failure(error(failure, request.request, origin)))
            }
        }
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        // Before the request is queued: its admission sets another one.
        transfer.onCancel { [self] in remove(ticket, origin)?.resume(.failure(.cancelled)) }
        state.withLock { state in
            state.lines[origin, default: Line()].waiters.insert(
                Waiter(ticket: ticket, rank: Rank(request.request), resume: admitted), byPriority: { $0.rank })
        }
        pump(origin)
        // The cancellation may have come before the request was queued.
        if transfer.isCancelled { remove(ticket, origin)?.resume(.failure(.cancelled)) }
        return true
    }

    /// Admits a request if no other one waits, and if the budget allows it.
    ///
    /// - Returns: the step of the admission; nil if the request has to wait.
    private func admitAtOnce(_ origin: String, now: Date) -> UInt64? {
        state.withLock { state -> UInt64? in
            if state.lines.count >= state.nextCleaning, state.lines[origin] == nil {
                state.removeUnusedLines(pace, now: now)
            }
            guard state.lines[origin, default: Line()].waiters.isEmpty,
                state.lines[origin, default: Line()].budget.admit(pace, now: now) == .now
            else { return nil }
            return state.lines[origin]?.budget.step
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

    /// Waits until a request is admitted.
    private func turn(_ origin: String, _ rank: Rank) async -> Turn {
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
                        Waiter(ticket: ticket, rank: rank) { continuation.resume(returning: $0) },
                        byPriority: { $0.rank })
                    return false
                }
                if isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
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
        waiter?.resume(.failure(.cancelled))
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
    private func leave(_ origin: String, _ response: TransportResponse?, _ admitted: UInt64) {
        let now = time.now(), pause = response.flatMap { StatedWait.seconds(ofSuccess: $0) }
        let hasWaiters = state.withLock { state in
            guard let key = state.lines.index(forKey: origin) else { return false }
            state.lines.values[key].budget.answered(
                status: response?.status ?? 0, response?.headers, pause: pause, admitted: admitted, now: now,
                longestLimit: pace.longestLimit)
            return !state.lines.values[key].waiters.isEmpty
        }
        if hasWaiters { pump(origin) }
    }

    /// Admits the requests that the budget allows, and sets a timer for the next one.
    private func pump(_ origin: String) {
        let now = time.now()
        var resumed: [(Waiter, Turn)] = []
        state.withLock { state in
            guard var line = state.lines[origin], !line.waiters.isEmpty else { return }
            // The queue is changed in place.
            state.lines[origin]?.waiters = []
            line.timer?.cancel()
            line.timer = nil
            admission: while let first = line.waiters.first {
                switch line.budget.admit(pace, now: now) {
                case .now:
                    resumed.append((first, .success(line.budget.step)))
                    line.waiters = line.waiters.dropFirst()
                case .later(let wait, .limit) where wait > pace.longestWait:
                    resumed.append((first, .failure(.tooLong(wait))))
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
        for (waiter, turn) in resumed { waiter.resume(turn) }
    }
}
