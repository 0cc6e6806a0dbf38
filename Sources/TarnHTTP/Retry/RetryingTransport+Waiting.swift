// Answers that come later, and those whose bodies have another form than one JSON document.

import Foundation

extension RetryingTransport {
    // MARK: Forms

    /// Returns a response with its JSON document as its body, if the request reads.
    func read(_ response: TransportResponse, _ request: TransportRequest) throws(TransportError) -> TransportResponse {
        guard request.isRead else { return response }
        return try response.document(as: form, of: request, limit: largestFile)
    }

    /// Returns an outcome with a JSON document as the body of its response.
    func read(
        _ result: Result<TransportResponse, TransportError>, _ request: TransportRequest
    ) -> Result<TransportResponse, TransportError> {
        guard request.isRead, case .success(let response) = result else { return result }
        do throws(TransportError) { return .success(try read(response, request)) } catch { return .failure(error) }
    }

    // MARK: Later answers

    /// Whether the answer to a request comes later.
    func isUnfinished(_ response: TransportResponse, _ request: TransportRequest) -> Bool {
        guard waits(for: request) else { return false }
        var progress = AnswerWait.Progress()
        return answerWait.step(
            after: response, mayRepeat: mayRepeat(request), attempts: policy.attempts, &progress,
            now: Date(timeIntervalSince1970: 0)) != .done
    }

    private func waits(for request: TransportRequest) -> Bool {
        request.isRead && request.method != "HEAD" && !answerWait.isNever
    }

    /// Whether a request may be sent again after a success.
    private func mayRepeat(_ request: TransportRequest) -> Bool {
        policy.repeats(request.method) || !answerWait.state.isEmpty
    }

    /// The first request of a wait: of the answer itself, or of the monitor of an interrupted wait.
    func begun(_ request: TransportRequest, _ progress: inout AnswerWait.Progress) -> TransportRequest {
        guard let monitor = request.monitor, waits(for: request) else { return request }
        // The description may permit other servers than in the earlier run.
        guard let url = try? permitted(monitor, from: request.url, request) else {
            var anew = request
            anew.monitor = nil
            return anew
        }
        (progress.monitor, progress.isResumed) = (url, true)
        return asking(url, for: request)
    }

    /// The rule for a response: the refusal of a monitor is none of the list, and must not end it.
    func rule(for response: TransportResponse, _ progress: AnswerWait.Progress) -> ResponseRule? {
        guard let rule = rules.first(for: response) else { return nil }
        guard progress.monitor != nil, !(200..<300).contains(response.status) else { return rule }
        return switch rule.action {
        case .retry, .refreshToken: rule
        case .fail where !progress.isResumed: rule
        case .fail, .ignore, .empty, .stop: nil
        }
    }

    /// The failure of a wait whose monitor refuses; nil if the response may be that of the request.
    ///
    /// A status such as 404 may end a list.
    private func failure(
        _ response: TransportResponse, _ request: TransportRequest, _ progress: AnswerWait.Progress
    ) -> TransportError? {
        guard progress.monitor != nil, (300..<500).contains(response.status), ![401, 403].contains(response.status),
            !RetryPolicy.isPassing(.answer(status: response.status, headers: response.headers))
        else { return nil }
        let said = String(decoding: response.shownBody.prefix(200), as: UTF8.self).singleLine
        return TransportError(
            .protocol, method: request.method, url: request.url,
            detail: "the status monitor of the answer says \(response.status)" + (said.isEmpty ? "" : ": \(said)"))
    }

