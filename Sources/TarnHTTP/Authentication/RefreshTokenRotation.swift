// Refresh tokens that servers replace, shared by the clients of a process.

import Locking

/// The newest refresh token of those that began with a declared one.
///
/// A server that replaces refresh tokens may accept each of them only once (RFC 9700 §4.14.2). The
/// clients of a process that declare the same token, without a file, use the newest one in turns.
final class RefreshTokenRotation: Sendable {
    private let state: Guarded<State>

    private struct State {
        var newest: Secret
        /// The last token that the server has refused.
        var refused: Secret?
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    init(_ declared: Secret) { state = Guarded(State(newest: declared)) }

    /// The rotation of a declared token.
    static func of(_ token: Secret, client: Secret, at tokenURL: String) -> RefreshTokenRotation {
        let declared = RefreshTokenRotations.Declared(tokenURL: tokenURL, client: client, token: token)
        return RefreshTokenRotations.ofProcess.withLock { $0.rotation(of: declared) }
    }

    /// The token that the server accepts next.
    var newest: Secret {
        get { state.withLock { $0.newest } }
        set { state.withLock { $0.newest = newValue } }
    }

    /// Notes that the server has refused a token for good.
    func refuse(_ token: Secret) { state.withLock { $0.refused = token } }

    /// Whether the newest token is another one than the declared one, and was not refused.
    func hasValidToken(besides declared: Secret) -> Bool {
        state.withLock { $0.newest != declared && $0.newest != $0.refused }
    }

    /// Waits until no other client uses the token.
    func take() async {
        await withCheckedContinuation { turn in
            let isFree = state.withLock { state in
                if state.isTaken {
                    state.waiting.append(turn)
                    return false
                }
                state.isTaken = true
                return true
            }
            if isFree { turn.resume() }
        }
    }

    /// Passes the token on to the client that has waited longest.
    func release() {
        let next: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        next?.resume()
    }
}
