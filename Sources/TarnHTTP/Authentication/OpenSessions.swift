// The sessions of the process that a logout ends.

import Locking

/// The sessions that were logged in to and not out of, for servers that allow few of them.
package final class OpenSessions: Sendable {
    /// The sessions of the process.
    package static let ofProcess = OpenSessions()

    private struct State: Sendable {
        var lastNumber: UInt64 = 0
        var logouts: [UInt64: @Sendable () async -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Adds a session.
    ///
    /// - Parameter logout: ends the session. Its failure is none of the process.
    /// - Returns: the number of the session.
    func add(_ logout: @escaping @Sendable () async -> Void) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.logouts[state.lastNumber] = logout
            return state.lastNumber
        }
    }

    /// Removes a session that the server has ended.
    func remove(_ number: UInt64) { state.withLock { $0.logouts[number] = nil } }

    /// Logs out of all sessions, side by side, and waits until then or until a time has passed.
    package func logOut(within limit: Duration = .seconds(5)) async {
        let logouts = state.withLock { state in
            let logouts = Array(state.logouts.values)
            state.logouts = [:]
            return logouts
        }
        guard !logouts.isEmpty else { return }
        // The task of the caller may be cancelled: an interrupt ends the sessions, too.
        await Task.detached {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await withTaskGroup(of: Void.self) { for logout in logouts { $0.addTask { await logout() } } }
                }
                group.addTask { try? await Task.sleep(for: limit) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }
}

extension SessionLogin {
    /// Logs out of the sessions of this process that have a ``Logout``: before the process ends, or
    /// when its clients are not used any more.
    public static func logOutAll() async { await OpenSessions.ofProcess.logOut() }
}
