/// The claim of an outbox: no process sends while it is held.
package final class OutboxClaim: Sendable {
    private let lock: SyncLock

    /// Claims an outbox; nil if a process is sending, or if the file system has no locks.
    ///
    /// - Parameters:
    ///   - base: the base URL of the first API of the description.
    ///   - directory: the directory of the store.
    package init?(base: String, directory: String) {
        guard let lock = try? SyncLock.claim([OutboxClaim.name(ofAPI: base)], directory: directory) else { return nil }
        self.lock = lock
    }

    /// The name of the lock; no endpoint has such a name.
    static func name(ofAPI base: String) -> String { "! outbox " + base }
}
