// Policies that ask the server first.

import Foundation
import TarnHTTP

extension CachedTransport {
    /// Answers a GET or HEAD from the server.
    ///
    /// With ``CachePolicy/networkFirst`` the request is conditional, and the store answers if the
    /// server fails, where no rule forbids it.
    func serversAnswer(
        _ request: TransportRequest, _ url: String, _ scope: CacheScope, _ policy: CachePolicy
    ) async throws -> Answer {
        guard policy == .networkOnly else {
            // A condition that only the server can evaluate is not replaced by another one.
            let blind = scope.rules.decide(request, nil, at: now)
            let isServers = blind.rule == .preconditionIsTheServers
            return try await fetched(request, url, scope, isServers ? blind : CacheDecision(.revalidate, .policy))
        }
        var request = request, scope = scope
        // It forbids every stored response, also instead of a failure, here and on the way.
        request.headers.fields.append(.init("Cache-Control", "no-cache"))
        scope.state = try state(url)
        return try await forward(request, url, scope, CacheDecision(.miss, .policy), isConditional: false).answer
    }

    /// Explains the decision about a request by a policy. Nothing is sent.
    ///
    /// - Throws: as ``explain(_:)``.
    package func explain(_ request: TransportRequest, policy: CachePolicy) throws -> CacheExplanation {
        var explanation = try explain(request)
        guard !policy.looksFirst, explanation.decision.rule != .credentials else { return explanation }
        let isMiss = policy == .networkOnly || explanation.decision.outcome == .miss
        explanation.decision = CacheDecision(
            isMiss ? .miss : .revalidate, .policy, steps: [.init(.policy, "\(policy)")])
        return explanation
    }
}
