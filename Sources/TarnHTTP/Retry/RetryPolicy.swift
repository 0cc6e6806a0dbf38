// Whether a request is sent once more, and after how long. Pure: the answer, the time and the chance come in, a decision goes out.

import Foundation

/// When a request that failed is tried again.
///
/// Tried again is what may have been a moment's trouble: a connection that could not be made or broke off, a time limit, and the statuses
/// 408, 425, 429 and 5xx (but 501 and 505, which do not pass). Only methods that may be repeated are (RFC 9110 §9.2.2), and those that
/// ``methods`` adds; what cannot have reached the server may be repeated whatever the method is.
///
/// The wait grows twofold with every try up to ``longestDelay``, and is any length up to that ("full jitter"): clients that failed together
/// do not come back together. A server that says how long to wait (`Retry-After`, or a rate limit that is used up) is obeyed, unless it
/// asks for more than ``longestWait``.
public struct RetryPolicy: Sendable, Hashable {
    /// How many times a request is sent, in all; 1 for no second try.
    public var attempts: Int
    /// The longest wait before the second try; twice as much before the third, and so on.
    public var firstDelay: Duration
    /// What the wait does not grow beyond.
    public var longestDelay: Duration
    /// How long a server may ask to wait. If it asks for more, its answer is final.
    public var longestWait: Duration
    /// Methods that may be repeated although HTTP does not say so, such as `POST` for a search.
    public var methods: Set<String>

    public init(
        attempts: Int = 4, firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(30),
        longestWait: Duration = .seconds(300), methods: Set<String> = []
    ) {
        self.attempts = attempts
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.longestWait = longestWait
        self.methods = methods
    }

    /// Every request is sent once.
    public static let never = RetryPolicy(attempts: 1)

    /// What became of a try.
    public enum Outcome: Sendable {
        case answer(status: Int, headers: HTTPHeaders)
        case failure(TransportError.Kind)
    }

    /// What to do after a try.
    public enum Decision: Sendable, Hashable {
        case giveUp
        case again(after: Duration)
    }

    /// - Parameters:
    ///   - attempt: which try it was, from 1.
    ///   - isRetryable: whether something else has decided that this outcome is worth another try; nil for the rules of this policy.
    ///   - random: from 0 up to 1.
    public func decide(
        _ outcome: Outcome, method: String, attempt: Int, isRetryable: Bool? = nil, now: Date, random: Double
    ) -> Decision {
        guard attempt < attempts, isRetryable ?? RetryPolicy.isPassing(outcome), mayRepeat(method, outcome) else { return .giveUp }
        let delay = backoff(afterAttempt: attempt, random: random)
        guard case .answer(let status, let headers) = outcome else { return .again(after: delay) }
        guard let asked = RateLimit.wait(status: status, headers, now: now) else { return .again(after: delay) }
        // A little more than asked: others wait for the same moment.
        guard asked <= longestWait else { return .giveUp }
        return .again(after: asked + .seconds(clamping: random * min(1, asked.inSeconds / 10)))
    }

    /// A wait of any length up to twice the last one's limit.
    func backoff(afterAttempt attempt: Int, random: Double) -> Duration {
        let limit = min(firstDelay.inSeconds * exp2(Double(min(max(attempt, 1), 60) - 1)), longestDelay.inSeconds)
        return .seconds(clamping: limit * random)
    }

    private func mayRepeat(_ method: String, _ outcome: Outcome) -> Bool {
        if RetryPolicy.idempotent.contains(method) || methods.contains(method) { return true }
        if case .failure(let kind) = outcome { return kind == .resolve || kind == .connect }
        return false
    }

    /// RFC 9110 §9.2.2.
    static let idempotent: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Whether it may be otherwise the next time.
    package static func isPassing(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .answer(let status, let headers):
            switch status {
            case 408, 425, 429: true
            case 501, 505: false
            case 500...599: true
            // GitHub and others refuse so what is over a rate limit.
            case 403: headers["Retry-After"] != nil || RateLimit.isUsedUp(headers)
            default: false
            }
        case .failure(let kind):
            switch kind {
            case .resolve, .connect, .timeout, .cutShort: true
            case .url, .tls, .tooLarge, .protocol, .cancelled, .rateLimit, .credentials, .noFixture, .store: false
            }
        }
    }
}
