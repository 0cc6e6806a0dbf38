// Requests to the server, and the processing of its responses (RFC 9111 §4.3).

import Foundation
import TarnHTTP

extension CachedTransport {
    func forward(
        _ request: TransportRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision,
        isConditional: Bool = true
    ) async throws -> Fetched {
        var received: ContinuousClock.Instant?
        var fetched = try await forwarded(request, url, scope, decision, &received, isConditional: isConditional)
        fetched.receivedAt = received
        return fetched
    }

    private func forwarded(
        _ request: TransportRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision,
        _ received: inout ContinuousClock.Instant?, isConditional: Bool = true
    ) async throws -> Fetched {
        let rules = scope.rules, wantsPart = wantsPart(request)
        var found: StoredMessage?
        if decision.rule != .preconditionIsTheServers {
            found = try selected(request, url, scope)
            if found == nil, wantsPart { found = try selected(request, url, scope, isPart: true) }
        }
        // A request for several ranges, or for one that is not stored, cannot validate the entry.
        if wantsPart, let message = found, !couldServe(message, request) { found = nil }
        var sent = request
        if let found, isConditional, request.method == "GET" {
            sent = rules.validation(of: found.response, for: request, keepsRange: wantsPart)
        }
        let requestTime = now
        var status = CacheStatus(forward: decision.rule.forward)
        let response: TransportResponse
        do {
            response = try await inner.send(sent)
        } catch {
            let failure: CacheRules.Failure = error.isUnreachable ? .disconnected : .error(status: nil)
            guard error.kind != .cancelled, let fetched = try stale(found, request, scope, failure) else { throw error }
            return fetched
        }
        received = ContinuousClock.now
        status.forwardStatus = response.status
        if request.method == "HEAD" {
            var answer = Answer(response: response, status: status, decision: decision)
            let updated = try await attempt { try await updateByHead(response, request, url, scope, requestTime) }
            if case .failure(let failure) = updated { answer.note(failure) }
            return Fetched(answer: answer)
        }
        guard let found, isConditional else {
            return try await taken(
                response, request, url, scope, decision, status, requestTime, old: found, isValidation: false)
        }
        switch rules.validate(found.response, with: response) {
        case .confirmed(let headers):
            let fresh = rules.freshened(
                found.response, headers, to: request.headers, requestTime: requestTime, responseTime: now)
            guard
                let fetched = try await confirmed(
                    found, fresh, by: response.headers, request, url, scope, decision, status)
            else {
                return try await forwarded(request, url, scope, decision, &received, isConditional: false)
            }
            return fetched
        case .mismatched:
            return try await forwarded(request, url, scope, decision, &received, isConditional: false)
        case .failed(let code):
            if let fetched = try stale(found, request, scope, .error(status: code)) { return fetched }
            return Fetched(answer: Answer(response: response, status: status, decision: decision))
        case .replaced:
            return try await taken(
                response, request, url, scope, decision, status, requestTime, old: found, isValidation: true)
        }
    }

    /// Keeps the stored response that the server has confirmed, and answers with it.
    ///
    /// - Parameters:
    ///   - fresh: the response with the fields of the confirmation (RFC 9111 §4.3.4).
    ///   - headers: those of the confirmation.
    /// - Returns: nil if the stored response cannot be served.
    private func confirmed(
        _ found: StoredMessage, _ fresh: CachedResponse, by headers: TransportHeaders, _ request: TransportRequest,
        _ url: String, _ scope: CacheScope, _ decision: CacheDecision, _ status: CacheStatus
    ) async throws -> Fetched? {
        let rules = scope.rules, keeps = rules.keeps(headers, to: request)
        var kept: StoredMessage? = found
        kept?.response = fresh
        let confirmed = try await keeps ? attempt { try await shelf.confirm(found, fresh, scope) } : .success(kept)
        if case .success(let message) = confirmed { kept = message }
        guard let kept, var answer = try served(kept, request, scope, decision, isValidated: true) else { return nil }
        CacheRules.addCookies(of: headers, to: &answer.response.headers)
        answer.status = status
        if case .failure(let failure) = confirmed {
            answer.note(failure)
            return Fetched(answer: answer)
        }
        guard keeps else {
            answer.status.isStored = false
            return Fetched(answer: answer)
        }
        // A 304 may forbid the storage that the stored response has allowed.
        let control = CacheControl(fresh.headers)
        let isStored =
            rules.permits(fresh, for: request) && (control.mustUnderstand || !control.noStore)
            && rules.selects(fresh, for: request)
        answer.status.isStored = isStored
        if !isStored, case .failure(let failure) = try await attempt({ try await shelf.remove(kept, url) }) {
            answer.note(failure)
        }
        return Fetched(answer: answer, stored: isStored ? kept : nil)
    }

