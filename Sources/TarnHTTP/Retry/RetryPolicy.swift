// Retry decisions. Pure: the outcome, the time and a random number in, a decision out.

import Foundation

/// The rule by which failed requests are retried.
///
/// Transient failures are retried: connections that fail or break, timeouts, and the statuses 408,
/// 425, 429 and 5xx except 501 and 505. Retries are limited to idempotent methods (RFC 9110 §9.2.2)
/// and `methods`. If the request cannot have reached the server, every method is retried.
///
/// The delay is random between 0 and a limit, which doubles with every attempt up to
/// `longestDelay` ("full jitter"): clients that failed together do not return together. A delay
/// that the server specifies (`Retry-After`, or an exhausted rate limit) takes precedence, unless
/// it exceeds `longestWait`, or is shorter.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts; 1 for no retry.
    package var attempts: Int
    /// The maximum delay before the second attempt. It doubles with every further attempt.
    package var firstDelay: Duration
    /// The upper bound of all delays that the server does not specify.
    package var longestDelay: Duration
    /// The longest delay that a server may specify. If it specifies more, its response is final.
    package var longestWait: Duration
    /// Additional methods that are retried, such as `POST` for a search.
    package var methods: Set<String>
    /// Whether requests of every method are retried after 429 and 503: the server has refused them
    /// unread.
    package var repeatsRefused = false

    /// Creates a policy.
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

    /// A policy without retries.
    public static let never = RetryPolicy(attempts: 1)

    /// The outcome of an attempt.
    package enum Outcome: Sendable {
        /// A response.
        case answer(status: Int, headers: TransportHeaders)
        /// A failure without a response.
        case failure(TransportError.Kind)
    }

    /// The decision after an attempt.
    package enum Decision: Sendable, Hashable {
        /// The outcome is final.
        case giveUp
        /// The request is sent again after a delay.
        case again(after: Duration)
    }

    /// Decides whether a request is retried, and after which delay.
    ///
    /// - Parameters:
    ///   - attempt: the ordinal of the attempt, counted from 1.
    ///   - isRetryable: whether a rule of the user declares the outcome transient; nil for the
    ///     rules of this policy.
    ///   - random: a random number from 0 up to 1.
    package func decide(
        _ outcome: Outcome, method: String, attempt: Int, isRetryable: Bool? = nil, now: Date, random: Double
    ) -> Decision {
        guard attempt < attempts, isRetryable ?? RetryPolicy.isPassing(outcome), mayRepeat(method, outcome) else {
            return .giveUp
        }
        let delay = backoff(afterAttempt: attempt, random: random)
        guard case .answer(let status, let headers) = outcome else { return .again(after: delay) }
        guard let asked = RateLimit.wait(status: status, headers, now: now) else { return .again(after: delay) }
        // Jitter beyond the server's delay: other clients wait for the same moment.
        guard asked <= longestWait else { return .giveUp }
        // A server that demands no delay, or whose clock differs, must not use up the attempts.
        return .again(after: max(delay, asked + .seconds(clamping: random * min(1, asked.inSeconds / 10))))
    }

    /// Returns the delay after an attempt: a random fraction of the attempt's limit.
    func backoff(afterAttempt attempt: Int, random: Double) -> Duration {
        let limit = min(firstDelay.inSeconds * exp2(Double(min(max(attempt, 1), 60) - 1)), longestDelay.inSeconds)
        return .seconds(clamping: limit * random)
    }

    /// Returns whether a request may be repeated: by its method, or because it was never received.
    private func mayRepeat(_ method: String, _ outcome: Outcome) -> Bool {
        if repeats(method) { return true }
        switch outcome {
        case .failure(let kind): return kind == .resolve || kind == .connect || kind == .resources
        case .answer(let status, _): return repeatsRefused && (status == 429 || status == 503)
        }
    }

    /// Returns whether requests of a method may be repeated after every transient failure.
    func repeats(_ method: String) -> Bool { RetryPolicy.idempotent.contains(method) || methods.contains(method) }

    /// The safe methods of RFC 9110 §9.2.1, and QUERY (draft-ietf-httpbis-safe-method-w-body).
    static let safe: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]
    /// The idempotent methods of RFC 9110 §9.2.2, and QUERY.
    static let idempotent = safe.union(["PUT", "DELETE"])

    /// Returns whether an outcome is transient.
    package static func isPassing(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .answer(let status, let headers):
            switch status {
            case 408, 425, 429: true
            case 501, 505: false
            case 500...599: true
            // GitHub and others refuse requests over a rate limit with a 403.
            case 403: RateFields.statedWait(headers) != nil || RateLimit.isUsedUp(headers)
            default: false
            }
        case .failure(let kind):
            switch kind {
            case .resolve, .connect, .timeout, .cutShort, .resources: true
            case .url, .tls, .tooLarge, .protocol, .cancelled, .rateLimit, .credentials, .noFixture, .store: false
            }
        }
    }
}
