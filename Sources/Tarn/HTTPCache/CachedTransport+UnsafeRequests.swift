// Requests that a cache does not answer, and what they invalidate.

import TarnHTTP

extension CachedTransport {
    /// Forwards a request with a method or a URL that cannot be cached.
    ///
    /// - Parameter scope: the scope of the response; nil if it must not be stored.
    func passOn(_ request: TransportRequest, _ scope: CacheScope?) async throws -> Answer {
        // A store that cannot be read does not hold up the request.
        let requestTime = now, state = scope == nil ? nil : try? state(request.url)
        let response: TransportResponse
        do throws(TransportError) { response = try await inner.send(request) } catch let failure {
            await invalidate(after: request, failure)
            throw failure
        }
        let invalid = CacheRules.invalidated(by: request, response)
        // Another unsafe request was answered meanwhile: the order of the two is unknown.
        let isLast = state.map { (try? $0.hasEnded(shelf.unsafeRequests)) == false } ?? false
        var answer = Answer(
            response: response, status: CacheStatus(forward: .method, forwardStatus: response.status),
            decision: CacheDecision(.miss, .methodNotCacheable))
        if !invalid.isEmpty {
            // First, so that a transfer under way either is not stored, or is invalidated.
            let resources = states.end(invalid)
            let done = try await attempt { try await shelf.invalidate(invalid, overtaking: resources) }
            if case .failure(let failure) = done {
                answer.note(failure)
                return answer
            }
        }
        if var scope, isLast, scope.rules.storability(ofPost: response, to: request) == .storable, fits(response) {
            scope.state = try self.state(request.url)
            let message = message(of: response, to: request, scope, requestTime), scope = scope
            switch try await attempt({ try await shelf.keep(message, response, request.url, scope) }) {
            case .success(let stored): answer.status.isStored = stored != nil
            case .failure(let failure): answer.note(failure)
            }
        }
        return answer
    }

    /// Invalidates what an unsafe request without a usable response may have changed.
    ///
    /// The server may have carried it out, unless the request was certainly not sent.
    private func invalidate(after request: TransportRequest, _ failure: TransportError) async {
        switch failure.kind {
        case .resolve, .connect, .tls, .credentials, .rateLimit, .noFixture, .store, .resources: return
        case .url, .timeout, .tooLarge, .cutShort, .protocol, .cancelled: break
        }
        let invalid = CacheRules.invalidated(by: request, failure.answer ?? TransportResponse(status: 200))
        guard !invalid.isEmpty else { return }
        let resources = states.end(invalid)
        // In a task of its own: that of the request may be cancelled. What cannot be written is
        // kept for the next write.
        _ = await Task { [shelf] in try? await shelf.invalidate(invalid, overtaking: resources) }.value
    }
}
