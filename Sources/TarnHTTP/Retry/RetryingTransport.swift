// The transport that retries requests.

import Logging
import Metrics

/// A transport that retries requests by a ``RetryPolicy`` and the user's rules.
package struct RetryingTransport: Transport {
    private let inner: any Transport
    private let policy: RetryPolicy
    private let rules: [ResponseRule]
    private let refresh: (@Sendable () async throws(TransportError) -> Bool)?
    private let time: TimeSource
    private let logger: Logger?
    /// The function that is called before the delay of every retry.
    package var onWait: (@Sendable (RequestWait) -> Void)?

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - rules: the first rule that matches a response takes precedence over the policy.
    ///   - refresh: renews the credentials for ``ResponseRule/Action/refreshToken``; false if there
    ///     are no new ones.
    package init(
        _ inner: any Transport, policy: RetryPolicy = RetryPolicy(), rules: [ResponseRule] = [],
        refresh: (@Sendable () async throws(TransportError) -> Bool)? = nil, time: TimeSource = .system,
        logger: Logger? = nil
    ) {
        self.inner = inner
        self.policy = policy
        self.rules = rules
        self.refresh = refresh
        self.time = time
        self.logger = logger
    }

    /// Sends a request until an outcome is final.
    ///
    /// - Returns: the last response, even if its status is transient.
    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        var attempt = 1, mayRefresh = refresh != nil
        while true {
            let failure: TransportError
            do throws(TransportError) {
                let response = try await inner.send(request)
                let rule = rules.first(for: response)
                if rule?.action == .refreshToken, mayRefresh, let refresh {
                    mayRefresh = false
                    if try await refresh() { continue }
                }
                let decision = policy.decide(
                    .answer(status: response.status, headers: response.headers), method: request.method,
                    attempt: attempt,
                    isRetryable: rule.map { $0.action == .retry }, now: time.now(), random: time.random())
                guard case .again(let delay) = decision else { return response }
                let isAsked = RateLimit.wait(status: response.status, response.headers, now: time.now()) != nil
                try await pause(
                    delay, before: request, attempt: attempt, because: "\(response.status)", isAsked ? .limit : .retry)
                attempt += 1
                continue
            } catch {
                failure = error
            }
            let decision = policy.decide(
                .failure(failure.kind), method: request.method, attempt: attempt, now: time.now(), random: time.random()
            )
            guard case .again(let delay) = decision else {
                var last = failure
                if attempt > 1, failure.kind != .cancelled { last.detail += " (after \(attempt) attempts)" }
                throw last
            }
            try await pause(delay, before: request, attempt: attempt, because: failure.kind.rawValue, .retry)
            attempt += 1
        }
    }

    /// Waits before a retry, and reports it.
    private func pause(
        _ delay: Duration, before request: TransportRequest, attempt: Int, because reason: String,
        _ kind: RequestWait.Reason
    ) async throws(TransportError) {
        Counter(label: "tarn_http_retries", dimensions: [("reason", reason)]).increment()
        logger?.notice(
            "retrying request",
            metadata: [
                "method": "\(request.method)", "url": "\(Redaction.url(request.url))", "reason": "\(reason)",
                "attempt": "\(attempt)",
                "delay": "\(delay)",
            ])
        if let onWait, let url = try? HTTPURL(request.url) {
            var wait = RequestWait(
                origin: url.origin, until: time.now().addingTimeInterval(delay.inSeconds), reason: kind)
            wait.attempt = attempt + 1
            wait.attempts = policy.attempts
            wait.cause = reason
            onWait(wait)
        }
        do {
            try await time.sleep(delay)
        } catch {
            throw TransportError(.cancelled, method: request.method, url: request.url, detail: "the task was cancelled")
        }
    }
}
