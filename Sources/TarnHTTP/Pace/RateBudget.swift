// The budget of one origin: the user's pace and the server's limits. A value: no clock, no waiting.

import Foundation

/// The remaining requests of one origin.
///
/// `PacedTransport` consults it before every request and updates it after every response. It can be
/// stored and restored after a restart: an exhausted limit stays exhausted.
package struct RateBudget: Sendable, Hashable, Codable {
    /// The server's limits, less the requests sent since.
    package private(set) var limits: [RateLimit] = []
    /// The end of a pause that the server requested; nil without one.
    package private(set) var pausedUntil: Date?
    /// The time at which the limits or the pause were last noted; nil if an earlier version did it.
    private var notedAt: Date?
    /// The level of a token bucket that fills at ``Pace/perSecond``.
    private var tokens = 0.0
    /// The time of the last refill.
    private var filledAt: Date?
    /// The number of requests without a response yet. It is not stored: after a restart it is 0.
    private(set) var underWay = 0
    /// The number of admissions and responses so far: their order. It is not stored.
    private(set) var step: UInt64 = 0
    /// The limits that the last responses have told. They are not stored.
    private var heard: [Heard] = []

    /// A limit as a response has told it.
    private struct Heard: Sendable, Hashable {
        /// The ordinal of the response among the steps.
        var step: UInt64
        var limit: RateLimit
    }

    private enum CodingKeys: String, CodingKey { case limits, pausedUntil, notedAt, tokens, filledAt }

    /// Creates a full budget.
    package init() {}

    /// Whether the budget has anything that must survive a restart.
    package var isWorthKeeping: Bool { pausedUntil != nil || !limits.isEmpty }

    /// Whether all limits and the pause have ended.
    package func isOver(at now: Date) -> Bool {
        limits.allSatisfy { limit in limit.resetsAt.map { $0 <= now } ?? true }
            && pausedUntil.map { $0 <= now } ?? true
    }

    /// Whether a new budget would admit the next requests as this one does.
    func equalsNew(_ pace: Pace, now: Date) -> Bool {
        guard underWay == 0, isOver(at: now) else { return false }
        guard let perSecond = pace.perSecond, let filledAt else { return true }
        return tokens + max(0, now.timeIntervalSince(filledAt)) * perSecond >= Double(pace.burst)
    }

    /// The admission of a request.
    package enum Admission: Sendable, Hashable {
        /// The request may be sent. It is counted.
        case now
        /// The request has to wait for this duration.
        case later(Duration, reason: Reason)
        /// The request has to wait for the response to another one.
        case whenAnswered
    }

    /// The limit that makes a request wait.
    package enum Reason: String, Sendable, Hashable {
        /// The user's own limit.
        case pace
        /// The server's limit.
        case limit
    }

    /// Admits and counts a request if it may be sent now.
    package mutating func admit(_ pace: Pace, now: Date) -> Admission {
        refill(pace, now: now)
        forgetFuture(now: now)
        limits.removeAll { limit in limit.resetsAt.map { $0 <= now } ?? false }
        if let pausedUntil, pausedUntil <= now { self.pausedUntil = nil }
        if let concurrent = pace.concurrent, underWay >= concurrent { return .whenAnswered }
        if pace.obeysHeaders, !limits.isEmpty || pausedUntil != nil {
            let until = (limits.filter { $0.remaining <= 0 }.compactMap(\.resetsAt) + [pausedUntil].compactMap(\.self))
                .max()
            if let until { return .later(.seconds(clamping: until.timeIntervalSince(now) + 0.001), reason: .limit) }
        }
        if let perSecond = pace.perSecond {
            // The tolerance covers rounding.
            guard tokens >= 0.999_999 else {
                return .later(.seconds(clamping: (1 - tokens) / perSecond + 0.001), reason: .pace)
            }
            tokens -= 1
        }
        // A stored number may be damaged: it may be negative.
        for index in limits.indices { limits[index].remaining = max(limits[index].remaining, 0) - 1 }
        underWay += 1
        step += 1
        return .now
    }

    /// Updates the budget after a response, or after a failure.
    ///
    /// - Parameters:
    ///   - headers: the header fields of the response; nil without one.
    ///   - pause: the seconds that the body of a success asks to wait; nil for none.
    ///   - admitted: ``step`` after the admission of the request; nil if no response is older.
    ///   - longestLimit: the longest time until a reset; longer ones are cut. See
    ///     ``Pace/longestLimit``.
    package mutating func answered(
        status: Int = 0, _ headers: TransportHeaders?, pause: Double? = nil, admitted: UInt64? = nil, now: Date,
        longestLimit: Duration = .seconds(86_400)
    ) {
        underWay = max(0, underWay - 1)
        step += 1
        guard let headers else { return }
        let horizon = now.addingTimeInterval(longestLimit.inSeconds)
        // A limit without a reset time would stay for ever.
        for var limit in RateLimit.all(in: headers, now: now).prefix(16) {
            guard let end = limit.resetsAt else { continue }
            limit.resetsAt = min(end, horizon)
            note(limit, since: admitted ?? step)
            notedAt = now
        }
        if limits.count > 16 { limits.removeFirst(limits.count - 16) }
        let isRefusal =
            status == 429 || status == 503
            || status == 403 && RetryPolicy.isPassing(.answer(status: 403, headers: headers))
        let wait = isRefusal ? RateLimit.wait(status: status, headers, now: now) : pause.map { .seconds(clamping: $0) }
        if let wait, wait > .zero {
            pausedUntil = max(pausedUntil ?? now, min(now.addingTimeInterval(wait.inSeconds), horizon))
            notedAt = now
        }
    }

    /// The difference of two reset times that may be the same one, in whole seconds from now.
    private static let tolerance = 1.1
    /// The number of told limits that are remembered.
    private static let memory = 256

    /// Updates a limit with one that a response has told.
    ///
    /// Responses may arrive in another order than the server has counted their requests. Among
    /// those that arrived since the request was sent, the lowest number counts.
    ///
    /// - Parameter since: the step of the request's admission.
    private mutating func note(_ told: RateLimit, since: UInt64) {
        guard let end = told.resetsAt else { return }
        var told = told
        heard.removeAll { known in
            known.limit.name == told.name
                && (known.limit.resetsAt.map { $0.timeIntervalSince(end) < -RateBudget.tolerance } ?? true)
        }
        for known in heard where known.limit.name == told.name && known.step > since {
            // The window has ended since the server told of it.
            if let later = known.limit.resetsAt, later.timeIntervalSince(end) > RateBudget.tolerance { return }
            told.remaining = min(told.remaining, known.limit.remaining)
        }
        heard.append(Heard(step: step, limit: told))
        if heard.count > RateBudget.memory { heard.removeFirst(heard.count - RateBudget.memory / 2) }
        // The server may not have counted the requests in progress yet.
        told.remaining -= underWay
        limits.removeAll { $0.name == told.name }
        limits.append(told)
    }

    /// Drops limits that reset later than a duration from now.
    ///
    /// They come from an earlier version or from a wrong clock. The next response renews them.
    package mutating func forgetLimits(beyond longestLimit: Duration, now: Date) {
        forgetFuture(now: now)
        let horizon = now.addingTimeInterval(longestLimit.inSeconds)
        limits.removeAll { $0.resetsAt.map { $0 > horizon } ?? true }
        if let pausedUntil, pausedUntil > horizon { self.pausedUntil = nil }
    }

    /// Drops limits that were noted while the clock was ahead, by more than a minute.
    ///
    /// Their ends are ahead, too. The next response renews them.
    private mutating func forgetFuture(now: Date) {
        guard let notedAt, notedAt.timeIntervalSince(now) > 60 else { return }
        limits = []
        heard = []
        pausedUntil = nil
        self.notedAt = nil
    }

    /// Fills the token bucket.
    private mutating func refill(_ pace: Pace, now: Date) {
        guard let perSecond = pace.perSecond else { return }
        let full = Double(pace.burst)
        guard let filledAt else {
            (tokens, self.filledAt) = (full, now)
            return
        }
        // A clock that was set back neither adds nor removes tokens.
        tokens = min(full, tokens + max(0, now.timeIntervalSince(filledAt)) * perSecond)
        self.filledAt = now
    }
}
