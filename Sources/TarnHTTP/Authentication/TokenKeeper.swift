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

    private struct Client: Sendable, Hashable {
        var authentication: Authentication
        /// The address of the API: a login may be relative to it.
        var address: SessionLogin.Address?

        init(_ authentication: Authentication, _ address: SessionLogin.Address) {
            self.authentication = authentication
            if case .session = authentication { self.address = address }
        }
    }

    private let tokens = Guarded<[Client: Tokens]>([:])
    private let refusals = Guarded<[Client: RefusedLogin]>([:])

    /// Creates a keeper without tokens.
    package init() {}

    /// Returns the tokens of an authentication.
    ///
    /// - Parameter address: the address of the API.
    func tokens(of authentication: Authentication, at address: SessionLogin.Address) -> Tokens? {
        switch authentication {
        case .oauth2, .session: tokens.withLock { $0[Client(authentication, address)] }
        default: nil
        }
    }

    func keep(_ tokens: Tokens, of authentication: Authentication, at address: SessionLogin.Address) {
        self.tokens.withLock { $0[Client(authentication, address)] = tokens }
    }

    /// Returns the last login of an authentication, if the server has refused it.
    func refusal(of authentication: Authentication, at address: SessionLogin.Address) -> RefusedLogin? {
        refusals.withLock { $0[Client(authentication, address)] }
    }

    func note(_ refusal: RefusedLogin?, of authentication: Authentication, at address: SessionLogin.Address) {
        refusals.withLock { $0[Client(authentication, address)] = refusal }
    }
}
