// A lock-protected value, visible to the thread sanitizer.

/// A value that is read and written only under a lock.
///
/// It replaces `Synchronization.Mutex`, whose waiting part is in a library without instrumentation:
/// the thread sanitizer reports races between contended critical sections (seen with Swift 6.3.1 on
/// Linux). Without a value, use `Lock`: the sanitizer takes an access to `()` for one to the
/// object's header.
///
/// `@unchecked`: `value` is accessed only in `withLock`, while the lock is held.
package final class Guarded<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    /// Runs the closure with the value. Not reentrant.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
