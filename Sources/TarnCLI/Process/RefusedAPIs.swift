// The APIs that a watch cannot use, because their credentials are missing or refused.

import Locking
import Tarn

/// The APIs that have refused their credentials, or lack them, since their last success.
///
/// The only API of a description has no name: it is nil.
final class RefusedAPIs: Sendable {
    /// The refused APIs, and those that have answered.
    private let state = Guarded((refused: Set<String?>(), answered: Set<String?>()))

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
                // The credentials of an API that answers with them are valid: one endpoint may be
                // forbidden to them.
                let isForbidden = state.answered.contains(endpoint.api) && failures.allSatisfy(\.isForbidden)
                if !failures.isEmpty, !isForbidden { state.refused.insert(endpoint.api) }
            }
        }
    }

    /// Whether an API is not among them.
    ///
    /// - Parameter endpoints: the endpoints whose APIs are meant; nil for all.
    func sparesAny(of description: Description, _ endpoints: Set<String>?) -> Bool {
        let used = description.endpoints.filter { endpoints?.contains($0.name) ?? true }
            .map { description.apiName(of: $0) }
        return !Set(used).isSubset(of: state.withLock { $0.refused })
    }
}

extension MirrorError {
    /// Whether the server knows the credentials and refuses what is requested (RFC 9110 §15.5.4).
    fileprivate var isForbidden: Bool {
        if case .status(403, _, _, _) = self { true } else { false }
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
