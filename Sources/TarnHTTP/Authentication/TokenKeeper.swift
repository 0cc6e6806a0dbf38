// Tokens that outlive a client, or that clients share: those of a watch, each of whose syncs has a
// client of its own, and of the APIs of a description.

import Locking

/// The tokens of clients, for others of the same process with the same authentication.
package final class TokenKeeper: Sendable {
    /// The tokens of one authentication.
    struct Tokens: Sendable {
        var credentials: Authorizer.Credentials
        /// The refresh tokens of the client, unless they are in a file.
        var rotation: RefreshTokenRotation?
    }

    private let tokens = Guarded<[OAuth2: Tokens]>([:])

    /// Creates a keeper without tokens.
    package init() {}

    func tokens(of settings: OAuth2) -> Tokens? { tokens.withLock { $0[settings] } }

    func keep(_ tokens: Tokens, of settings: OAuth2) { self.tokens.withLock { $0[settings] = tokens } }
}
