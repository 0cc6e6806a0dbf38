// The programs that print secrets now.

import Locking

/// The commands that run for one purpose, and that end together.
final class SecretCommands: Sendable {
    private struct State {
        var running: [SecretCommand] = []
        var isClosed = false
    }

    private let state = Guarded(State())

    func begin(_ command: SecretCommand) {
        let isClosed = state.withLock { state in
            state.running.append(command)
            return state.isClosed
        }
        if isClosed { command.end() }
    }

    func finish(_ command: SecretCommand) { state.withLock { $0.running.removeAll { $0 === command } } }

    /// Ends those that run. Returns false if there are none.
    func end() -> Bool {
        let commands = state.withLock(\.running)
        commands.forEach { $0.end() }
        return !commands.isEmpty
    }

    /// Ends those that run, and each one that begins later.
    func close() {
        state.withLock { $0.isClosed = true }
        _ = end()
    }
}
