// The transport that retries requests.

import Logging
import Metrics

/// A transport that retries requests by a ``RetryPolicy`` and the user's rules.
package struct RetryingTransport: Transport {
    /// Renews the credentials, unless those of a generation are replaced already.
    ///
    /// - Returns: false if there are no other ones.
    package typealias Refresh = @Sendable (_ generation: Int?) async throws(TransportError) -> Bool

    /// The parts that do not change. A class: the completion of each request keeps them.
    private final class Parts: Sendable {
        let inner: any Transport
        let direct: (any DirectTransport)?
        let policy: RetryPolicy
        let rules: [ResponseRule]
        let refresh: Refresh?
        let time: TimeSource
        let logger: Logger?
        let secretParameters: Set<String>

        init(
            _ inner: any Transport, _ policy: RetryPolicy, _ rules: [ResponseRule],
            _ refresh: Refresh?, _ time: TimeSource, _ logger: Logger?, _ secretParameters: Set<String>
        ) {
            self.inner = inner
            direct = inner as? any DirectTransport
            self.policy = policy
            self.rules = rules
            self.refresh = refresh
            self.time = time
            self.logger = logger
            self.secretParameters = secretParameters
        }
    }

    private let parts: Parts
    var policy: RetryPolicy { parts.policy }
    var rules: [ResponseRule] { parts.rules }
    var time: TimeSource { parts.time }
    /// The function that is called before the delay of every retry.
    package var onWait: (@Sendable (RequestWait) -> Void)?
    /// The form of the responses to requests that read.
    package var form = BodyForm.json
    /// The limit of a file after decompression, in bytes; nil for ``BodyForm/largestFile``.
    package var largestFile: Int?
    /// The rule by which requests that read are repeated until their answer is finished.
    package var answerWait = AnswerWait()
    /// Returns the URL to request for one that a response names, relative to another one; nil if
    /// only the server of the request is permitted.
    ///
    /// - Throws: `PaginationError` if the URL leads to another server.
    package var permit: (@Sendable (_ reference: String, _ url: String) throws(PaginationError) -> String)?
    /// The function that is called with a request, and with the URL of the status monitor that has
    /// its answer later.
    package var onMonitor: (@Sendable (_ request: TransportRequest, _ monitor: String) async -> Void)?

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - rules: the first rule that matches a response takes precedence over the policy.
    ///   - refresh: renews the credentials for ``ResponseRule/Action/refreshToken``.
    ///   - secretParameters: query parameters whose values are secrets, for the log.
    package init(
        _ inner: any Transport, policy: RetryPolicy = RetryPolicy(), rules: [ResponseRule] = [],
        refresh: Refresh? = nil, time: TimeSource = .system, logger: Logger? = nil,
        secretParameters: Set<String> = []
    ) {
        parts = Parts(inner, policy, rules, refresh, time, logger, secretParameters)
    }

    /// Sends a request until an outcome is final.
    ///
    /// - Returns: the last response, even if its status is transient.
    package func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        try await send(request, first: nil)
    }

    /// Starts a request without a task. Only retries need one.
    ///
    /// - Parameters:
    ///   - transfer: the handle that cancels the request, and its retries.
    ///   - completion: called exactly once, on any thread, unless false is returned.
    /// - Returns: false if only ``send(_:)`` can send the request.
    package func start(
        _ request: TransportRequest, _ transfer: DirectTransfer, _ completion: @escaping DirectTransfer.Completion
    ) -> Bool {
        guard let direct = parts.direct, let url = try? HTTPURL(request.url) else { return false }
        let started = DirectRequest(request, url)
        // The wait for an interrupted answer goes on at its monitor.
        guard request.monitor == nil else { return false }
        return direct.start(started, transfer) { [self] result in
            let result = read(result, request)
            guard isFinal(result, request) else {
                return transfer.resume(completion) { () async throws(TransportError) in
                    try await send(started.request, first: result)
                }
            }
            completion(result)
        }
    }

    /// Whether the outcome of a first attempt is that of the request: no rule applies, and it is
    /// not transient.
    private func isFinal(
        _ result: Result<TransportResponse, TransportError>, _ request: TransportRequest
    ) -> Bool {
        switch result {
        case .success(let response):
            rules.first(for: response) == nil
                && !RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers))
                && !isUnfinished(response, request)
        case .failure(let error): error.isFinal || !RetryPolicy.isPassing(.failure(error.kind))
        }
    }

    /// Sends a request until an outcome is final.
    ///
    /// - Parameter first: the outcome of the first attempt; nil if it is still to be made.
    private func send(
        _ request: TransportRequest, first: Result<TransportResponse, TransportError>?
    ) async throws(TransportError) -> TransportResponse {
        var attempt = 1, mayRefresh = parts.refresh != nil, known = first, waited = AnswerWait.Progress()
        let asked = request
        var request = begun(asked, &waited)
        while true {
            request.isRetry = attempt > 1
            let failure: TransportError
            do throws(TransportError) {
                let response: TransportResponse
                if let first = known {
                    known = nil
                    response = try first.get()
                } else {
                    response = try read(await parts.inner.send(request), request)
                }
                let rule = rule(for: response, waited)
                if rule == nil,
                    !RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers))
                {
                    guard let next = try await next(after: response, request, asked, &waited) else {
                        return finished(response, request, asked)
                    }
                    (request, attempt) = (next, 1)
                    continue
                }
                // Sent again, the request would take effect again.
                if response.isBehindEffect, !policy.repeats(request.method) { return response }
                if rule?.action == .refreshToken, mayRefresh, let refresh = parts.refresh {
                    mayRefresh = false
                    if try await refresh(response.generation) { continue }
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
                // The transport of tokens has its own retries.
                if error.isFinal || error.isBehindEffect && !policy.repeats(request.method) { throw error }
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
            // The unused connections stay as dead as they were, whatever has failed since.
            request.needsNewConnection = request.needsNewConnection || failure.isOfUsedConnection
            attempt += 1
        }
    }

    /// Waits before a retry, and reports it.
    private func pause(
        _ delay: Duration, before request: TransportRequest, attempt: Int, because reason: String,
        _ kind: RequestWait.Reason
    ) async throws(TransportError) {
        RequestProgress.current?.waits()
        Counter(label: "tarn_http_retries", dimensions: [("reason", reason)]).increment()
        parts.logger?.notice(
            "retrying request",
            metadata: [
                "method": "\(request.method)",
                "url": "\(Redaction.url(request.url, hiding: parts.secretParameters))", "reason": "\(reason)",
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
