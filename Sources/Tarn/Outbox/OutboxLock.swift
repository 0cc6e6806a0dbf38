/// The lock of a store's outbox: one process at a time sends, with whichever description.
///
/// A sender holds it while it claims operations, sends them, and applies their answers.
package enum OutboxLock {
    /// The name of the lock; no endpoint has such a name.
    static let name = "! outbox"

    /// Whether no process sends; false if that cannot be told.
    ///
    /// Within a write transaction this decides whether the sender of an operation was killed: a
    /// sender that begins afterwards claims it in a later transaction.
    package static func isFree(directory: String) -> Bool { SyncLock.isFree(name, directory: directory) }
}
