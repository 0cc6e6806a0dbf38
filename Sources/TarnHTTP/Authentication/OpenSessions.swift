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

    /// A login that is being sent, and may open a session.
    struct Opening: Sendable {
        fileprivate let sessions: OpenSessions
        fileprivate let number: UInt64
        fileprivate let logout = SettledOnce<TransportRequest?>()

        /// Ends the login.
        ///
        /// - Parameter request: the logout of its session; nil if there is none.
        /// - Returns: the number of the session.
        @discardableResult func end(with request: TransportRequest?) -> UInt64? {
            logout.settle(request)
            guard request == nil else { return number }
            sessions.remove(number)
            return nil
        }
    }

    /// Adds a login that is sent now: an interrupt may come before its response.
    func begin(_ transport: any Transport) -> Opening {
        state.withLock { state in
            state.lastNumber += 1
            let opening = Opening(sessions: self, number: state.lastNumber)
            state.logouts[state.lastNumber] = { [logout = opening.logout] in
                let request = await withTaskCancellationHandler {
                    await logout.value()
                } onCancel: {
                    logout.settle(nil)
                }
                if let request { _ = try? await transport.send(request) }
            }
            return opening
        }
    }

    /// Whether there is no session to log out of.
    package var isEmpty: Bool { state.withLock { $0.logouts.isEmpty } }

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
