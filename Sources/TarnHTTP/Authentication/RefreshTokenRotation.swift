// Refresh tokens that servers replace, shared by the clients of a process.

import Locking

/// The newest refresh token of those that began with a declared one.
///
/// A server that replaces refresh tokens may accept each of them only once (RFC 9700 §4.14.2). The
/// clients of a process that declare the same token, without a file, use the newest one in turns.
final class RefreshTokenRotation: Sendable {
    /// The rotations of a process by what their clients declare.
    private struct Declared: Hashable {
        var tokenURL: String
        var client: Secret
        var token: Secret
    }

    private static let known = Guarded<[Declared: RefreshTokenRotation]>([:])

    private let state: Guarded<State>

    private struct State {
        var newest: Secret
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private init(_ declared: Secret) { state = Guarded(State(newest: declared)) }

    /// The rotation of a declared token.
    static func of(_ token: Secret, client: Secret, at tokenURL: String) -> RefreshTokenRotation {
        known.withLock { known in
            let key = Declared(tokenURL: tokenURL, client: client, token: token)
            if let rotation = known[key] { return rotation }
            let rotation = RefreshTokenRotation(token)
            known[key] = rotation
            return rotation
        }
    }

    /// The token that the server accepts next.
    var newest: Secret {
        get { state.withLock { $0.newest } }
        set { state.withLock { $0.newest = newValue } }
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
