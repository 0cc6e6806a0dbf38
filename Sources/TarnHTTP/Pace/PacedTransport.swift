// Lets requests through as fast as the user and the servers allow: one budget for each origin, shared by all requests to it.

import Foundation
import Metrics

/// A transport that keeps a ``Pace``. Requests wait for their turn in the order in which they came.
///
/// Share one among everything that talks to the same servers. What servers have said of their limits can be taken out with ``budgets``, kept,
/// and given to the next one: a limit that was used up before a restart is not tried again.
public final class PacedTransport: Transport, Sendable {
    private struct Waiter {
        var ticket: UInt64
        var resume: @Sendable (Failure?) -> Void
    }

    private enum Failure: Sendable {
        case cancelled
        case tooLong(Duration)
    }

    private struct Line {
        var budget = RateBudget()
        var waiters: ArraySlice<Waiter> = []
        /// Looks again when time has passed.
        var timer: Task<Void, Never>?
    }

    private struct State {
        var lines: [String: Line] = [:]
        var lastTicket: UInt64 = 0
        /// Tasks that were cancelled before they stood in a line.
        var cancelled: Set<UInt64> = []
    }

    private let inner: any Transport
    /// The user's own limits, which hold beside the server's.
    public let pace: Pace
    private let time: TimeSource
    private let onWait: (@Sendable (RequestWait) -> Void)?
    private let state: Guarded<State>

    /// - Parameters:
    ///   - budgets: by origin, from an earlier transport's ``budgets``. Limits beyond ``Pace/longestLimit`` are forgotten.
    ///   - onWait: called when requests begin to wait, and again when what they wait for has changed.
    public init(
        _ inner: any Transport, pace: Pace = Pace(), budgets: [String: RateBudget] = [:], time: TimeSource = .system,
        onWait: (@Sendable (RequestWait) -> Void)? = nil
    ) {
        self.inner = inner
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

    /// What is left at each origin (`https://api.example.org`), as far as it is worth keeping.
    public var budgets: [String: RateBudget] {
        state.withLock { state in state.lines.mapValues(\.budget).filter(\.value.isWorthKeeping) }
    }

    /// - Throws: also ``TransportError/Kind/rateLimit``, if a server's limit is used up for longer than ``Pace/longestWait``.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        // What cannot be sent anyway waits for nothing.
        guard let url = try? HTTPURL(request.url) else { return try await inner.send(request) }
        let origin = url.origin, started = time.now()
        if let failure = await turn(origin) {
            switch failure {
            case .cancelled:
                throw TransportError(.cancelled, method: request.method, url: request.url, detail: "the task was cancelled")
            case .tooLong(let wait):
                let until = HTTPDate.text(time.now().addingTimeInterval(wait.inSeconds))
                throw TransportError(
                    .rateLimit, method: request.method, url: request.url,
                    detail: "the rate limit of \(origin) is used up until \(until), longer than a request may wait "
                        + "(\(Int(pace.longestWait.inSeconds)) s, `pace: { longest_wait }`)")
            }
        }
        let waited = time.now().timeIntervalSince(started)
        if waited > 0.001 { Metrics.Timer(label: "tarn_http_wait", dimensions: [("host", url.host)]).recordSeconds(waited) }
        do throws(TransportError) {
            let response = try await inner.send(request)
            leave(origin, status: response.status, response.headers)
            return response
        } catch {
            leave(origin, status: 0, nil)
            throw error
        }
    }

    /// Waits for the turn of a request; nil if it has come.
    private func turn(_ origin: String) async -> Failure? {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        // One that is cancelled just after its turn has come leaves its ticket behind.
        defer { _ = state.withLock { $0.cancelled.remove(ticket) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return true }
                    state.lines[origin, default: Line()].waiters.append(Waiter(ticket: ticket) { continuation.resume(returning: $0) })
                    return false
                }
                if isCancelled { return continuation.resume(returning: .cancelled) }
                pump(origin)
            }
        } onCancel: {
            cancel(ticket, origin)
        }
    }

    private func cancel(_ ticket: UInt64, _ origin: String) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.lines[origin]?.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                state.cancelled.insert(ticket)
                return nil
            }
            return state.lines[origin]?.waiters.remove(at: index)
        }
        // Those behind it are looked at when they would have been: by the timer, or by an answer.
        waiter?.resume(.cancelled)
    }

    private func leave(_ origin: String, status: Int, _ headers: HTTPHeaders?) {
        let now = time.now()
        state.withLock { state in
            state.lines[origin]?.budget.answered(status: status, headers, now: now, longestLimit: pace.longestLimit)
        }
        pump(origin)
    }

    /// Lets through who may go, and looks again when the next one may.
    private func pump(_ origin: String) {
        let now = time.now()
        var resumed: [(Waiter, Failure?)] = []
        state.withLock { state in
            guard var line = state.lines[origin] else { return }
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
                        origin: origin, until: now.addingTimeInterval(wait.inSeconds), reason: reason == .limit ? .limit : .pace)
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
