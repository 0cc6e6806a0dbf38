// The APIs that a watch cannot use, because their credentials are missing or refused.

import Locking
import Tarn

/// The APIs that have refused their credentials, or lack them, since their last success.
final class RefusedAPIs: Sendable {
    private let names = Guarded<Set<String?>>([])

    /// Notes the outcome of a sync.
    func note(_ report: SyncReport) {
        for endpoint in report.endpoints where endpoint.api != nil {
            if endpoint.failures.contains(where: \.isOfCredentials) {
                names.withLock { _ = $0.insert(endpoint.api) }
            } else if endpoint.pages > 0 {
                names.withLock { _ = $0.remove(endpoint.api) }
            }
        }
    }

    /// Whether an API is not among them.
    ///
    /// - Parameter endpoints: the endpoints whose APIs are meant; nil for all.
    func sparesAny(of description: Description, _ endpoints: Set<String>?) -> Bool {
        let used = description.endpoints.filter { endpoints?.contains($0.name) ?? true }
            .map { description.apiName(of: $0) }
        return !Set(used).isSubset(of: names.withLock { $0 })
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
