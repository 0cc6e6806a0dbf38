// The programs that print secrets now.

import Locking

/// The commands of an authorizer that run.
final class SecretCommands: Sendable {
    private let running = Guarded<[SecretCommand]>([])

    func begin(_ command: SecretCommand) { running.withLock { $0.append(command) } }

    func finish(_ command: SecretCommand) { running.withLock { $0.removeAll { $0 === command } } }

    /// Ends those that run. Returns false if there are none.
    func end() -> Bool {
        let commands = running.withLock { $0 }
        commands.forEach { $0.end() }
        return !commands.isEmpty
    }
}