    /// Waits if the answer to a request is not finished, and returns the next request.
    ///
    /// - Parameters:
    ///   - request: the last request.
    ///   - asked: the request of the answer.
    /// - Returns: nil if the response is the answer.
    /// - Throws: `.timeout` if the wait is over.
    func next(
        after response: TransportResponse, _ request: TransportRequest, _ asked: TransportRequest,
        _ progress: inout AnswerWait.Progress
    ) async throws(TransportError) -> TransportRequest? {
        guard waits(for: asked) else { return nil }
        if progress.isResumed, !(200..<300).contains(response.status) {
            // The server has forgotten the work of the earlier run.
            progress = AnswerWait.Progress()
            var anew = asked
            anew.monitor = nil
            return anew
        }
        if let failure = failure(response, request, progress) { throw failure }
        progress.isResumed = false
        let isAtMonitor = progress.monitor != nil
        let step = answerWait.step(
            after: response, mayRepeat: isAtMonitor || mayRepeat(request), attempts: policy.attempts, &progress,
            now: time.now())
        switch step {
        case .done: return nil
        case .nowhere:
            throw TransportError(
                .protocol, method: request.method, url: request.url,
                detail:
                    "the server works on the answer (\(response.status)), and no header field names where it will be; "
                    + "write wait: { url: … } at the endpoint, with the location of the URL in the response")
        case .tooLong:
            var late = TransportError(
                .timeout, method: request.method, url: request.url,
                detail: "the server has not finished the answer within the time of `wait: { at_most }`; sync again "
                    + "later, or write a longer time at the endpoint")
            // The requests of the wait were its attempts.
            late.isFinal = true
            throw late
        case .again(let delay, let reference):
            var next = request
            if let reference {
                let url = try permitted(reference, from: response.redirectedTo ?? request.url, request)
                next = asking(url, for: asked)
                // Many servers name the monitor in each of its answers.
                if !progress.isAtResult, url != request.url { await onMonitor?(asked, url) }
            }
            if delay > .zero { try await pause(delay, before: next, because: response, progress) }
            return next
        }
    }

    /// Returns the response to a request whose answer came later.
    ///
    /// Its validators are those of the monitor, and links in it are relative to the monitor.
    func finished(
        _ response: TransportResponse, _ request: TransportRequest, _ asked: TransportRequest
    ) -> TransportResponse {
        guard request.url != asked.url else { return response }
        var response = response
        response.cameLater = true
        response.redirectedTo = response.redirectedTo ?? request.url
        response.headers["ETag"] = nil
        response.headers["Last-Modified"] = nil
        return response
    }

    /// The request of a monitor, or of a result.
    private func asking(_ url: String, for asked: TransportRequest) -> TransportRequest {
        var request = asked
        (request.method, request.url, request.body, request.monitor) = ("GET", url, nil, nil)
        for name in ["Content-Type", "If-None-Match", "If-Modified-Since", "Prefer"] { request.headers[name] = nil }
        let isOther = (try? HTTPURL(url)).flatMap { url in (try? HTTPURL(asked.url)).map { !url.hasSameOrigin(as: $0) }
        }
        // A server of links gets none of the fields that only this API may see.
        if isOther ?? true { request.headers = request.headers.harmless }
        return request
    }

    private func permitted(
        _ reference: String, from url: String, _ request: TransportRequest
    ) throws(TransportError) -> String {
        let reason: String
        do throws(PaginationError) {
            if let permit { return try permit(reference, url) }
            let origin = (try? HTTPURL(url))?.origin ?? url
            return try PageSequence.Bounds(base: origin, pageLimit: 1).permitted(reference, relativeTo: url)
        } catch {
            reason = "\(error)"
        }
        throw TransportError(
            .protocol, method: request.method, url: request.url,
            detail: "the server names a status monitor that is not asked: \(reason)")
    }

    /// Waits before an unfinished answer is asked for again, and reports it.
    private func pause(
        _ delay: Duration, before request: TransportRequest, because response: TransportResponse,
        _ progress: AnswerWait.Progress
    ) async throws(TransportError) {
        RequestProgress.current?.waits()
        if let onWait, let url = try? HTTPURL(request.url) {
            var wait = RequestWait(
                origin: url.origin, until: time.now().addingTimeInterval(delay.inSeconds), reason: .answer)
            wait.attempt = progress.count + 1
            let shown = response.headers["X-Progress"].map { " " + $0.excerpt.singleLine } ?? ""
            wait.cause = "\(response.status)\(shown)"
            onWait(wait)
        }
        do { try await time.sleep(delay) } catch {
            throw TransportError(.cancelled, method: request.method, url: request.url, detail: "the task was cancelled")
        }
    }
}
