// The APIs that a watch cannot use, because their credentials are missing or refused.

import Locking
import Tarn

/// The APIs that have refused their credentials, or lack them, since their last success.
///
/// The only API of a description has no name: it is nil.
final class RefusedAPIs: Sendable {
    private struct State {
        var refused: Set<String?> = []
        var answered: Set<String?> = []
        /// By API, the endpoints that are forbidden to the credentials (403).
        var forbidden: [String?: Set<String>] = [:]
    }

    private let state = Guarded(State())

    /// Notes the outcome of a sync.
    func note(_ report: SyncReport) {
        let endpoints = report.endpoints.filter { !$0.name.isEmpty }
        state.withLock { state in
            for endpoint in endpoints where endpoint.pages > 0 {
                state.answered.insert(endpoint.api)
                state.refused.remove(endpoint.api)
            }
            for endpoint in endpoints {
                let failures = endpoint.failures.filter(\.isAuthentication)
                guard !failures.isEmpty else { continue }
                if failures.allSatisfy(\.isForbidden) {
                    state.forbidden[endpoint.api, default: []].insert(endpoint.name)
                } else {
                    state.refused.insert(endpoint.api)
                }
            }
        }
    }

    /// Whether an API is not among them.
    ///
    /// - Parameter endpoints: the endpoints whose APIs are meant; nil for all.
    func sparesAny(of description: Description, _ endpoints: Set<String>?) -> Bool {
        let used = description.endpoints.filter { endpoints?.contains($0.name) ?? true }
        let names = Dictionary(grouping: used, by: { description.apiName(of: $0) }).mapValues { $0.map(\.name) }
        return state.withLock { state in
            names.contains { api, endpoints in
                // The credentials of an API that answers with them are valid: single endpoints may
                // be forbidden to them.
                let areForbidden = state.forbidden[api].map { $0.isSuperset(of: endpoints) } ?? false
                return !state.refused.contains(api) && (state.answered.contains(api) || !areForbidden)
            }
        }
    }
}

extension Failure {
    /// Creates the failure of a sync. That of a missing variable names the API, if there are
    /// several.
    init(_ error: any Error, ofOneOf description: () -> Description?) {
        self.init(error)
        guard case MirrorError.missingToken(let variable) = error, let apis = description()?.apis, apis.count > 1,
            let api = apis.first(where: { $0.api.authentication.sources.contains(.environment(variable)) })
        else { return }
        message = "\(api.name ?? ""): \(message)"
    }
}
