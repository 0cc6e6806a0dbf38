// How fast requests go to one origin: what the user allows, and what the server has said. A value: no clock, no waiting.

import Foundation

/// What is left to spend at one origin. `PacedTransport` asks it before every request, and tells it of every answer.
///
/// It can be kept and given back after a restart: a limit that was used up still is.
public struct RateBudget: Sendable, Hashable, Codable {
    /// What the server has said of its limits, less what was sent since.
    public private(set) var limits: [RateLimit] = []
    /// Nothing is sent before: a server has asked for a pause.
    public private(set) var pausedUntil: Date?
    /// A bucket that fills with ``Pace/perSecond``, and when it was looked at last.
    private var tokens = 0.0
    private var filledAt: Date?
    /// Requests that are not answered yet. Not kept: after a restart there are none.
    private(set) var underWay = 0

    private enum CodingKeys: String, CodingKey { case limits, pausedUntil, tokens, filledAt }

    public init() {}

    /// Whether there is anything that a restart should not forget.
    public var isWorthKeeping: Bool { pausedUntil != nil || !limits.isEmpty }

    /// What stands against the next request.
    public enum Admission: Sendable, Hashable {
        /// It may be sent, and has been counted.
        case now
        /// It is asked for again after so long.
        case later(Duration, reason: Reason)
        /// It is asked for again when another one is answered.
        case whenAnswered
    }

    /// Whose limit makes a request wait.
    public enum Reason: String, Sendable, Hashable {
        /// The user's own limit.
        case pace
        /// The server's.
        case limit
    }

    /// Counts a request in, if it may be sent now.
    public mutating func admit(_ pace: Pace, now: Date) -> Admission {
        refill(pace, now: now)
        limits.removeAll { limit in limit.resetsAt.map { $0 <= now } ?? false }
        if let pausedUntil, pausedUntil <= now { self.pausedUntil = nil }
        if let concurrent = pace.concurrent, underWay >= concurrent { return .whenAnswered }
        if pace.obeysHeaders {
            let until = (limits.filter { $0.remaining <= 0 }.compactMap(\.resetsAt) + [pausedUntil].compactMap(\.self)).max()
            if let until { return .later(.seconds(clamping: until.timeIntervalSince(now) + 0.001), reason: .limit) }
        }
        if let perSecond = pace.perSecond {
            // A rounding less than a whole one is one.
            guard tokens >= 0.999_999 else { return .later(.seconds(clamping: (1 - tokens) / perSecond + 0.001), reason: .pace) }
            tokens -= 1
        }
        // A stored number may be anything.
        for index in limits.indices { limits[index].remaining = max(limits[index].remaining, 0) - 1 }
        underWay += 1
        return .now
    }

    /// Notes that a request was answered, or came to nothing.
    ///
    /// - Parameters:
    ///   - headers: nil if there was no answer.
    ///   - longestLimit: how far ahead the server is believed: ``Pace/longestLimit``.
    public mutating func answered(
        status: Int = 0, _ headers: HTTPHeaders?, now: Date, longestLimit: Duration = .seconds(86_400)
    ) {
        underWay = max(0, underWay - 1)
        guard let headers else { return }
        let horizon = now.addingTimeInterval(longestLimit.inSeconds)
        // Those under way may not be counted in what it says.
        let told = RateLimit.all(in: headers, now: now).map { limit in
            RateLimit(name: limit.name, remaining: limit.remaining - underWay, resetsAt: limit.resetsAt.map { min($0, horizon) })
        }
        // A limit that is not said to end would be believed for ever.
        for limit in told.prefix(16) where limit.resetsAt != nil {
            limits.removeAll { $0.name == limit.name }
            limits.append(limit)
        }
        if limits.count > 16 { limits.removeFirst(limits.count - 16) }
        let isRefusal = status == 429 || status == 503 || status == 403 && RetryPolicy.isPassing(.answer(status: 403, headers: headers))
        if isRefusal, let wait = RateLimit.wait(status: status, headers, now: now), wait > .zero {
            pausedUntil = max(pausedUntil ?? now, min(now.addingTimeInterval(wait.inSeconds), horizon))
        }
    }

    /// Forgets limits that end later than a server is believed, as earlier versions kept them, or a clock that was wrong. The
    /// next answer tells them again.
    public mutating func forgetLimits(beyond longestLimit: Duration, now: Date) {
        let horizon = now.addingTimeInterval(longestLimit.inSeconds)
        limits.removeAll { $0.resetsAt.map { $0 > horizon } ?? true }
        if let pausedUntil, pausedUntil > horizon { self.pausedUntil = nil }
    }

    private mutating func refill(_ pace: Pace, now: Date) {
        guard let perSecond = pace.perSecond else { return }
        let full = Double(pace.burst)
        guard let filledAt else {
            (tokens, self.filledAt) = (full, now)
            return
        }
        // A clock that was set back gives nothing, and takes nothing.
        tokens = min(full, tokens + max(0, now.timeIntervalSince(filledAt)) * perSecond)
        self.filledAt = now
    }
}
