// What goes to the server, and what becomes of its answer (RFC 9111 §4.3).

import Foundation
import TarnHTTP
import TarnStore

extension CachedTransport {
    func forward(_ request: HTTPRequest, _ url: String, _ decision: CacheDecision, isConditional: Bool = true) async throws -> Fetched {
        let isPlain = request.headers["Range"] == nil && decision.rule != .preconditionIsTheServers
        let found = isPlain ? try shelf.find(request, url, now: now) : nil
        var sent = request
        if let found, isConditional, request.method == "GET" { sent = options.rules.validation(of: found.response, for: request) }
        let requestTime = now
        var status = CacheStatus(forward: decision.rule.forward)
        let response: HTTPResponse
        do {
            response = try await inner.send(sent)
        } catch {
            let failure: CacheRules.Failure = error.isUnreachable ? .disconnected : .error(status: nil)
            guard error.kind != .cancelled, let fetched = try stale(found, request, failure) else { throw error }
            return fetched
        }
        status.forwardStatus = response.status
        if request.method == "HEAD" {
            try await updateByHead(response, request, url, requestTime)
            return Fetched(answer: Answer(response: response, status: status, decision: decision))
        }
        guard let found, isConditional else { return try await taken(response, request, url, decision, status, requestTime, old: found) }
        switch options.rules.validate(found.response, with: response) {
        case .confirmed(let headers):
            let fresh = options.rules.freshened(found.response, headers, requestTime: requestTime, responseTime: now)
            guard let kept = try await shelf.confirm(found, fresh), var answer = try served(kept, request, decision, isValidated: true) else {
                return try await forward(request, url, decision, isConditional: false)
            }
            status.isStored = true
            answer.status = status
            return Fetched(answer: answer, stored: kept)
        case .mismatched:
            return try await forward(request, url, decision, isConditional: false)
        case .failed(let code):
            if let fetched = try stale(found, request, .error(status: code)) { return fetched }
            return Fetched(answer: Answer(response: response, status: status, decision: decision))
        case .replaced:
            return try await taken(response, request, url, decision, status, requestTime, old: found)
        }
    }

    /// What is stored in the place of an answer that did not come; nil if nothing allows it.
    private func stale(_ found: StoredMessage?, _ request: HTTPRequest, _ failure: CacheRules.Failure) throws -> Fetched? {
        let decision = options.rules.decide(request, found?.response, at: now, after: failure)
        guard let found, decision.isHit, var answer = try served(found, request, decision, isValidated: false) else { return nil }
        answer.status.detail = decision.rule.rawValue
        return Fetched(answer: answer, stored: found)
    }

    /// Stores a response if that is allowed, and makes of it what the request wants.
    private func taken(
        _ response: HTTPResponse, _ request: HTTPRequest, _ url: String, _ decision: CacheDecision, _ status: CacheStatus, _ requestTime: Int,
        old: StoredMessage?
    ) async throws -> Fetched {
        var status = status
        let passed = Answer(response: response, status: status, decision: decision)
        guard options.rules.storability(of: response, to: request) == .storable, response.body.count <= options.maximumBodySize else {
            // What is stored is not what the server says now; a part, or a failure, says nothing about it.
            let isOther = (200..<300).contains(response.status) && response.status != 206 || response.status == 404 || response.status == 410
            if let old, isOther { try await shelf.remove(old) }
            return Fetched(answer: passed)
        }
        let message = CachedResponse(
            status: response.status, headers: options.rules.storedFields(of: HTTPHeaders(stored: response)),
            selecting: CacheRules.selectingFields(of: request.headers, by: response.headers), requestTime: requestTime, responseTime: now)
        let stored = try await shelf.keep(message, response, request, url)
        status.isStored = true
        // The client's own condition was not sent along: it is judged by what has come.
        if options.rules.clientHasCurrent(message, request.headers, at: now) {
            let headers = CacheRules.notModifiedFields(response.headers)
            return Fetched(answer: Answer(response: HTTPResponse(status: 304, headers: headers), status: status, decision: decision), stored: stored)
        }
        return Fetched(answer: Answer(response: response, status: status, decision: decision), stored: stored)
    }

    /// RFC 9111 §4.3.5.
    private func updateByHead(_ response: HTTPResponse, _ request: HTTPRequest, _ url: String, _ requestTime: Int) async throws {
        var get = request
        get.method = "GET"
        guard response.status == 200, let found = try shelf.find(get, url, now: now) else { return }
        if let headers = options.rules.updated(found.response, byHead: response) {
            let fresh = options.rules.freshened(found.response, headers, requestTime: requestTime, responseTime: now)
            _ = try await shelf.confirm(found, fresh)
        } else {
            try await shelf.invalidate([url])
        }
    }
}
