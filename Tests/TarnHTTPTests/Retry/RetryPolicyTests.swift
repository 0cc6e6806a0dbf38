// The retry rules as a table: whether to retry, and when.

import Foundation
import Testing

@testable import TarnHTTP

@Suite("Retry policy")
struct RetryPolicyTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var outcome: RetryPolicy.Outcome
        var method = "GET"
        var attempt = 1
        var isRetryable: Bool?
        var policy = RetryPolicy()
        /// Nil if there is no retry; else its delay in seconds, with a random factor of one half.
        var after: Double?
        var testDescription: String { name }
    }

    static func answer(_ status: Int, _ fields: [String: String] = [:]) -> RetryPolicy.Outcome {
        .answer(status: status, headers: TransportHeaders(fields.map { .init($0.key, $0.value) }))
    }

    static let now = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    static let rows: [Row] =
        [408, 425, 429, 500, 502, 503, 504, 507, 599].map { Row(name: "\($0)", outcome: answer($0), after: 0.25) }
        + [200, 204, 301, 304, 400, 401, 403, 404, 409, 410, 422, 501, 505].map {
            Row(name: "\($0)", outcome: answer($0))
        }
        + ([.resolve, .connect, .timeout, .cutShort, .resources] as [TransportError.Kind]).map {
            Row(name: "\($0)", outcome: .failure($0), after: 0.25)
        }
        + ([.url, .tls, .tooLarge, .protocol, .cancelled, .noFixture, .rateLimit, .credentials] as [TransportError.Kind])
        .map {
            Row(name: "\($0)", outcome: .failure($0))
        }
        + ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"].map {
            Row(name: $0, outcome: answer(503), method: $0, after: 0.25)
        }
        + ["POST", "PATCH", "get"].map { Row(name: $0, outcome: answer(503), method: $0) }
        + [
            Row(
                name: "a POST that the user allows", outcome: answer(503), method: "POST",
                policy: RetryPolicy(methods: ["POST"]), after: 0.25),
            Row(name: "a POST that reached nobody", outcome: .failure(.connect), method: "POST", after: 0.25),
            Row(name: "a POST whose answer was cut short", outcome: .failure(.cutShort), method: "POST"),
            Row(name: "a POST whose host has no address", outcome: .failure(.resolve), method: "POST", after: 0.25),
            Row(name: "the second try", outcome: answer(500), attempt: 2, after: 0.5),
            Row(name: "the third try", outcome: answer(500), attempt: 3, after: 1),
            Row(name: "the last try", outcome: answer(500), attempt: 4),
            Row(
                name: "the wait has a cap", outcome: answer(500), attempt: 20, policy: RetryPolicy(attempts: 99),
                after: 15),
            Row(
                name: "the wait does not overflow", outcome: answer(500), attempt: Int.max - 1,
                policy: RetryPolicy(attempts: Int.max), after: 15),
            Row(name: "no second try", outcome: answer(500), policy: .never),
            Row(name: "Retry-After in seconds", outcome: answer(503, ["Retry-After": "7"]), after: 7.35),
            Row(name: "Retry-After with a fraction", outcome: answer(429, ["Retry-After": "0.5"]), after: 0.525),
            Row(
                name: "Retry-After as a date", outcome: answer(503, ["Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"]),
                after: 60.5),
            Row(
                name: "Retry-After as a date that has passed",
                outcome: answer(503, ["Retry-After": "Sun, 06 Nov 1994 08:00:00 GMT"]), after: 0.25),
            Row(name: "Retry-After of no time", outcome: answer(429, ["Retry-After": "0"]), after: 0.25),
            Row(name: "Retry-After that is nothing", outcome: answer(503, ["Retry-After": "soon"]), after: 0.25),
            Row(name: "Retry-After below zero", outcome: answer(503, ["Retry-After": "-5"]), after: 0.25),
            Row(name: "Retry-After beyond the limit", outcome: answer(503, ["Retry-After": "301"])),
            Row(
                name: "Retry-After within a larger limit", outcome: answer(503, ["Retry-After": "301"]),
                policy: RetryPolicy(longestWait: .seconds(600)), after: 301.5),
            Row(name: "Retry-After that no number holds", outcome: answer(503, ["Retry-After": "1e999"]), after: 0.25),
            Row(
                name: "a rate limit that is used up", outcome: answer(429, ["RateLimit": #""default";r=0;t=30"#]),
                after: 30.5),
            Row(
                name: "403 over a rate limit",
                outcome: answer(403, ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "784111797"]), after: 20.5),
            Row(name: "403 with Retry-After", outcome: answer(403, ["Retry-After": "2"]), after: 2.1),
            Row(
                name: "403 with requests left",
                outcome: answer(403, ["X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "784111797"])),
            Row(name: "200 that a rule calls a failure", outcome: answer(200), isRetryable: true, after: 0.25),
            Row(name: "500 that a rule calls final", outcome: answer(500), isRetryable: false),
        ]

    @Test("what is tried again, and after how long", arguments: rows)
    func decision(_ row: Row) {
        let decision = row.policy.decide(
            row.outcome, method: row.method, attempt: row.attempt, isRetryable: row.isRetryable, now: Self.now,
            random: 0.5)
        #expect(decision == row.after.map { .again(after: .seconds(clamping: $0)) } ?? .giveUp)
    }

    @Test("a request that the server has refused unread may be repeated whatever its method, where that is allowed")
    func refusedUnread() {
        var policy = RetryPolicy()
        policy.repeatsRefused = true
        func decide(_ outcome: RetryPolicy.Outcome) -> RetryPolicy.Decision {
            policy.decide(outcome, method: "POST", attempt: 1, now: Self.now, random: 0.5)
        }
        for status in [429, 503] { #expect(decide(Self.answer(status)) == .again(after: .milliseconds(250))) }
        for status in [408, 500, 502] { #expect(decide(Self.answer(status)) == .giveUp) }
        #expect(decide(.failure(.cutShort)) == .giveUp && decide(.failure(.timeout)) == .giveUp)
    }

    @Test("the wait is any length up to its limit, so that clients that failed together come back apart")
    func jitter() {
        let policy = RetryPolicy()
        #expect(policy.backoff(afterAttempt: 1, random: 0) == .zero)
        #expect(policy.backoff(afterAttempt: 1, random: 0.999) < .milliseconds(500))
        #expect(policy.backoff(afterAttempt: 3, random: 0.999) > .milliseconds(1990))
        #expect(policy.backoff(afterAttempt: 12, random: 0.999) <= policy.longestDelay)
    }
}
