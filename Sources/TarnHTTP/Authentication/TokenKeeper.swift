// Tokens that outlive a client: those of a watch, each of whose syncs has a client of its own.

import Locking

/// The access tokens of clients, for later clients of the same process.
package final class TokenKeeper: Sendable {
    private let tokens = Guarded<[OAuth2: Authorizer.Credentials]>([:])

    /// Creates a keeper without tokens.
    package init() {}

    func credentials(of settings: OAuth2) -> Authorizer.Credentials? { tokens.withLock { $0[settings] } }

    func keep(_ credentials: Authorizer.Credentials, of settings: OAuth2) {
        tokens.withLock { $0[settings] = credentials }
    }
}