    /// The stored response that the request's fields select.
    ///
    /// A response of another variant is excluded: its date proves nothing about this one, and it is
    /// no answer to the request.
    private func selected(_ request: TransportRequest, _ url: String, _ scope: CacheScope, isPart: Bool = false) throws
        -> StoredMessage?
    {
        try shelf.find(request, url, scope, now: now, isPart: isPart).flatMap {
            scope.rules.select([$0.response], for: request, at: now) == nil ? nil : $0
        }
    }

    /// The stored response that replaces one that did not arrive; nil if no rule allows it.
    private func stale(
        _ found: StoredMessage?, _ request: TransportRequest, _ scope: CacheScope, _ failure: CacheRules.Failure
    ) throws -> Fetched? {
        let decision = scope.rules.decide(request, found?.response, at: now, after: failure)
        guard let found, decision.isHit, var answer = try served(found, request, scope, decision, isValidated: false)
        else { return nil }
        answer.status.detail = decision.rule.rawValue
        return Fetched(answer: answer, stored: found)
    }

    /// Stores a response if that is allowed, and adapts it to the request.
    ///
    /// - Parameter isValidation: whether the stored response's validators were sent instead of the
    ///   client's condition.
    private func taken(
        _ response: TransportResponse, _ request: TransportRequest, _ url: String, _ scope: CacheScope,
        _ decision: CacheDecision,
        _ status: CacheStatus,
        _ requestTime: Int, old: StoredMessage?, isValidation: Bool
    ) async throws -> Fetched {
        var answer = Answer(response: response, status: status, decision: decision)
        if response.status == 206 {
            switch try await attempt({ try await takePart(response, request, url, scope, requestTime) }) {
            case .success(let isStored): answer.status.isStored = isStored
            case .failure(let failure): answer.note(failure)
            }
            return Fetched(answer: answer)
        }
        guard scope.rules.storability(of: response, to: request) == .storable, fits(response) else {
            // The stored response is no longer what the server sends. A failure is no evidence of
            // that.
            let isOther = (200..<300).contains(response.status) || response.status == 404 || response.status == 410
            if let old, isOther, case .failure(let failure) = try await attempt({ try await shelf.remove(old, url) }) {
                answer.note(failure)
            }
            return Fetched(answer: answer)
        }
        let message = message(of: response, to: request, scope, requestTime)
        var stored: StoredMessage?
        switch try await attempt({ try await shelf.keep(message, response, url, scope) }) {
        case .success(let kept):
            stored = kept
            answer.status.isStored = kept != nil
        case .failure(let failure): answer.note(failure)
        }
        // The server has evaluated a forwarded condition. Another one is evaluated here, and so is
        // a tag: the client has what has come.
        if isValidation || request.headers["If-None-Match"] != nil,
            scope.rules.clientHasCurrent(message, request.headers, at: now)
        {
            let headers = CacheRules.notModifiedFields(response.headers)
            answer.response = TransportResponse(status: 304, headers: headers)
        }
        return Fetched(answer: answer, stored: stored)
    }

    /// Stores a part of a representation (RFC 9111 §3.3, §3.4).
    private func takePart(
        _ response: TransportResponse, _ request: TransportRequest, _ url: String, _ scope: CacheScope,
        _ requestTime: Int
    ) async throws -> Bool {
        guard scope.rules.storability(ofPart: response, to: request, at: now) == .storable, fits(response),
            let part = ContentRange(response)
        else { return false }
        var message = message(of: response, to: request, scope, requestTime)
        // These fields describe the received range, not the stored parts.
        (message.headers["Content-Range"], message.headers["Content-Length"]) = (nil, nil)
        return try await shelf.keep(part, response.body, message, url, scope, now: now)
    }

    /// Updates or invalidates the stored response by a HEAD (RFC 9111 §4.3.5).
    private func updateByHead(
        _ response: TransportResponse, _ request: TransportRequest, _ url: String, _ scope: CacheScope,
        _ requestTime: Int
    ) async throws {
        var get = request
        get.method = "GET"
        guard response.status == 200, let found = try selected(get, url, scope) else { return }
        switch scope.rules.update(of: found.response, size: found.size, byHead: response, to: get) {
        case .none: break
        case .confirmed(let headers):
            let fresh = scope.rules.freshened(
                found.response, headers, to: request.headers, requestTime: requestTime, responseTime: now)
            _ = try await shelf.confirm(found, fresh, scope)
        case .outdated: try await shelf.invalidate([url])
        }
    }
}
