// Transfers that processes share: one requests a response, and the others wait for it.

import Foundation
import TarnHTTP
import TarnStore

extension CachedTransport {
    /// The longest wait for another process's transfer of the same response.
    private static let longestWait = Duration.seconds(5)

    /// Runs one transfer for all processes. After a wait, the store is searched again.
    ///
    /// If the server is asked by policy, only a response that was confirmed during the wait is an
    /// answer: the other process may have failed.
    func claimed(_ request: TransportRequest, _ url: String, _ scope: CacheScope, _ decision: CacheDecision)
        async throws -> Fetched
    {
        // Each proxy adds its own name to Via. If a response varies by it, the search tells.
        var plain = request
        plain.headers["Via"] = nil
        let digest = digest(plain, url, scope.state)
        guard let claims else { return try await forward(request, url, scope, decision) }
        var hasWaited = false, isClaimed = true
        let deadline = ContinuousClock.now + CachedTransport.longestWait
        let began = decision.rule == .policy ? Timestamp(options.time.now()) : nil
        while claims.claim(digest) == .isAnothers {
            // Others may be faster again and again, if nothing is stored.
            guard ContinuousClock.now < deadline else {
                isClaimed = false
                break
            }
            hasWaited = true
            try await Task.sleep(for: .milliseconds(10))
        }
        defer { if isClaimed { claims.release(digest) } }
        if hasWaited, let found = try shelf.find(request, url, scope, now: now),
            // One of the future was confirmed before, while the clock was ahead.
            began.map({ $0 <= found.confirmedAt && found.confirmedAt <= max($0, Timestamp(options.time.now())) })
                ?? true
        {
            let again = scope.rules.decide(request, found.response, at: now)
            if again.isHit, var answer = try served(found, request, scope, again, isValidated: false) {
                answer.status.isCollapsed = true
                return Fetched(answer: answer, stored: found)
            }
        }
        return try await forward(request, url, scope, decision)
    }

    /// The digest of a request: equal for equal method, URL and header fields.
    ///
    /// Requests after an unsafe one do not join transfers that began before it.
    func digest(_ request: TransportRequest, _ url: String, _ state: ResourceState? = nil) -> RequestDigest {
        var lines = request.headers.fields.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        // The number is one of this process: another one's lock must not be the same.
        if let state, state.number > 0 { lines.append("\(state.number) of process \(getpid())") }
        return RequestKey(
            method: request.method, url: url, endpoint: ResponseStore.endpoint,
            authScope: lines.joined(separator: "\n")
        ).digest
    }
}
