// A value behind a lock that the thread sanitizer can see.

/// A value that is read and written under a lock only.
///
/// Not `Synchronization.Mutex`: the part of it that waits lies in a library without instrumentation, and the thread
/// sanitizer reports races between contended critical sections (seen with Swift 6.3.1 on Linux).
///
/// `@unchecked`: `value` is touched in `withLock` alone, while the lock is held.
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
